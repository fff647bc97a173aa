"""`manage.py crawl` over HTTP on loopback, as a process beside the test."""

import fcntl
import re

import pytest

from articles.models import Article, ArticleURL, Newspaper
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import BRIDGE, FERRY, HERRING, LIBRARY, article_page, fed, newspaper, rss, sitemap


def seen_urls(site: Site) -> set[tuple[str, str, str]]:
    return {
        (row.article.headline, row.url.removeprefix(site.url), row.kind)
        for row in ArticleURL.objects.select_related("article")
    }


def test_three_spiders_store_articles_and_a_second_crawl_fetches_none(three_sources: Site, crawl: CrawlCommand) -> None:
    first = crawl()
    assert (first.returncode, first.summary) == (0, "Fjordbladet: 4 stored, 0 known, 0 failed\n")
    assert first.stderr == ""
    stored = Article.objects.values_list("headline", "date", "content", "newspaper__name")
    assert {(headline, str(date), content, name) for headline, date, content, name in stored} == {
        ("Last ferry", "2024-05-03", FERRY, "Fjordbladet"),
        ("Herring are back", "2024-05-03", HERRING, "Fjordbladet"),
        ("Night library", "2024-05-03", LIBRARY, "Fjordbladet"),
        ("Bridge closed", "2024-05-03", BRIDGE, "Fjordbladet"),
    }
    once = {f"/2024/05/{name}": 1 for name in ("ferry", "herring", "library", "bridge")}
    assert three_sources.article_requests() == once
    assert three_sources.requests["/about"] == 0
    assert three_sources.busiest == 1

    second = crawl.cold("Fjordbladet")
    assert (second.returncode, second.summary) == (0, "Fjordbladet: 0 stored, 4 known, 0 failed\n")
    assert three_sources.article_requests() == once
    assert three_sources.requests["/feed"] == 2
    assert Article.objects.count() == 4
    assert list(crawl.states.rglob("requests.queue")) == []


def test_links_of_alerts_are_asked_where_they_lead_and_belong_to_that_newspaper(
    site: Site, crawl: CrawlCommand
) -> None:
    site.add("/2024/05/ferry", article_page("Last ferry", FERRY))
    target = f"{site.url}/2024/05/ferry"
    wrapped = f"https://www.google.com/url?rct=j&amp;sa=t&amp;url={target}&amp;ct=ga&amp;usg=A1"
    site.add("/alerts", rss(wrapped), "application/rss+xml")
    Newspaper.objects.create(name="Alerts on ferries", feed_urls=[f"{site.url}/alerts"])
    Newspaper.objects.create(name="Fjordbladet", host="127.0.0.1", crawl=False)

    assert crawl().summary == "Alerts on ferries: 1 stored, 0 known, 0 failed\n"
    article = Article.objects.get()
    assert (article.url, article.newspaper.name) == (target, "Fjordbladet")
    assert set(article.urls.values_list("url", flat=True)) == {target, wrapped.replace("&amp;", "&")}
    assert crawl().summary == "Alerts on ferries: 0 stored, 1 known, 0 failed\n"


