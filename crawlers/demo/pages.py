"""The HTML of the five newspapers: each has its own design, and its own way to declare headline and day."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

from crawlers.demo.papers import PAPERS, SECTIONS, Paper
from crawlers.demo.scenarios import FIRST_DAY, Article, articles

ADVERTISEMENTS = (
    "Norrgard Sails: hand-sewn in Ostwick, guaranteed for forty storms. Ask for the winter price list.",
    "Three nights for the price of two at the Lantern House, Inverlow. Breakfast, sea view and dog included.",
    "Bray & Daughters, opticians in Port Selby: the second pair is on us until the end of the month.",
    "Open a Tidemark savings account today and see your crowns come in twice as often as the ferry.",
    "Secondhand tractors, honest prices, tea while you wait: Culver's yard, Hollin Vale, Thursday to Saturday.",
)
NEWSLETTER = "Subscribe to our newsletter and find the morning's most important stories in your letter box at six."
STYLE = """body { font: 17px/1.5 Georgia, serif; margin: 0 auto; max-width: 60rem; padding: 0 1rem; color: #222 }
nav a, .menu a { margin-right: 1rem } h1 { line-height: 1.15 } footer, .foot { border-top: 1px solid #999; color: #666 }
.ad, .advert, .ad-slot, .sponsored { background: #f3efe2; padding: .5rem; font-size: .85rem }
aside, .related-links, .related { border: 1px solid #ccc; padding: .5rem 1rem; margin: 1rem 0; font-size: .9rem }
table { border-spacing: 1rem } td { vertical-align: top } time, .byline, .by { color: #666; font-size: .9rem }
"""

PAYWALL = "Subscribe to continue reading this story. Already a subscriber? Log in."
LIVE_ENTRIES = (
    "The newsroom asks readers on the coast to send what they see; the next entry follows within the hour.",
    "Nothing new has come in from the authorities since the last entry, says the desk in Port Selby.",
    "This live report ends here; a summary will be found in the morning edition.",
)
_WRAPPERS: dict[str, tuple[str, str]] = {
    "wrapped": ('<div class="component"><div class="component-inner"><div class="rich-text">', "</div></div></div>"),
    "live": ('<div class="live-entry"><div class="live-entry-body">', "</div></div>"),
}

Links = Sequence[tuple[str, str]]  # address and words


def article_page(article: Article, base_url: str, related: Links, teasers: Sequence[str], below: str = "") -> str:
    """Return the page of an article; `related` are the articles in its box of related stories, `below` is HTML."""
    paper = PAPERS[article.paper]
    body = _BODIES[paper.key](paper, article, _box(related, teasers)) + below
    return _document(paper, article.headline, body, _metadata(paper, article, base_url), language=article.language)


def part_of_article(article: Article, number: int) -> Article:
    """Return what one of the pages of an article prints, which are counted from 1."""
    size = -(-len(article.paragraphs) // len(article.part_paths))
    return replace(article, paragraphs=article.paragraphs[size * (number - 1) :][:size])


def list_of_pages(article: Article, number: int) -> str:
    """Return the links from a page of an article to its other pages."""
    paths = enumerate(article.part_paths, start=1)
    others = " ".join(_link(path, str(page)) for page, path in paths if page != number)
    return f'<div class="pagination">Page {number} of {len(article.part_paths)} {others}</div>'


def grown(article: Article, entries: int) -> Article:
    """Return a live blog after so many further entries; there are at most len(LIVE_ENTRIES)."""
    return replace(article, paragraphs=(*LIVE_ENTRIES[:entries], *article.paragraphs))


def listing_page(paper: Paper, title: str, links: Links, next_page: str = "") -> str:
    """Return a page that lists articles: the front page, or one page of a section."""
    items = "\n".join(f"<li>{_link(path, words)}</li>" for path, words in links)
    more = f'<p class="pagination"><a rel="next" href="{escape(next_page)}">Older articles</a></p>' if next_page else ""
    return _document(paper, title, f"<main><h1>{escape(title)}</h1>\n<ul>\n{items}\n</ul>\n{more}</main>")


def missing_page(paper: Paper) -> str:
    """Return the page for an address that does not exist."""
    return _document(paper, "Page not found", "<main><h1>Page not found</h1><p>The tide has taken it.</p></main>")


def refused_page(paper: Paper) -> str:
    """Return the page for a visitor whom the newspaper takes for a program."""
    return _document(paper, "Just a moment", "<main><h1>Just a moment</h1><p>Are you a program?</p></main>")


def time_of_day(article: Article) -> str:
    """Return the time at which the article was published, as hh:mm:ss."""
    seed = zlib.crc32(article.id.encode())
    return f"{6 + seed % 14:02}:{seed // 14 % 60:02}:00"


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
    direction = ' dir="rtl"' if language == "ar" else ""
    return f"""<!DOCTYPE html>
<html lang="{language}"{direction}>
<head>
<meta charset="{paper.charset}">
<title>{escape(title + paper.suffix)}</title>
<link rel="stylesheet" href="/style.css">
{metadata}</head>
<body>
<header class="masthead"><a href="/">{escape(paper.name)}</a> <em>{escape(paper.slogan)}</em></header>
<nav class="menu">{_menu(paper)}</nav>
{body}
<footer class="foot"><p>© 2026 {escape(paper.name)}. All rights reserved. Printed and published in {paper.place}.</p>
<p><a href="/about">About us</a> <a href="/contact">Contact</a></p></footer>
</body>
</html>
"""


def _menu(paper: Paper) -> str:
    sections = " ".join(_link(f"/{section}/", section.capitalize()) for section in SECTIONS)
    return f"{sections} {_link(private_article(paper).path, 'For subscribers')}"


def _link(path: str, words: str) -> str:
    return f'<a href="{escape(path)}">{escape(words)}</a>'


def _box(related: Links, teasers: Sequence[str]) -> str:
    """Return the list for a box of related stories: links, each with a teaser below."""
    return "\n".join(
        f"<li>{_link(path, words)}<br>{escape(teaser)}</li>"
        for (path, words), teaser in zip(related, teasers, strict=False)
    )


# -- What the head of an article's page declares ----------------------------------------------------------------------


def _metadata(paper: Paper, article: Article, base_url: str) -> str:
    moment = f"{article.date}T{time_of_day(article)}+01:00"
    address = base_url + (_lead_story(paper) if article.trouble == "canonical" else article.path)
    canonical = f'<link rel="canonical" href="{escape(address)}">\n' if paper.canonical else ""
    title = escape(article.declared_headline)
    match paper.metadata:
        case "json-ld":
            return canonical + _script(_linked_data(paper, article, moment) | {"mainEntityOfPage": address})
        case "graph":
            publisher = {"@type": "NewsMediaOrganization", "name": paper.name, "url": base_url}
            graph = [publisher, _linked_data(paper, article, moment) | {"url": address}]
            return canonical + _script({"@context": "https://schema.org", "@graph": graph})
        case "opengraph":
            return (
                f'<meta property="og:type" content="article">\n<meta property="og:title" content="{title}">\n'
                f'<meta property="og:site_name" content="{escape(paper.name)}">\n'
                f'<meta property="article:published_time" content="{moment}">\n'
            )
        case "meta":
            return (
                f'<meta name="dc.title" content="{title}">\n<meta name="author" content="{escape(article.byline)}">\n'
            )
        case _:
            return canonical


def _lead_story(paper: Paper) -> str:
    """Return the path of the story that a careless template names on other pages too."""
    return next(article.path for article in articles() if article.paper == paper.key and not article.trouble)


def _linked_data(paper: Paper, article: Article, moment: str) -> dict[str, Any]:
    return {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": article.headline,
        "datePublished": moment,
        "author": {"@type": "Person", "name": article.byline},
        "publisher": {"@type": "Organization", "name": paper.name},
    }


def _script(data: dict[str, Any]) -> str:
    source = json.dumps(data, indent=1).replace("</", "<\\/")
    return f'<script type="application/ld+json">\n{source}\n</script>\n'


# -- The body of an article, newspaper by newspaper --------------------------------------------------------


def _advertisement(article: Article) -> str:
    return escape(ADVERTISEMENTS[zlib.crc32(article.path.encode()) % len(ADVERTISEMENTS)])


def _paragraphs(article: Article, between: str) -> str:
    """Return the text as paragraphs, with `between` after the second one; as its trouble has it."""
    before, after = _WRAPPERS.get(article.trouble, ("", ""))
    printed = [f"{before}<p>{escape(paragraph)}</p>{after}" for paragraph in article.paragraphs]
    if article.trouble == "stub":
        printed = [printed[0], f'<div class="paywall"><p>{PAYWALL}</p></div>']
    return "\n".join((*printed[:2], between, *printed[2:]))


def _courier(_paper: Paper, article: Article, box: str) -> str:
    advert = f'<aside class="advert"><p>Advertisement</p><p>{_advertisement(article)}</p></aside>'
    return f"""<main><article>
<header><h1>{escape(article.headline)}</h1>
<div class="byline">{escape(article.byline)},
<time datetime="{article.date}">{article.date:%d/%m/%Y}</time></div></header>
<ul class="share-bar"><li>Share</li><li>Print</li><li>Send to a friend</li></ul>
<div class="article-body">
{_paragraphs(article, advert)}
</div>
</article>
<aside class="related-stories"><h2>Related stories</h2><ul>
{box}
</ul></aside>
<section class="newsletter-signup"><p>{NEWSLETTER}</p></section></main>"""


def _gazette(_paper: Paper, article: Article, box: str) -> str:
    return f"""<div id="wrapper"><div class="story-head"><h1>{escape(article.headline)}</h1>
<div class="by">{escape(article.byline)}</div></div>
<div class="story-text">
{_paragraphs(article, f'<div class="ad-slot">{_advertisement(article)}</div>')}
</div>
<div class="share-buttons"><span>Share this story</span> <span>Save for later</span></div>
<div class="related-links"><h3>More from the Gazette</h3><ul>
{box}
</ul></div>
<div class="newsletter"><p>{NEWSLETTER}</p></div></div>"""


def _echo(paper: Paper, article: Article, box: str) -> str:
    return f"""<table><tr><td colspan="2"><h1>{escape(article.headline)}</h1>
<span class="by">{escape(article.byline)}
<time datetime="{article.date}">{article.date:%d.%m.%Y}</time></span></td></tr>
<tr><td class="story">
{_paragraphs(article, f'<div class="sponsored">{_advertisement(article)}</div>')}
</td><td class="related" width="200"><b>Also in the {paper.name}</b><ul>
{box}
</ul></td></tr>
<tr><td colspan="2" class="newsletter">{NEWSLETTER}</td></tr></table>"""


def _dunmere(_paper: Paper, article: Article, box: str) -> str:
    text = "<br><br>\n".join(escape(paragraph) for paragraph in article.paragraphs)
    return f"""<div class="title"><h1>{escape(article.headline)}</h1>
<span class="by">{escape(article.byline)}</span>
<span class="date">Published on {article.date.day} {article.date:%B %Y}</span></div>
<div class="content"><div class="text">{text}</div></div>
<div class="ad">{_advertisement(article)}</div>
<div class="related"><h4>Read also</h4><ul>
{box}
</ul></div>
<div class="subscribe"><p>{NEWSLETTER}</p></div>"""


def _meridian(_paper: Paper, article: Article, box: str) -> str:
    inset = f'<div class="read-more"><h3>Read more</h3><ul>{box}</ul></div>'
    return f"""<main id="content"><section class="lead"><h1>{escape(article.headline)}</h1>
<div class="author-line">{escape(article.byline)}</div></section>
<div class="article-text" itemprop="articleBody">
{_paragraphs(article, inset)}
</div>
<div class="advertisement">{_advertisement(article)}</div>
<form class="newsletter-form" action="/newsletter"><label>{NEWSLETTER}</label></form></main>"""


_BODIES = {"courier": _courier, "gazette": _gazette, "echo": _echo, "dunmere": _dunmere, "meridian": _meridian}
