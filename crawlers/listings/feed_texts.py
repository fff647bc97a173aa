"""The texts that feeds carry whole: content:encoded, content of Atom and JSON feeds, and long descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from articles.extraction.feed_entries import FeedEntry
from articles.normalization.text import letters
from articles.normalization.values import plain_text

# A description is a teaser, unless it is as long as an article.
MIN_DESCRIPTION_LETTERS = 1_000


def carried_text(entry: Any) -> bytes:
    """Return what an entry, as feedparser read it, carries of its article, packed; b"" if that is only a teaser."""
    html = max(_contents(entry), key=len, default="")
    detail = entry.get("author_detail") or {}
    author = plain_text(str(detail.get("name") or entry.get("author") or ""))
    return FeedEntry(html, plain_text(str(entry.get("title") or "")), author).packed()


def json_carried_text(item: dict[str, Any]) -> bytes:
    """Return what an item of a JSON feed carries of its article, packed; b"" if it carries no text."""
    html = _text(item.get("content_html")) or _as_html(_text(item.get("content_text")))
    authors = item.get("authors")
    authors = authors if isinstance(authors, list) else [item.get("author")]
    names = (_text(author.get("name")) for author in authors if isinstance(author, dict))
    return FeedEntry(html, plain_text(_text(item.get("title"))), ", ".join(filter(None, names))).packed()


def _contents(entry: Any) -> Iterator[str]:
    """Yield the texts of an entry as HTML."""
    for each in entry.get("content") or ():
        text = str(each.get("value") or "")
        yield _as_html(text) if each.get("type") == "text/plain" else text
    description = str(entry.get("summary") or "")
    if letters(plain_text(description)) >= MIN_DESCRIPTION_LETTERS:
        yield description


def _as_html(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