def test_a_second_crawl_at_the_same_time_is_refused(three_sources: Site, crawl: CrawlCommand) -> None:
    crawl.states.mkdir()
    with (crawl.states / "crawl.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = crawl()
    assert result.returncode == 3
    assert result.stderr.startswith("CommandError: another crawl ")
    assert str(crawl.states) in result.stderr
    assert not three_sources.requests


NO_EXPRESSION = "article URL pattern is no regular expression: missing ), unterminated subpattern at position 0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "spider", "summary"),
    [
        ("(", ["--spider", "feed"], f"0 stored, 0 known, 1 failed ({NO_EXPRESSION}: 1)"),
        # It ends what the pattern is needed for.
        ("(?:(?:z|z)+|herring)$", [], "2 stored, 0 known, 1 failed (article URL pattern takes too long: 1)"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_counted(
    three_sources: Site, crawl: CrawlCommand, pattern: str, spider: list[str], summary: str
) -> None:
    Newspaper.objects.update(article_url_pattern=pattern)
    three_sources.add("/news", f"<a href='/{'z' * 200}!'>Asleep</a>")
    result = crawl(*spider)
    assert (result.summary, result.returncode) == (f"Fjordbladet: {summary}\n", int(summary.startswith("0 stored")))


@pytest.mark.slow
def test_scrapy_crawl_works_in_its_folder(three_sources: Site, crawl: CrawlCommand) -> None:
    result = crawl.scrapy("crawl", "feed", "-a", "newspapers=Fjordbladet")
    assert result.returncode == 0, result.stderr
    assert list(Article.objects.values_list("content", flat=True)) == [FERRY]


def test_what_robots_txt_forbids_is_never_requested_and_paywalls_are_counted(site: Site, crawl: CrawlCommand) -> None:
    site.add("/robots.txt", "User-agent: newsdedup\nDisallow: /2024/05/private\n", "text/plain")
    site.add("/2024/05/private", article_page("Private", FERRY))
    site.add("/2024/05/open", article_page("Open", HERRING))
    paywall = (
        '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false}</script></head>'
    )
    site.add("/2024/05/paid", article_page("Paid", BRIDGE).replace("</head>", paywall))
    fed(site, *(f"/2024/05/{name}" for name in ("private", "open", "paid")))
    failed = "1 failed (Forbidden by robots.txt: 1)"
    assert crawl().summary == f"Fjordbladet: 2 stored (1 behind a paywall), 0 known, {failed}\n"
    assert site.article_requests() == {"/2024/05/open": 1, "/2024/05/paid": 1}
    assert dict(Article.objects.values_list("headline", "paywalled")) == {"Open": False, "Paid": True}


def test_feed_link_redirect_target_and_canonical_url_are_attached(site: Site, crawl: CrawlCommand) -> None:
    site.redirect("/go/1", "/go/2")
    site.redirect("/go/2", "/2024/05/ferry?page=1")
    site.redirect("/go/3", "/2024/05/ferry?page=1")
    page = article_page("Last ferry", FERRY, canonical=f"{site.url}/2024/05/ferry")
    site.add("/2024/05/ferry?page=1", page)
    site.add("/2024/05/ferry", page)
    site.feed("/go/1", "/go/3")
    site.add("/sitemap.xml", sitemap(f"{site.url}/2024/05/ferry"), "application/xml")
    newspaper(site, feed=["/feed"], sitemap=["/sitemap.xml"])
    # The second feed link leads to the same page, and the sitemap names its canonical URL, which is read too.
    assert crawl().summary == "Fjordbladet: 1 stored, 2 known, 0 failed\n"
    headline = "Last ferry"
    assert seen_urls(site) >= {
        (headline, "/2024/05/ferry?page=1", "redirect"),
        (headline, "/2024/05/ferry", "page"),
        (headline, "/go/1", "feed"),
        (headline, "/go/2", "redirect"),
        (headline, "/go/3", "feed"),
    }
    # Two links that lead to one page at the same moment may both fetch it; what is stored is never fetched again.
    fetched = dict(site.article_requests())
    assert set(fetched) == {"/2024/05/ferry?page=1", "/2024/05/ferry"}
    assert crawl().summary == "Fjordbladet: 0 stored, 3 known, 0 failed\n"
    assert site.article_requests() == fetched
    assert (site.requests["/go/1"], site.requests["/go/3"]) == (1, 1)


def test_a_news_sitemap_gives_the_time_and_a_change_does_not(site: Site, crawl: CrawlCommand) -> None:
    """A page without a day is stored with that of a news sitemap; the time of its last change is no substitute."""
    day = "<meta property='article:published_time' content='2024-05-07'>"
    pages = {
        "timed": ("", "<news:publication_date>2024-05-07T10:00+02:00</news:publication_date>"),
        "same-day": (day, "<news:publication_date>2024-05-07T18:30:05Z</news:publication_date>"),
        "month": (day, "<news:publication_date>2024-05</news:publication_date>"),
        "changed": (day, "<news:title>Changed</news:title>"),
    }
    for name, (head, _) in pages.items():
        site.add(
            f"/2024/05/{name}", article_page(name, f"{LIBRARY} {name}", day="").replace("<title>", f"{head}<title>")
        )
    entries = "".join(
        f"<url><loc>{site.url}/2024/05/{name}</loc><lastmod>2024-05-08T09:00Z</lastmod><news:news>{news}</news:news></url>"
        for name, (_, news) in pages.items()
    )
    news = "xmlns:news='http://www.google.com/schemas/sitemap-news/0.9'"
    body = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' {news}>{entries}</urlset>"
    site.add("/sitemap.xml", body, "application/xml")
    newspaper(site, sitemap=["/sitemap.xml"])

    assert crawl().summary == "Fjordbladet: 4 stored, 0 known, 0 failed\n"
    stored = Article.objects.select_related("page")
    assert {article.headline: (str(article.publication_time), article.date_source) for article in stored} == {
        "timed": ("2024-05-07T10:00+02:00", "sitemap"),
        "same-day": ("2024-05-07T18:30:05+00:00", "sitemap"),
        "month": ("None", "meta"),
        "changed": ("None", "meta"),
    }
    assert {str(article.date) for article in stored} == {"2024-05-07"}
    assert {article.headline: (article.page.published_time, article.page.in_sitemap) for article in stored} == {
        "timed": ("2024-05-07T10:00+02:00", True),
        "same-day": ("2024-05-07T18:30:05+00:00", True),
        "month": ("", False),
        "changed": ("", False),
    }


@pytest.mark.slow
def test_a_newspaper_with_nothing_but_failures_is_an_error(site: Site, crawl: CrawlCommand) -> None:
    site.add("/2024/05/ferry", article_page("Last ferry", FERRY))
    site.feed("/2024/05/ferry", "/2024/05/missing")
    site.add("/empty", rss(), "application/rss+xml")
    newspaper(site, feed=["/feed", "/gone"])
    others = {"Holmavis": f"{site.url}/gone", "Skjærgård": f"{site.url}/missing.xml", "Tom": f"{site.url}/empty"}
    others |= {"Stille": "http://127.0.0.1:9/feed", "Umulig": "http://[x"}
    for name, url in others.items():
        Newspaper.objects.create(name=name, feed_urls=[url])
    result = crawl()
    assert result.returncode == 1
    assert result.summary == (
        "Fjordbladet: 1 stored, 0 known, 2 failed (HTTP 404: 2)\n"
        "Holmavis: 0 stored, 0 known, 1 failed (HTTP 404: 1)\n"
        "Skjærgård: 0 stored, 0 known, 1 failed (HTTP 404: 1)\n"
        "Stille: 0 stored, 0 known, 1 failed (connection refused: 1)\n"
        "Tom: 0 stored, 0 known, 0 failed\n"
        "Umulig: 0 stored, 0 known, 1 failed (bad address: 1)\n"
    )
    assert ": Holmavis, Skjærgård, Stille, Umulig; --verbosity 3 " in result.stderr.splitlines()[-1]
    assert others["Stille"] in result.stderr
    assert "Traceback" not in result.stderr
    assert crawl("Fjordbladet").returncode == 0


@pytest.mark.slow
def test_an_article_in_another_script_and_charset(site: Site, crawl: CrawlCommand) -> None:
    text = "Старый паром в последний раз пересёк пролив в пятницу, и половина острова вышла на причал проводить его."
    page = article_page("Последний паром", text).replace("<head>", '<head><meta charset="windows-1251">')
    site.add("/2024/05/паром".replace("паром", "%D0%BF%D0%B0%D1%80%D0%BE%D0%BC"), page.encode("cp1251"), "text/html")
    site.add("/feed", rss(f"{site.url}/2024/05/паром"), "application/rss+xml; charset=utf-8")
    newspaper(site, feed=["/feed"])
    assert crawl().summary == "Fjordbladet: 1 stored, 0 known, 0 failed\n"
    article = Article.objects.get()
    assert (article.headline, article.content) == ("Последний паром", text)
    assert crawl().summary == "Fjordbladet: 0 stored, 1 known, 0 failed\n"


def test_nothing_to_visit_is_an_error(site: Site, crawl: CrawlCommand) -> None:
    nothing = "no newspaper is marked for crawl; add one with its feed, sitemap or section URLs in the admin"
    assert crawl().stderr == f"CommandError: {nothing}\n"
    newspaper(site, feed=["/feed"])
    nothing = "no section URLs to visit for Fjordbladet; add them in the admin"
    result = crawl("--spider", "section")
    assert (result.returncode, result.stderr) == (1, f"CommandError: {nothing}\n")
    result = crawl("Fjordblad")
    assert result.returncode == 2
    assert re.fullmatch("CommandError: .*'Fjordblad'; .*: Fjordbladet.\n", result.stderr)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("DOWNLOAD_DELAI=2", "--set DOWNLOAD_DELAI: there is no Scrapy setting with this name"),
        ("DOWNLOAD_DELAY", "--set 'DOWNLOAD_DELAY' has no value; write --set NAME=VALUE"),
        ("CRAWL_PRIVATE_ADDRESSES=10.0.0.1/8", "CRAWL_PRIVATE_ADDRESSES cannot be read: 10.0.0.1/8 has host bits set"),
        (
            "LOG_LEVEL=foo",
            "LOG_LEVEL 'foo' is unknown; write one of CRITICAL, FATAL, ERROR, WARN, WARNING, INFO, DEBUG, NOTSET",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(crawl: CrawlCommand, override: str, message: str) -> None:
    result = crawl("--set", override)
    assert (result.returncode, result.stderr) == (2, f"CommandError: {message}\n")


@pytest.mark.slow
def test_what_a_crawl_stored_teaches_what_the_newspaper_puts_after_its_headlines(
    site: Site, crawl: CrawlCommand
) -> None:
    boats = ("Gannet", "Petrel", "Skua", "Tern", "Puffin", "Fulmar", "Eider", "Curlew", "Dunlin", "Plover")
    sailings = [f"{boat} {verb}" for boat in boats for verb in ("sails north", "comes home")]
    for number, headline in enumerate(sailings):
        site.add(f"/2024/05/{number}", article_page(f"{headline} – Sound Radio", f"{FERRY} Its name is {headline}."))
    fed(site, *(f"/2024/05/{number}" for number in range(len(sailings))))

    assert crawl().stdout == (
        "Fjordbladet: 20 stored, 0 known, 0 failed\nFjordbladet: learnt headline affixes: “Sound Radio”.\n"
    )
    assert set(Article.objects.values_list("normalized_title", flat=True)) == {sailing.lower() for sailing in sailings}
