"""News sitemaps, archives, feeds in several pages, and the bounds on how much of them a crawl takes."""

import datetime
import gzip
import json

import pytest

from articles.models import Article, Newspaper
from crawlers.fetching.downloads import is_cut_off
from crawlers.listings.dates import changed_day, last_day, listed_date, periods
from crawlers.models import PendingLink, Visit
from tests.crawlers.conftest import CrawlCommand, Site
from tests.crawlers.pages import BRIDGE, FERRY, HERRING, LIBRARY, article_page, newspaper

TODAY = datetime.datetime.now(datetime.UTC).date()
RSS, ATOM, JSON = "application/rss+xml", "application/atom+xml", "application/feed+json"
TEXTS = (FERRY, HERRING, LIBRARY, BRIDGE)


def bare_page(text: str) -> str:
    """Return a page that names neither a headline nor a day."""
    return f"<html><body><nav><a href='/'>Home</a></nav><div><p>{text}</p><p>{text[::-1]}</p></div></body></html>"


def urlset(*entries: str) -> str:
    namespaces = (
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:n="http://www.google.com/schemas/sitemap-news/0.9" '
        'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
        'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    )
    return f"<urlset {namespaces}>{''.join(f'<url>{entry}</url>' for entry in entries)}</urlset>"


def days_ago(number: int) -> datetime.date:
    return TODAY - datetime.timedelta(days=number)


@pytest.mark.django_db(transaction=True)
def test_sitemaps_date_and_name_articles_and_archives_are_left_out(site: Site, crawl: CrawlCommand) -> None:
    news = "<n:news><n:publication><n:name>F</n:name><n:language>en-GB</n:language></n:publication>{}</n:news>"
    images = "<image:image><image:loc>{0}/big.jpg</image:loc></image:image><video:video><video:title>V</video:title>"
    images += "<video:player_loc>{0}/v</video:player_loc></video:video>"
    entries = []
    for number, (text, date) in enumerate(
        zip(TEXTS, (days_ago(1), f"{days_ago(2)}T23:30:00-05:00", f"{days_ago(3)}T10:00Z", days_ago(4)), strict=True)
    ):
        site.add(f"/2024/05/news-{number}", bare_page(text))
        told = news.format(
            f"<n:publication_date>{date}</n:publication_date><n:title>Story &amp;amp; {number}</n:title>"
        )
        entries.append(f"{images.format(site.url)}{told}<loc>{site.url}/2024/05/news-{number}</loc>")
    old = [f"<loc>{site.url}/2024/05/old-{n}</loc><lastmod>2009-05-0{n + 1}</lastmod>" for n in range(3)]
    site.add("/news.xml", urlset(*entries), "application/xml")
    site.add("/mixed.xml", urlset(*old, f"<loc>{site.url}/stories/undated</loc>"), "application/xml")
    site.add("/stories/undated", article_page("Undated", "An undated link is visited, and its page has the day."))
    maps = ("mixed.xml", "news.xml", "archive-2009-05.xml", "archive-2009-06.xml", "told-old.xml")
    listed = "".join(f"<sitemap><loc>{site.url}/{name}</loc></sitemap>" for name in maps)
    listed = listed.replace("told-old.xml</loc>", "told-old.xml</loc><lastmod>2008-01</lastmod>")
    site.add("/index.xml", f"<sitemapindex>{listed}</sitemapindex>", "application/xml")
    paper = newspaper(site, sitemap=["/index.xml"])
    Newspaper.objects.filter(pk=paper.pk).update(article_url_pattern="")
    three_years = ("--set", "SITEMAP_DAYS=1095")

    first = crawl("--limit", "2", *three_years)

    assert first.summary == "Fjordbladet: 2 stored, 0 known, 9 left out, 0 failed\n", first.stderr
    assert "left out: What is older than 1,095 days (SITEMAP_DAYS), if a sitemap lists it, or beyond 2 links" in (
        first.stdout
    )
    stored = Article.objects.order_by("-date").values_list("headline", "date", "date_source", "language")
    assert list(stored) == [("Story & 0", days_ago(1), "sitemap", "en"), ("Story & 1", days_ago(2), "sitemap", "en")]
    assert not PendingLink.objects.exists()
    assert crawl(*three_years).summary == "Fjordbladet: 3 stored, 2 known, 6 left out, 0 failed\n"
    assert {path for path in site.requests if "archive" in path or "old" in path} == set()
    # A day of one's own reads the archive, which is not hidden by what the site says has not changed.
    assert crawl("--since", "2009-05-02", *three_years).summary == (
        "Fjordbladet: 0 stored, 5 known, 2 left out, 4 failed (HTTP 404: 4)\n"
    )
    assert Visit.objects.order_by("-pk")[0].left_out == 2


@pytest.mark.django_db(transaction=True)
def test_feeds_lead_to_their_older_entries(site: Site, crawl: CrawlCommand) -> None:
    for number in range(8):
        site.add(
            f"/2024/05/s-{number}", bare_page(f"{TEXTS[number % 4]} Number {number} of the tales from the island.")
        )
    items = [{"id": f"{site.url}/2024/05/s-0", "title": "By its id", "date_published": "2024-05-09T10:00:00+02:00"}]
    older = [{"id": 7, "external_url": f"{site.url}/2024/05/s-1", "title": "Elsewhere", "date_modified": "2024-05-08"}]
    site.add("/feed.json", json.dumps({"items": items, "language": "en", "next_url": "/feed.json?page=2"}), JSON)
    site.add("/feed.json?page=2", json.dumps({"items": [*older, 3], "next_url": "/feed.json"}), JSON)
    dates = ("Thu, 9 May 2024 10:00:00 EST", "2024-05-08 10:00", "Tuesday, 7 May 2024 10:00:00 GMT", "20240506T100000Z")
    for page, number in enumerate((2, 4)):
        entries = "".join(
            f"<item><title>Odd {n}</title><guid isPermaLink='false'>{site.url}/2024/05/s-{n}</guid>"
            f"<pubDate>{dates[n - 2]}</pubDate></item>"
            for n in (number, number + 1)
        )
        link = f"<a:link rel='prev-archive' href='{site.url}/feed/2'/>" if page == 0 else ""
        head = "<rss version='2.0' xmlns:a='http://www.w3.org/2005/Atom'><channel><title>F</title>"
        site.add("/feed/2" if page else "/feed", f"{head}{link}{entries}</channel></rss>", RSS)
    for page, number in enumerate((6, 7)):
        link = f"<link rel='next' href='/atom?page={page + 1}'/>"
        told = f"<title>A {number}</title><updated>2024-05-0{page + 1}</updated>"
        entry = f"<entry>{told}<id>{site.url}/2024/05/s-{number}</id></entry>"
        body = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>F</title>{link}{entry}</feed>"
        site.add(f"/atom?page={page}" if page else "/atom", body, ATOM)
        site.pages[f"/atom?page={page}" if page else "/atom"].etag = '"1"'
    Newspaper.objects.create(
        name="Fjordbladet", feed_urls=[site.url + path for path in ("/feed.json", "/feed", "/atom")]
    )

    crawled = crawl()

    # The last page of Atom names one that does not exist: the first one is read again by the next crawl.
    assert crawled.summary == "Fjordbladet: 8 stored, 0 known, 1 failed (HTTP 404: 1)\n", crawled.stderr
    stored = {
        url.rpartition("-")[2]: (headline, str(day))
        for url, headline, day in Article.objects.values_list("url", "headline", "date")
    }
    assert stored == {
        "0": ("By its id", "2024-05-09"),
        "1": ("Elsewhere", "2024-05-08"),
        "2": ("Odd 2", "2024-05-09"),
        "3": ("Odd 3", "2024-05-08"),
        "4": ("Odd 4", "2024-05-07"),
        "5": ("Odd 5", "2024-05-06"),
        "6": ("A 6", "2024-05-01"),
        "7": ("A 7", "2024-05-02"),
    }
    assert crawl("--since", "2024-05-09").summary == "Fjordbladet: 0 stored, 2 known, 5 left out, 0 failed\n"


@pytest.mark.django_db(transaction=True)
def test_a_teaser_newspaper_keeps_its_feeds_and_fetches_no_page(site: Site, crawl: CrawlCommand) -> None:
    alert = "https://www.google.com/url?rct=j&amp;sa=t&amp;url=https://island.example/2024/05/snap&amp;ct=ga"
    told = [
        ("/2024/05/a", "Last &lt;b&gt;ferry&lt;/b&gt; leaves", FERRY, "Fri, 03 May 2024 10:00:00 +0200"),
        ("/2024/05/b", "Only a headline", "", "2024-05-04"),
        ("/2024/05/c", "", "", "2024-05-05"),
        ("/2024/05/d", "No day", HERRING, ""),
        ("javascript:1", "No address", HERRING, "2024-05-06"),
    ]
    items = "".join(
        f"<item><link>{path if ':' in path else site.url + path}</link><title>{title}</title>"
        f"<description>{text}</description><pubDate>{date}</pubDate></item>"
        for path, title, text, date in [*told, (alert, "An alert", LIBRARY, "2024-05-07")]
    )
    head = "<rss version='2.0'><channel><title>F</title><language>en-us</language>"
    site.add("/feed", f"{head}{items}</channel></rss>", RSS)
    paper = newspaper(site, feed=["/feed"], sitemap=["/map.xml"], section=["/news"])
    Newspaper.objects.filter(pk=paper.pk).update(teasers=True)

    first = crawl()

    failures = "bad address: 1; no article text: 1; no publication date: 1"
    assert first.summary == f"Fjordbladet: 3 stored, 0 known, 3 failed ({failures})\n", first.stderr
    rows = Article.objects.order_by("date").values_list("headline", "content", "language", "newspaper__name")
    assert list(rows) == [
        ("Last ferry leaves", FERRY, "en", "Fjordbladet"),
        ("Only a headline", "Only a headline", "en", "Fjordbladet"),
        ("An alert", LIBRARY, "en", "island.example"),
    ]
    times = Article.objects.order_by("date").values_list("date_source", "published_offset", "page__pk")
    assert list(times) == [("feed", 120, None), ("feed", None, None), ("feed", None, None)]
    assert crawl().summary == f"Fjordbladet: 0 stored, 3 known, 3 failed ({failures})\n"
    assert set(site.requests) == {"/robots.txt", "/feed"}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-03T10:00:00+02:00", "2024-05-03"),
        ("Fri, 3 May 2024 10:00:00 CEST", "2024-05-03"),
        ("Friday, 03-May-24 10:00:00 GMT", "2024-05-03"),
        ("2024/05/03 10:00", "2024-05-03"),
        ("lun., 03 mai 2024 10:00:00 +0200", "2024-05-03"),
        ("Fr, 03 Mär 2024 10:00:00 +0100", "2024-03-03"),
        ("Friday, May 3, 2024 - 10:00", "2024-05-03"),
        ("Thu, 5 Sept 2024 23:30:00 EDT", "2024-09-05"),
        ("13/05/2024 10:00", "2024-05-13"),
        ("03/05/2024 10:00", None),
        ("Sat, 31 Feb 2024 10:00:00 GMT", None),
        ("0000-00-00", None),
        ("soon", None),
        ("x" * 10_000, None),
    ],
)
def test_dates_of_sources(text: str, day: str | None) -> None:
    found = listed_date(text)
    assert (str(found.day) if found else None) == day


