"""Pages, feeds and sitemaps of an invented newspaper, and its row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from articles.models import Newspaper
    from tests.crawlers.conftest import Site

PATTERN = r"/2024/\d\d/"


def article_page(headline: str, text: str, *, day: str = "2024-05-03", canonical: str = "") -> str:
    date = f'<meta property="article:published_time" content="{day}T08:00:00+02:00">' if day else ""
    link = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    return (
        f"<!doctype html><html><head><title>{headline} - Fjordbladet</title>{date}{link}</head><body>"
        f"<nav><a href='/'>Front page</a></nav><article><h1>{headline}</h1><p>{text}</p></article></body></html>"
    )


FERRY = (
    "The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay to wave."
)
HERRING = (
    "Herring came back to the northern bays this spring, in shoals that the oldest fishermen said they had not seen."
)
LIBRARY = "The library in the harbour street keeps its doors open until ten at night, a trial that ends in September."
BRIDGE = "Engineers closed the iron bridge for the third time this year after finding rust in two of its main girders."


def item(link: str, title: str = "One", *, day: str = "", more: str = "") -> str:
    """Return an entry of a feed, without a title or a day if they are empty."""
    titled = f"<title>{title}</title>" if title else ""
    dated = f"<pubDate>{day}</pubDate>" if day else ""
    return f"<item>{titled}<link>{link}</link>{dated}{more}</item>"


def rss_of(*items: str, title: str = "Feed") -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title>{"".join(items)}</channel></rss>'


def rss(*links: str) -> str:
    return rss_of(*map(item, links))


def sitemap(*urls: str) -> str:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def sitemap_index(*urls: str) -> str:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>"


def fed(site: Site, *links: str) -> Newspaper:
    site.feed(*links)
    return newspaper(site, feed=["/feed"])


def newspaper(site: Site, **sources: list[str]) -> Newspaper:
    from articles.models import Newspaper  # noqa: PLC0415 - the pages are served by programs without Django, too

    urls = {f"{kind}_urls": [site.url + path for path in paths] for kind, paths in sources.items()}
    return Newspaper.objects.create(name="Fjordbladet", host="127.0.0.1", article_url_pattern=PATTERN, **urls)
