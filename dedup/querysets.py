"""Questions that are asked of pairs and clusters in more than one place."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Abs

from articles.querysets import LONG_TEXTS
from dedup.types import VerdictKind

if TYPE_CHECKING:
    from dedup.models import (  # noqa: F401 - the base classes name some of them in strings
        Cluster,
        DetectionRun,
        Evidence,
        Pair,
    )

# A cluster that a less probable pair holds together is shown as such.
WEAK_PROBABILITY = 0.75


class PairQuerySet(models.QuerySet["Pair"]):
    """Pairs."""

    def proposed(self) -> PairQuerySet:
        """Return the pairs that some pass proposes: not all of their evidence is stale."""
        return self.filter(best_score__gt=0)

    def in_queue(self) -> PairQuerySet:
        """Return the proposed pairs that wait for an editor."""
        return self.proposed().filter(state="undecided")

    def joining(self) -> PairQuerySet:
        """Return the proposed pairs whose verdict puts the two articles into one cluster."""
        return self.proposed().filter(joins=True)

    def no_copies(self) -> PairQuerySet:
        """Return the pairs that were compared in full and found to be no copies of each other."""
        return self.filter(verdict__in=[VerdictKind.TEMPLATE.value, VerdictKind.SIMILAR.value])

    def among(self, article_ids: Collection[int] | QuerySet[Any]) -> PairQuerySet:
        """Return the pairs that have both articles among these."""
        return self.filter(left__in=article_ids, right__in=article_ids)

    def touching(self, article_ids: Collection[int]) -> PairQuerySet:
        """Return the pairs that have at least one article among these."""
        return self.filter(Q(left__in=article_ids) | Q(right__in=article_ids))

    def with_doubt(self) -> PairQuerySet:
        """Return the same pairs with their `doubt`: how close they are to even odds, 0 at even odds, 0.5 if clear."""
        return self.annotate(doubt=Abs(F("duplicate_probability") - 0.5))

    def with_articles(self) -> PairQuerySet:
        """Return the same pairs with what a list shows of their articles, and without the long texts."""
        deferred = [f"{side}__{name}" for side in ("left", "right") for name in LONG_TEXTS]
        return self.select_related("left__newspaper", "right__newspaper").defer(*deferred)


class ClusterQuerySet(models.QuerySet["Cluster"]):
    """Clusters."""

    def weakly_held(self) -> ClusterQuerySet:
        """Return the proposed clusters of which one pair is less probable than WEAK_PROBABILITY."""
        return self.filter(state="proposed", lowest_score__lt=WEAK_PROBABILITY)

    def with_kept(self) -> ClusterQuerySet:
        """Return the same clusters with their kept article, without its long texts."""
        return self.select_related("kept__newspaper").defer(*(f"kept__{name}" for name in LONG_TEXTS))


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    """Evidence."""

    def ending_on(self, day: datetime.date) -> EvidenceQuerySet:
        """Return the evidence of the pairs whose later article is of this day."""
        left_later = Q(pair__left__date=day, pair__right__date__lte=day)
        return self.filter(left_later | Q(pair__right__date=day, pair__left__date__lte=day))

    def found_by(self, run: DetectionRun) -> EvidenceQuerySet:
        """Return the evidence that a run found of the pairs that it was about.

        A pass that looks at all articles finds again what is older than that; it is no answer to what was asked.
        """
        found = self.filter(run=run)
        if since := run.scope.get("since"):
            found = found.filter(Q(pair__left__date__gte=since) | Q(pair__right__date__gte=since))
        for pass_name, newer_than in (run.scope.get("newer_than") or {}).items():
            newer = Q(pair__left__revision__gt=newer_than) | Q(pair__right__revision__gt=newer_than)
            found = found.filter(~Q(pass_name=pass_name) | newer)
        return found
