"""What the tests of passes share: what a pass finds, and articles that are stored all at once."""

import datetime
from collections.abc import Iterable
from typing import Any

from django.db import connection

from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from dedup.detection.passes.base import Pass
from dedup.detection.types import Candidate, Window

ALL_DAYS = Window(datetime.date(1990, 1, 1), datetime.date(2026, 12, 31))
# With this, no group of articles is dense: every pair is found.
NEVER_DENSE = 100_000_000
WIRE = (
    "The harbour authority of Port Selby said on Monday that the northern breakwater will close for six weeks while "
    "divers replace the anchor chains. Fishing boats may use the southern basin free of charge until the work is done."
)


def of_berth(group: int, _copy: int) -> dict[str, str]:
    """Return what an article of a group has for a pass of similar texts: one that differs in a number alone."""
    return {"content": f"{WIRE} Berth number {group} stays open."}


def find(detection_pass: Pass, window: Window = ALL_DAYS, **settings: Any) -> list[Candidate]:
    """Return what a pass finds with these settings, in order."""
    return sorted(detection_pass.find(window, detection_pass.config_class(**settings), connection))


def pairs(detection_pass: Pass, window: Window = ALL_DAYS, **settings: Any) -> set[tuple[int, int]]:
    """Return the pairs that it finds."""
    return {(found.left, found.right) for found in find(detection_pass, window, **settings)}


def store_texts(texts: Iterable[str], days: Iterable[int] | None = None) -> None:
    """Store articles with these texts, without headlines, on these days after the first of March."""
    texts = list(texts)
    store_articles(
        [
            IncomingArticle(
                date=datetime.date(2026, 3, 1) + datetime.timedelta(days=day),
                headline="",
                url=f"https://paper.example/{number}",
                content=text,
            )
            for number, (text, day) in enumerate(zip(texts, days or [1] * len(texts), strict=True))
        ]
    )