def test_days_of_sitemaps_and_links() -> None:
    host = "https://fjordbladet.example"
    days = {
        "/sitemap-2009-05.xml": "2009-05-31",
        "/s?yyyy=2010&mm=2": "2010-02-28",
        "/y-2011.xml": "2011-12-31",
        "/y-2012.xml": "2012-12-31",
    }
    found = periods([host + name for name in (*days, "/n-2011.xml", "/n-3.xml", "/news.xml")])
    assert {url.removeprefix(host): str(day) for url, day in found.items()} == days
    assert str(changed_day("2009-02")) == "2009-02-28"
    assert str(last_day("https://fjordbladet.example/2009/5/storm")) == "2009-05-31"
    assert str(last_day("https://fjordbladet.example/story/200905")) == "None"


PLAIN = b"The ferry sails at noon on weekdays. " * 200
PACKED = gzip.compress(PLAIN, mtime=0)


@pytest.mark.parametrize(
    ("packed", "cut_off"),
    [
        (PACKED, False),
        (PACKED + PACKED, False),
        (PACKED + b"\0\0\0", False),
        (PACKED[:-1], True),
        (PACKED[:40], True),
        (PACKED + PACKED[:-9], True),
        (b"", False),
        (PLAIN, False),
        (b"\x1f\x8b\x08noise that is no gzip", False),
        (gzip.compress(b" " * 10_000_000, mtime=0)[:-9], False),
    ],
)
def test_is_cut_off(packed: bytes, cut_off: bool) -> None:
    assert is_cut_off(packed, 1_000_000) is cut_off
