"""Links that lead to one page under many URLs, and pages that declare URLs which are not theirs."""

import re

import pytest

from articles.extraction.notices import is_notice
from articles.models import Article
from crawlers.models import PendingLink
from crawlers.soft_404s import impossible_url
from tests.crawlers.conftest import CrawlCommand, Page, Site
from tests.crawlers.pages import BRIDGE, FERRY, HERRING, LIBRARY, article_page, fed, item, newspaper, rss, rss_of
from tests.stored_rows import columns_with


def test_one_page_is_fetched_once_and_no_declared_url_takes_a_story(site: Site, crawl: CrawlCommand) -> None:
    story = "/2024/05/ferry-sails-again-today"
    spellings = ["?utm_source=a", "?utm_source=b&utm_medium=c", "/", "#top", "?fbclid=1", ";jsessionid=AA11"]
    for spelling in spellings:
        site.add(story + spelling.partition("#")[0], article_page("Ferry sails again", FERRY))
    everywhere = f"{site.url}/2024/05/library"
    for name, text in (("herring", HERRING), ("bridge", BRIDGE), ("library", LIBRARY)):
        site.add(f"/2024/05/{name}", article_page(f"The {name} story", text, canonical=everywhere))
    others = [f"{site.url}/2024/05/{name}" for name in ("herring", "bridge", "library")]
    site.add("/feed", rss(*(site.url + story + spelling for spelling in spellings), *others), "application/rss+xml")
    newspaper(site, feed=["/feed"])

    assert crawl().summary == "Fjordbladet: 4 stored, 0 known, 0 failed\n"
    fetched = dict(site.article_requests())
    assert sum(fetched.values()) == 4
    assert set(Article.objects.values_list("headline", "url")) >= {
        (f"The {url.rpartition('/')[2]} story", url) for url in others
    }

    # A session is another one at each crawl.
    newer = [site.url + story + ending for ending in (";jsessionid=BB22", "?PHPSESSID=3a", "/?utm_source=d")]
    site.add("/feed", rss(*newer, *others), "application/rss+xml")
    assert crawl().summary == "Fjordbladet: 0 stored, 4 known, 0 failed\n"
    assert site.article_requests() == fetched


@pytest.mark.slow
def test_no_page_in_the_place_of_an_article_is_stored_with_the_day_of_a_feed(site: Site, crawl: CrawlCommand) -> None:
    site.missing = Page(article_page("We looked everywhere", f"{LIBRARY} Try the search.", day="").encode())
    titles = {"gone-1": "Ferry sails", "gone-2": "Harbour opens", "gone-3": "Bridge closed"}
    for name, title, text, day in [
        ("notice", "Seite nicht gefunden", "Vielleicht hilft Ihnen die Suche weiter, oder die Startseite.", ""),
        ("corner-1", "The members' corner", f"Only members read on. {HERRING}", ""),
        ("corner-2", "The members' corner", f"Only members read on. {HERRING}", ""),
        ("copy-1", "Ferry sails again", FERRY, ""),
        ("copy-2", "Ferry sails again", FERRY, ""),
        ("lost", "Page not found", f"A page of the old atlas is missing. {BRIDGE}", "2024-05-03"),
    ]:
        site.add(f"/2024/05/{name}", article_page(title, text, day=day))
        titles[name] = "A story" if name.startswith(("corner", "notice")) else title
    day = "Fri, 03 May 2024 08:00:00 GMT"
    items = (item(f"{site.url}/2024/05/{name}", title, day=day) for name, title in titles.items())
    site.add("/feed", rss_of(*items), "application/rss+xml")
    newspaper(site, feed=["/feed"])

    assert crawl().summary == (
        "Fjordbladet: 4 stored, 0 known, 5 failed (one page under many URLs: 1; page for missing articles: 4)\n"
    )
    assert sorted(Article.objects.values_list("headline", flat=True)) == [
        *("Ferry sails again", "Ferry sails again", "Page not found", "The members' corner")
    ]
    assert sum("no-such-page-" in path for path in site.requests) == 1
    stored = set(Article.objects.values_list("url", flat=True))
    refused = {row.url.rpartition("/")[2] for row in PendingLink.objects.exclude(refused_until=None)}
    assert refused == {name for name in titles if f"{site.url}/2024/05/{name}" not in stored}


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        (
            "https://a.example/2024/05/ferry-sails-again.html?x=1#top",
            r"https://a\.example/2024/05/no-such-page-\w{24}\.html",
        ),
        ("https://a.example/news/story.php?id=5&lang=", r"https://a\.example/news/story\.php\?id=\w{24}&lang=\w{24}"),
        ("https://a.example/ferry-sails-again-today/?id=5", r"https://a\.example/no-such-page-\w{24}"),
    ],
)
def test_a_url_that_cannot_exist_is_like_those_of_articles(url: str, pattern: str) -> None:
    assert re.fullmatch(pattern, impossible_url(url))


@pytest.mark.parametrize(
    ("headline", "is_one"),
    [
        *((title, True) for title in ("Page not found", "404", "Error 404: Page Not Found", "Página no encontrada")),
        *((title, True) for title in ("Sorry, this page does not exist.", "This page has moved", "Page introuvable")),
        *((title, True) for title in ("Log in to continue", "Bitte anmelden", "Are you a robot?", "Accedi")),
        *(
            (title, False)
            for title in ("404 people leave the island", "Lost page of the atlas found", "Log in the river")
        ),
        *((title, False) for title in ("Entrar na história", "Not found: the lost ship", "Council moves to new page")),
    ],
)
def test_notices_are_known_by_their_headline_if_they_are_short(headline: str, is_one: bool) -> None:
    assert is_notice(headline, "Try again.") == is_one
    assert not is_notice(headline, FERRY * 10)


@pytest.mark.slow
def test_a_password_in_a_link_a_redirect_or_a_declared_url_is_left_out(site: Site, crawl: CrawlCommand) -> None:
    host, secret = site.url.removeprefix("http://"), "pw7kq"
    login = f"http://mara:{secret}@{host}"
    site.add("/2024/05/ferry", article_page("Ferry sails", FERRY))
    site.add("/2024/05/bridge", article_page("Bridge closed", BRIDGE, canonical=f"{login}/2024/05/the-bridge"))
    site.pages["/2024/05/to-library"] = Page(b"", status=302, location=f"{login}/2024/05/library")
    site.add("/2024/05/library", article_page("Library opens", LIBRARY))
    links = [
        f"{login}/2024/05/ferry",
        f"{site.url}/2024/05/ferry",
        f"{login}/2024/05/bridge",
        f"{login}/2024/05/to-library",
    ]
    fed(site, *links)

    ended = crawl("--set", "LOG_LEVEL=DEBUG")
    assert ended.summary == "Fjordbladet: 3 stored, 0 known, 0 failed\n"
    assert columns_with(secret) == {"articles_articlepage.body"}  # a page is kept as it was fetched
    assert secret not in ended.stdout + ended.stderr
    assert set(Article.objects.values_list("url", flat=True)) == {
        f"{site.url}/2024/05/{name}" for name in ("ferry", "bridge", "library")
    }
