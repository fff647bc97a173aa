"""Extracts stored pages."""

from __future__ import annotations

import datetime
import gzip
import zlib
from typing import NamedTuple, TypeAlias

from articles.extraction.extract import ExtractedArticle, ExtractionError, extract_article

# The article, or the reason why there is none.
Extraction: TypeAlias = ExtractedArticle | str


class KeptPage(NamedTuple):
    """A page and the day it was fetched, which bounds its publication day."""

    body: bytes  # compressed
    url: str
    content_type: str
    fetched: datetime.date


def extract_kept(page: KeptPage, _on_progress: object = None) -> Extraction:
    """Return the article on a stored page, or the reason why there is none."""
    try:
        return extract_article(gzip.decompress(page.body), page.url, page.content_type, today=page.fetched)
    except (ExtractionError, OSError, EOFError, zlib.error) as error:
        return str(error)
