"""The HTML of the five newspapers: each has its own design, and its own way to declare headline and day."""

import datetime
import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from crawlers.demo.papers import PAPERS, PHRASES, SECTIONS, Paper
from crawlers.demo.scenarios import FIRST_DAY, Article, articles

DESIGNS = Path(__file__).with_name("designs")
_ZONE = datetime.timezone(datetime.timedelta(hours=1))
_WRAPPERS: dict[str, tuple[str, str]] = {
    "wrapped": ('<div class="component"><div class="component-inner"><div class="rich-text">', "</div></div></div>"),
    "live": ('<div class="live-entry"><div class="live-entry-body">', "</div></div>"),
}

Links = Sequence[tuple[str, str]]  # address and words


def article_page(article: Article, base_url: str, related: Links, teasers: Sequence[str], below: str = "") -> str:
    """Return the page of an article. Its box of related stories has links, each with a teaser; `below` is HTML."""
    paper = PAPERS[article.paper]
    box = "\n".join(
        f"<li>{_link(path, words)}<br>{escape(teaser)}</li>"
        for (path, words), teaser in zip(related, teasers, strict=False)
    )
    body = _body(paper, article, box) + below
    return _document(paper, article.headline, body, _metadata(paper, article, base_url), language=article.language)


def part_of_article(article: Article, number: int) -> Article:
    """Return what one of the pages of an article prints, which are counted from 1."""
    size = -(-len(article.paragraphs) // len(article.part_paths))
    return replace(article, paragraphs=article.paragraphs[size * (number - 1) :][:size])


def list_of_pages(article: Article, number: int) -> str:
    """Return the links from a page of an article to its other pages."""
    others = " ".join(_link(path, str(page)) for page, path in enumerate(article.part_paths, start=1) if page != number)
    return f'<div class="pagination">Page {number} of {len(article.part_paths)} {others}</div>'


def grown(article: Article, entries: int) -> Article:
    """Return a live blog after so many further entries; there are only a few."""
    return replace(article, paragraphs=(*PHRASES["live_entries"][:entries], *article.paragraphs))


def listing_page(paper: Paper, title: str, links: Links, next_page: str = "") -> str:
    """Return a page that lists articles: the front page, or one page of a section."""
    items = "\n".join(f"<li>{_link(path, words)}</li>" for path, words in links)
    more = f'<p class="pagination"><a rel="next" href="{escape(next_page)}">Older articles</a></p>' if next_page else ""
    return _document(paper, title, f"<main><h1>{escape(title)}</h1>\n<ul>\n{items}\n</ul>\n{more}</main>")


def notice_page(paper: Paper, title: str, words: str) -> str:
    return _document(paper, title, f"<main><h1>{title}</h1><p>{words}</p></main>")


def moment(article: Article) -> datetime.datetime:
    """Return when the article was published."""
    seed = zlib.crc32(article.id.encode())
    return datetime.datetime.combine(article.date, datetime.time(6 + seed % 14, seed // 14 % 60), _ZONE)


def private_article(paper: Paper) -> Article:
    """Return the article that robots.txt forbids although every page and every source links to it."""
    path = paper.path("for-subscribers-harbour-map", "local", "en", FIRST_DAY)
    return Article(
        paper=paper.key,
        date=FIRST_DAY,
        section="local",
        language="en",
        headline="For subscribers: the harbour map of next season",
        byline="",
        paragraphs=("This page is for the subscribers of the newspaper, and no crawler may come here.",),
        path=f"/private{path}",
    )


def _document(paper: Paper, title: str, body: str, metadata: str = "", *, language: str = "en") -> str:
    sections = " ".join(_link(f"/{section}/", section.capitalize()) for section in SECTIONS)
    page = _design("page").substitute(
        language=language,
        direction=' dir="rtl"' if language == "ar" else "",
        charset=paper.charset,
        title=escape(title + paper.suffix),
        metadata=metadata,
        paper=escape(paper.name),
        slogan=escape(paper.slogan),
        menu=f"{sections} {_link(private_article(paper).path, 'For subscribers')}",
        body=body,
        place=paper.place,
    )
    return f"{page}\n"


@cache
def _design(name: str) -> Template:
    return Template((DESIGNS / f"{name}.html").read_text(encoding="utf-8").rstrip("\n"))


def _link(path: str, words: str) -> str:
    return f'<a href="{escape(path)}">{escape(words)}</a>'


# -- What the head of an article's page declares ----------------------------------------------------------------------


def _metadata(paper: Paper, article: Article, base_url: str) -> str:
    published, path = moment(article).isoformat(), article.path
    if article.trouble == "canonical":  # a careless template names one story on other pages too
        path = next(story.path for story in articles() if story.paper == paper.key and not story.trouble)
    address = base_url + path
    canonical = f'<link rel="canonical" href="{escape(address)}">\n' if paper.canonical else ""
    title = escape(article.declared_headline)
    match paper.metadata:
        case "json-ld":
            return canonical + _script(_linked_data(paper, article, published) | {"mainEntityOfPage": address})
        case "graph":
            publisher = {"@type": "NewsMediaOrganization", "name": paper.name, "url": base_url}
            graph = [publisher, _linked_data(paper, article, published) | {"url": address}]
            return canonical + _script({"@context": "https://schema.org", "@graph": graph})
        case "opengraph":
            return (
                f'<meta property="og:type" content="article">\n<meta property="og:title" content="{title}">\n'
                f'<meta property="og:site_name" content="{escape(paper.name)}">\n'
                f'<meta property="article:published_time" content="{published}">\n'
            )
        case "meta":
            return (
                f'<meta name="dc.title" content="{title}">\n<meta name="author" content="{escape(article.byline)}">\n'
            )
        case _:
            return canonical


def _linked_data(paper: Paper, article: Article, published: str) -> dict[str, Any]:
    return {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": article.headline,
        "datePublished": published,
        "author": {"@type": "Person", "name": article.byline},
        "publisher": {"@type": "Organization", "name": paper.name},
    }


def _script(data: dict[str, Any]) -> str:
    source = json.dumps(data, indent=1).replace("</", "<\\/")
    return f'<script type="application/ld+json">\n{source}\n</script>\n'


# -- The body of an article, as its newspaper designs it ---------------------------------------------------


def _body(paper: Paper, article: Article, box: str) -> str:
    advertisements = PHRASES["advertisements"]
    values = {
        "headline": escape(article.headline),
        "byline": escape(article.byline),
        "date": article.date,
        "with_slashes": f"{article.date:%d/%m/%Y}",
        "with_dots": f"{article.date:%d.%m.%Y}",
        "in_words": f"{article.date.day} {article.date:%B %Y}",
        "advertisement": escape(advertisements[zlib.crc32(article.path.encode()) % len(advertisements)]),
        "newsletter": PHRASES["newsletter"],
        "box": box,
        "paper": paper.name,
    }
    text = "<br><br>\n".join(map(escape, article.paragraphs))
    if between := Template(paper.between).substitute(values):
        before, after = _WRAPPERS.get(article.trouble, ("", ""))
        printed = [f"{before}<p>{escape(paragraph)}</p>{after}" for paragraph in article.paragraphs]
        if article.trouble == "stub":
            printed = [printed[0], f'<div class="paywall"><p>{PHRASES["paywall"]}</p></div>']
        text = "\n".join((*printed[:2], between, *printed[2:]))
    return _design(paper.key).substitute(values, text=text)
