"""Extracts many kept pages, in this process or in several: nothing but the pages and the articles goes between them."""

from __future__ import annotations

import datetime
import gzip
import multiprocessing
import os
import signal
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import TypeAlias

from articles.extraction.extract import ExtractedArticle, ExtractionError, extract_article

# Body as it is kept, compressed; URL; Content-Type; the day it was fetched, after which it was not published.
Page: TypeAlias = tuple[bytes, str, str, datetime.date]
# The article, or why there is none.
Extraction: TypeAlias = ExtractedArticle | str
Extract: TypeAlias = Callable[[Sequence[Page]], Iterator[Extraction]]
# Pages handed to a process at once: few, so that a slow page holds up few others.
_CHUNK = 4


@contextmanager
def extractor(workers: int) -> Iterator[Extract]:
    """Give the function that extracts pages, in their order, with so many processes."""
    if workers < 2:
        yield lambda pages: map(extract_kept, pages)
        return
    # Not forked: the threads and the database connection of this process would be halved.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin) as pool:
        yield lambda pages: pool.map(extract_kept, pages, chunksize=_CHUNK)


def extract_kept(page: Page) -> Extraction:
    """Return the article on a kept page, or why there is none."""
    body, url, content_type, fetched = page
    try:
        return extract_article(gzip.decompress(body), url, content_type, today=fetched)
    except (ExtractionError, OSError, EOFError, zlib.error) as error:
        return str(error)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this process
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
