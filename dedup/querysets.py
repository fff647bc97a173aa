"""Questions that are asked of pairs and clusters in more than one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from dedup.models import Cluster, Pair  # noqa: F401 - the base classes name them in strings


class PairQuerySet(models.QuerySet["Pair"]):
    """Pairs."""

    def in_queue(self) -> PairQuerySet:
        """Return the pairs that wait for an editor: undecided, with evidence that still holds."""
        return self.filter(state="undecided", best_score__gt=0)

    def with_articles(self) -> PairQuerySet:
        """Return the same pairs with what a list shows of their articles, and without the long texts."""
        heavy = ("content", "normalized_text", "normalized_title")
        deferred = [f"{side}__{name}" for side in ("left", "right") for name in heavy]
        return self.select_related("left__newspaper", "right__newspaper").defer(*deferred)


class ClusterQuerySet(models.QuerySet["Cluster"]):
    """Clusters."""

    def with_kept(self) -> ClusterQuerySet:
        """Return the same clusters with their kept article, without its long texts."""
        return self.select_related("kept__newspaper").defer(
            "kept__content", "kept__normalized_text", "kept__normalized_title"
        )
