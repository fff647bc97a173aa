"""Extracts stored pages."""

from __future__ import annotations

import datetime
import gzip
import zlib
from typing import NamedTuple, TypeAlias

from articles.extraction.extract import ExtractedArticle, ExtractionError, extract_article
from articles.extraction.rules import NO_RULE, ExtractionRule

# The article, or the reason why there is none.
Extraction: TypeAlias = ExtractedArticle | str


class KeptPage(NamedTuple):
    """A page, the day it was fetched, which bounds its publication day, and its newspaper's own rule."""

    body: bytes  # compressed
    url: str
    content_type: str
    fetched: datetime.date
    rule: ExtractionRule = NO_RULE


def extract_kept(page: KeptPage, _on_progress: object = None) -> Extraction:
    """Return the article on a stored page, or the reason why there is none."""
    try:
        body = gzip.decompress(page.body)
        return extract_article(body, page.url, page.content_type, today=page.fetched, rule=page.rule)
    except (ExtractionError, OSError, EOFError, zlib.error) as error:
        return str(error)
