"""From the address of a home page to the sources of a newspaper."""

import datetime
from functools import partial

import pytest
from django.core.management import CommandError

from articles.models import Newspaper
from crawlers.discovery.exploring import recommended
from crawlers.discovery.found import FoundNewspaper, FoundSource, NothingFoundError, discover
from crawlers.discovery.hints import propose_pattern, read_home_page, robots_sitemaps, sections
from crawlers.management.commands import discover_newspaper
from tests.commands import called
from tests.crawlers.conftest import Site
from tests.crawlers.pages import item, rss_of, sitemap, sitemap_index

HOME = """<html lang="da-DK"><head><title>Forside - Fjordbladet</title>
<link rel="alternate" type="application/rss+xml" title="Comments" href="/comments/feed">
<link rel="alternate" type="application/rss+xml" title="All news" href="/feed">
<link rel="alternate" type="application/feed+json" href="feed.json">
<link rel="alternate" type="application/atom+xml" href="/gone.xml">
<link rel="alternate" type="text/html" hreflang="en" href="/en"></head>
<body><nav><a href="/news">News</a><a href="/sport/">Sport</a><a href="/about-us">About</a><a href="/login">Log in</a>
<a href="https://other.example/x">Elsewhere</a></nav>
<a href="/2024/05/03/the-last-ferry-leaves">The last ferry leaves</a><a href="/2024/05/02/herring">Herring</a></body>
"""


SLUG = r"/[^/?#]+-[^/?#]+-[^/?#]+-[^/?#]+"
FOLDER = r"/(?:articles?|news|story|stories|posts?|artikel|nachrichten|noticias?|actualites?)/[^/?#]+"


def rss(base: str, days: range) -> str:
    items = (item(f"{base}/2024/05/{day:02}/s", f"Story {day}", day=f"2024-05-{day:02}") for day in days)
    return rss_of(*items, title="Fjordbladet")


@pytest.mark.django_db
def test_one_address_is_enough(site: Site) -> None:
    site.add("/", HOME)
    site.add("/feed", rss(site.url, range(1, 11)), "application/rss+xml")
    site.add("/feed.json", '{"items": [{"id": "1"}]}', "application/json")
    named = f"Sitemap: {site.url}/index.xml\nsitemap:/old.xml\nUser-agent: *\nDisallow: /sport/\n"
    site.add("/robots.txt", named, "text/plain")
    site.add("/index.xml", sitemap_index(f"{site.url}/s-2024-05.xml"))
    site.add("/s-2024-05.xml", sitemap(*(f"{site.url}/2024/05/{day:02}/s" for day in range(1, 5))))
    stale = sitemap(f"{site.url}/2009/05/03/s").replace("</loc>", "</loc><lastmod>2009-05-03</lastmod>")
    site.add("/old.xml", stale, "application/xml")
    site.add("/news", HOME)

    found = discover(site.url, pause=0, private=["127.0.0.1"])

    assert (found.url, found.host, found.name, found.language) == (f"{site.url}/", "127.0.0.1", "Fjordbladet", "da")
    assert found.article_url_pattern == r"/\d{4}/\d{1,2}/\d{1,2}/"
    feed, index, *others = found.sources
    assert feed == FoundSource(
        kind="feed",
        url=f"{site.url}/feed",
        title="Fjordbladet",
        found_in="the home page",
        entries=10,
        newest=datetime.date(2024, 5, 10),
        samples=("Story 10", "Story 9", "Story 8", "Story 7", "Story 6"),
        recommended=True,
    )
    assert (index.kind, index.url, index.entries, index.recommended) == ("sitemap", f"{site.url}/index.xml", 4, True)
    assert [(source.url.removeprefix(site.url), source.problem or source.entries) for source in others] == [
        ("/old.xml", 1),
        ("/feed.json", "It is empty."),
        ("/gone.xml", "The page does not exist, or no longer exists. (HTTP 404)"),
        ("/news", "It links to no articles."),
        (
            "/sport/",
            "The site's robots.txt does not allow crawlers on this page. Crawls obey it. (Forbidden by robots.txt)",
        ),
    ]
    assert site.requests["/comments/feed"] == site.requests["/sport/"] == site.requests["/sitemap.xml"] == 0
    assert found == FoundNewspaper.of_json(found.as_json())


