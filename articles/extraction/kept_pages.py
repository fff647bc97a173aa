"""Extracts articles from all that is known of them: their pages, and what their feed carries."""

from __future__ import annotations

import datetime
import gzip
import zlib
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from articles.extraction.extract import ExtractedArticle, ExtractionError, extract_article
from articles.extraction.feed_entries import NOT_READ, with_feed_entry
from articles.extraction.page_series import join_pages
from articles.extraction.rules import NO_RULE, ExtractionRule

# The article, or the reason why there is none.
Extraction: TypeAlias = ExtractedArticle | str


class RawPage(NamedTuple):
    """A page as it was fetched, empty if it could not be; compressed with gzip in a KeptPage."""

    body: bytes
    url: str
    content_type: str


class KeptPage(NamedTuple):
    """A stored page, the day it was fetched, which bounds its publication day, and its newspaper's own rule.

    `following` are the further pages of its article, and `feed_entry` is what its feed carries, see feed_entries.py.
    """

    body: bytes  # compressed
    url: str
    content_type: str
    fetched: datetime.date
    rule: ExtractionRule = NO_RULE
    following: Sequence[RawPage] = ()
    feed_entry: bytes = b""


def extract_kept(page: KeptPage, _on_progress: object = None) -> Extraction:
    """Return the article on a stored page, or the reason why there is none."""
    pages = (RawPage(page.body, page.url, page.content_type), *page.following)
    try:
        pages = tuple(page._replace(body=gzip.decompress(page.body)) for page in pages)
    except (OSError, EOFError, zlib.error) as error:
        return str(error)
    return extract_whole(pages, page.feed_entry, page.fetched, page.rule)


def extract_whole(
    pages: Sequence[RawPage], feed_entry: bytes, today: datetime.date, rule: ExtractionRule = NO_RULE
) -> Extraction:
    """Return the article on these pages, at least one, or the reason why there is none.

    `feed_entry` is what its feed carries, b"" if it carries no text. `today` is the day on which they were fetched, and
    `rule` the newspaper's own.
    """
    found, *following = (_extracted(page, today, rule) for page in pages)
    if following and not isinstance(found, str):
        found = join_pages(found, following)
    return with_feed_entry(found, feed_entry)


def _extracted(page: RawPage, today: datetime.date, rule: ExtractionRule) -> Extraction:
    if not page.body:
        return NOT_READ
    try:
        return extract_article(page.body, page.url, page.content_type, today=today, rule=rule)
    except ExtractionError as error:
        return error.reason
