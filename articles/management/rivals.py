"""Other programs that extract articles, for comparison with ours. Most of them are installed by an extra."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from babel import Locale, UnknownLocaleError
from django.core.management.base import CommandError

from articles.extraction.extract import decode_page, extract_article
from articles.extraction.html import join_paragraphs, paragraphs, parse_markup, parse_page
from articles.extraction.metadata import read_declared
from articles.management.page_sets import Found, KnownPage, as_authors, as_headline

EXTRA = "newsdedup[benchmarks]"
Extractor = Callable[[KnownPage], Found]


def newsdedup(page: KnownPage) -> Found:
    article = extract_article(page.body, page.url)
    return Found(
        text=article.text,
        doubt=article.text_doubt,
        headline=as_headline(article.headline),
        day=article.date.isoformat() if article.date else "",
        authors=as_authors(article.byline.split(", ")),
    )


def rivals() -> Mapping[str, Extractor]:
    """Return the other programs by name. Raises CommandError if one is not installed."""
    if missing := [name for name, (module, _) in _RIVALS.items() if not find_spec(module)]:
        plural = "is" if len(missing) == 1 else "are"
        raise CommandError(f"{', '.join(missing)} {plural} not installed. Install {EXTRA}, or leave --rivals out.")
    return {name: extractor for name, (_, extractor) in _RIVALS.items()}


def _trafilatura(page: KnownPage) -> Found:
    source = decode_page(page.body)
    text = _module("trafilatura").extract(source, url=page.url or None, include_comments=False) or ""
    facts = _module("trafilatura.metadata").extract_metadata(source, default_url=page.url or None)
    if facts is None:
        return Found(text, headline="", day="", authors=frozenset())
    authors = as_authors((facts.author or "").split("; "))
    return Found(text, headline=as_headline(facts.title or ""), day=facts.date or "", authors=authors)


def _readability(page: KnownPage) -> Found:
    document = _module("readability").Document(decode_page(page.body))
    summary = document.summary(html_partial=True)
    text = join_paragraphs(paragraphs(parse_markup(summary))) if summary.strip() else ""
    return Found(text, headline=as_headline(document.short_title()))


def _newspaper(page: KnownPage) -> Found:
    article = _module("newspaper").Article(page.url or "https://newspaper.invalid/", fetch_images=False)
    article.download(input_html=decode_page(page.body))
    article.parse()
    day = article.publish_date.date().isoformat() if article.publish_date else ""
    return Found(article.text, headline=as_headline(article.title or ""), day=day, authors=as_authors(article.authors))


def _resiliparse(page: KnownPage) -> Found:
    extract = _module("resiliparse.extract.html2text").extract_plain_text
    return Found(extract(decode_page(page.body), main_content=True, alt_texts=False) or "")


def _justext(page: KnownPage) -> Found:
    justext = _module("justext")
    language = _english_name(read_declared(parse_page(page.body), page.url).language)
    if language in justext.get_stoplists():
        parts = justext.justext(decode_page(page.body).encode(), justext.get_stoplist(language), encoding="utf-8")
    else:  # what its documentation advises for other languages
        options = {"stopwords_low": 0, "stopwords_high": 0, "encoding": "utf-8"}
        parts = justext.justext(decode_page(page.body).encode(), frozenset(), **options)
    return Found("\n\n".join(part.text for part in parts if not part.is_boilerplate))


def _english_name(language: str) -> str:
    try:
        return Locale.parse(language or "en").get_language_name("en") or ""
    except (UnknownLocaleError, ValueError):
        return ""


def _module(name: str) -> Any:
    return importlib.import_module(name)


_RIVALS: Mapping[str, tuple[str, Extractor]] = {
    "trafilatura": ("trafilatura", _trafilatura),
    "readability-lxml": ("readability", _readability),
    "newspaper4k": ("newspaper", _newspaper),
    "resiliparse": ("resiliparse", _resiliparse),
    "jusText": ("justext", _justext),
}