@pytest.mark.django_db
def test_usual_addresses_are_asked_if_none_is_named_and_the_newspaper_is_saved(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover_newspaper, "discover", partial(discover, pause=0))
    site.add("/", "<html><body>News</body></html>")
    site.add("/rss", rss(site.url, range(1, 5)), "application/rss+xml")
    options = {"private": ["127.0.0.1"], "save": "Fjordbladet"}
    assert called("discover_newspaper", site.url, **options)[0].splitlines() == [
        f"127.0.0.1 ({site.url}/)",
        r"article URL pattern: /\d{4}/\d{1,2}/\d{1,2}/",
        f"* feed “Fjordbladet” {site.url}/rss (from a usual address)",
        "    4 articles, the newest of 2024-05-04",
        "    Story 4",
        "    Story 3",
        "    Story 2",
        'Added Fjordbladet. Crawl it with: manage.py crawl "Fjordbladet"',
    ]
    saved = Newspaper.objects.get()
    assert (saved.host, saved.feed_urls, saved.sitemap_urls) == ("127.0.0.1", [f"{site.url}/rss"], [])
    with pytest.raises(CommandError, match="there is a newspaper with this name"):
        called("discover_newspaper", site.url, **options)


def test_addresses_that_cannot_be_explored() -> None:
    with pytest.raises(NothingFoundError, match="not a web address"):
        discover("ftp://fjordbladet.example")
    with pytest.raises(NothingFoundError, match=r"\(private address: 127.0.0.1\)"):
        discover("http://localhost:9/", private=[])


def test_home_pages_robots_and_sections() -> None:
    page = read_home_page(HOME.encode(), "https://fjordbladet.example/", "text/html")
    paths = [link.url.partition("example")[2] for link in page.feeds]
    assert paths == ["/comments/feed", "/feed", "/feed.json", "/gone.xml"]
    assert [link.text for link in sections(page.links, r"/\d{4}/")] == ["News", "Sport"]
    named = robots_sitemaps("SITEMAP : http://[x\nSitemap: a.xml # x", "https://f.example/")
    assert named == ["https://f.example/a.xml"]


@pytest.mark.parametrize(
    ("articles", "pattern"),
    [
        (["/2024/05/03/ferry", "/2024/05/04/herring", "/2024/06/04/library"], r"/\d{4}/\d{1,2}/\d{1,2}/"),
        (["/sport/a-1234567.html", "/x/b-1234568.html", "/c-1234569.html"], r"[-_/.=]\d{5,}"),
        (["/the-last-ferry-leaves", "/a/herring-are-back-again", "/b/night-in-the-library"], SLUG),
        (["/story/ferry", "/story/herring", "/story/library"], FOLDER),
        (["/kronik/ferry", "/kronik/herring", "/kronik/library"], r"/kronik/[^/?#]"),
        (["/ferry", "/herring", "/library"], ""),
        (["/2024/05/03/ferry"], ""),
    ],
)  # fmt: skip
def test_the_pattern_is_one_that_articles_have_and_sections_have_not(articles: list[str], pattern: str) -> None:
    host = "https://fjordbladet.example"
    others = [f"{host}{path}" for path in ("/news", "/sport/football", "/about-us", "/page/2")]
    assert propose_pattern([host + path for path in articles], others) == pattern


def test_sections_are_recommended_only_without_other_sources() -> None:
    feed, section = (FoundSource(kind, kind, "", "", entries=9) for kind in ("feed", "section"))
    assert [source.recommended for source in recommended([section, feed])] == [True, False]
    assert [source.recommended for source in recommended([section])] == [True]
