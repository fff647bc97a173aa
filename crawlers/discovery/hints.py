"""What a home page, a robots.txt and a list of URLs say about where articles are listed. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import lxml.html

from articles.extraction.html import ExtractionError, parse_page
from crawlers.fetching.sites import absolute, is_front_page, is_visitable, same_site
from crawlers.listings.dates import headline, language_code

# Addresses that publishing systems use by default; asked only if the site declares none.
GUESSED_FEEDS = ("/feed/", "/rss", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml", "/feed.json")
GUESSED_SITEMAPS = ("/sitemap.xml", "/sitemap_index.xml", "/news-sitemap.xml", "/sitemap-news.xml", "/sitemap.xml.gz")
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"})
# In the text or URL of a feed of readers' comments.
OF_COMMENTS = re.compile(r"\bcomments?\b|/comments/|kommentare?\b|commentaires?\b|comentarios?\b", re.IGNORECASE)
_SITEMAP_LINE = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
# An article's address has a number, a day, or a headline of four words or more.
_SLUG = re.compile(r"[^/\W]+(?:[-_][^/\W_]+){3,}", re.UNICODE)
# Pages that every site has, and that list no articles.
_NO_SECTION = re.compile(
    r"about|account|advert|anzeige|abo\b|career|contact|cookie|datenschutz|faq|help|impressum|imprint|jobs?\b|kontakt"
    r"|legal|login|log-in|newsletter|policy|privacy|register|search|shop|sign|subscri|terms|\.(?:pdf|jpe?g|png|xml|zip)$",
    re.IGNORECASE,
)
# From the most particular form of an article's address to the least.
_PATTERNS = (
    r"/\d{4}/\d{1,2}/\d{1,2}/",
    r"/\d{4}/\d{2}/",
    r"\d{4}-\d{2}-\d{2}",
    r"/\d{8}",
    r"[-_/.=]\d{5,}",
    r"/[^/?#]+-[^/?#]+-[^/?#]+-[^/?#]+",
    r"/(?:articles?|news|story|stories|posts?|artikel|nachrichten|noticias?|actualites?)/[^/?#]+",
    r"\.s?html?$",
)
_SEPARATOR = re.compile(r"\s+[-–—|:·»]\s+")
_HOME = frozenset({"home", "home page", "homepage", "startseite", "forside", "accueil", "inicio", "front page", "news"})
LEAST_MATCHING = 0.95  # of the articles' URLs
MOST_OTHERS = 0.05  # of the other URLs
LEAST_ARTICLES = 3


@dataclass(frozen=True, slots=True)
class Link:
    """A link on a page: its absolute URL and its text."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class HomePage:
    """What a home page says of its newspaper: `feeds` that it declares, and `links` to other pages of its site."""

    name: str = ""
    language: str = ""
    feeds: tuple[Link, ...] = ()
    links: tuple[Link, ...] = ()


def read_home_page(body: bytes, url: str, content_type: str) -> HomePage:
    """Return what a home page says. Raises ValueError if it cannot be read."""
    try:
        page = parse_page(body, content_type)
    except ExtractionError as error:
        raise ValueError("The home page cannot be read.") from error
    bases = page.xpath("//base/@href")
    base = absolute(url, bases[0]) if bases else url
    return HomePage(
        name=_name(page, url),
        language=language_code(page.get("lang") or page.get("{http://www.w3.org/XML/1998/namespace}lang") or ""),
        feeds=tuple(_distinct(_feeds(page, base))),
        links=tuple(link for link in _distinct(_links(page, base)) if same_site(link.url, url)),
    )


def robots_sitemaps(text: str, url: str) -> list[str]:
    """Return the sitemaps that a robots.txt names, each once."""
    urls = (absolute(url, match[1]) for match in _SITEMAP_LINE.finditer(text))
    return list(dict.fromkeys(address for address in urls if is_visitable(address)))


def looks_like_article(url: str) -> bool:
    path = urlsplit(url).path
    return bool(re.search(r"\d{5,}|/\d{4}/\d{1,2}/|\d{4}-\d{2}-\d{2}", path) or _SLUG.search(path))


def is_article(url: str, pattern: str) -> bool:
    """Return whether a URL matches the pattern of articles; without one, whether it has their form."""
    return bool(re.search(pattern, url)) if pattern else looks_like_article(url)


def sections(links: Iterable[Link], pattern: str) -> list[Link]:
    """Return the links that lead to pages that can list articles: short addresses that are no article's."""
    found = []
    for link in links:
        path = urlsplit(link.url).path
        short = 1 <= len([part for part in path.split("/") if part]) <= 2 and not urlsplit(link.url).query
        if short and link.text and not is_article(link.url, pattern) and not _NO_SECTION.search(path):
            found.append(link)
    return sorted(found, key=lambda link: urlsplit(link.url).path.strip("/").count("/"))


def propose_pattern(articles: Sequence[str], others: Sequence[str]) -> str:
    """Return a pattern that almost all of these articles' URLs have and almost none of the others; empty if none does.

    Only the path and the query count, so that it does not match the host.
    """
    articles = list(dict.fromkeys(articles))
    if len(articles) < LEAST_ARTICLES:
        return ""
    paths = [urlsplit(url).path.split("/") for url in articles]
    folders = Counter(path[1] for path in paths if len(path) > 2 and path[1])
    usual = [f"/{re.escape(folder)}/[^/?#]" for folder, _ in folders.most_common(1)]
    for pattern in (*_PATTERNS, *usual):
        matching = sum(bool(re.search(pattern, url)) for url in articles) / len(articles)
        foreign = sum(bool(re.search(pattern, url)) for url in others) / max(len(others), 1)
        if matching >= LEAST_MATCHING and foreign <= MOST_OTHERS:
            return pattern
    return ""


def _name(page: lxml.html.HtmlElement, url: str) -> str:
    declared = page.xpath("//meta[@property='og:site_name']/@content")
    titles = page.xpath("//title/text()")
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    parts = [part.strip() for title in titles[:1] for part in _SEPARATOR.split(title) if part.strip()]
    # A title has a name, a slogan, or the name of the page; the host is made of the name.
    parts.sort(key=lambda part: "".join(filter(str.isalnum, part.lower())) not in host.replace("-", ""))
    named = [part for part in parts if part.casefold() not in _HOME]
    return headline(next(iter([*declared, *named]), "") or host)[:200]


def _feeds(page: lxml.html.HtmlElement, base: str) -> Iterable[Link]:
    for element in page.xpath("//link[@href] | //a[@href]"):
        kind = (element.get("type") or "").partition(";")[0].strip().lower()
        relations, address = (element.get("rel") or "").lower().split(), (element.get("href") or "").lower()
        named = kind == "application/json" and "alternate" in relations and "feed" in address
        if kind in _FEED_TYPES or "feed" in relations or named:
            yield Link(absolute(base, element.get("href")), headline(element.get("title") or ""))


def _links(page: lxml.html.HtmlElement, base: str) -> Iterable[Link]:
    """Yield the links of the page, those of its menus first."""
    for path in ("//nav//a[@href] | //header//a[@href]", "//a[@href]"):
        for element in page.xpath(path):
            url = absolute(base, element.get("href")).partition("#")[0]
            if is_visitable(url) and not is_front_page(url):
                yield Link(url, headline(element.text_content()))


def _distinct(links: Iterable[Link]) -> list[Link]:
    found: dict[str, Link] = {}
    for link in links:
        if is_visitable(link.url):
            found.setdefault(link.url, link)
    return list(found.values())
