"""The decisions, with their editors, subjects and undos."""

from __future__ import annotations

from django.db.models import QuerySet

from articles.querysets import LONG_TEXTS
from dedup.models import Decision


def with_actors(decisions: QuerySet[Decision]) -> QuerySet[Decision]:
    """Return these decisions with the editor, the article (without its texts) and the undo of each.

    A list that also names the pair must add it.
    """
    rows = decisions.select_related("decided_by", "article", "undone_by__decided_by", "batch")
    return rows.defer(*(f"article__{name}" for name in LONG_TEXTS))


def every_decision() -> QuerySet[Decision]:
    """Return every decision with what the history shows, the latest first."""
    texts = [f"pair__{side}__{name}" for side in ("left", "right") for name in LONG_TEXTS]
    return with_actors(Decision.objects.all()).select_related("pair__left", "pair__right").defer(*texts).order_by("-id")
