"""Queries on pairs, clusters, decisions and evidence."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import MD5, Abs, Cast, Concat

from articles.querysets import texts_of

if TYPE_CHECKING:
    from dedup.models import (  # noqa: F401 - the base classes name some of them in strings
        Cluster,
        Decision,
        DetectionRun,
        Evidence,
        Pair,
    )

# How far a pair is from even odds. The index pair_doubt has it.
DOUBT = Abs(F("duplicate_probability") - 0.5)
# A cluster held together by a less probable pair is shown as weak.
WEAK_PROBABILITY = 0.75


class PairQuerySet(models.QuerySet["Pair"]):
    """Pairs."""

    def proposed(self) -> PairQuerySet:
        """Return the pairs that some pass currently proposes: not all of their evidence is stale."""
        return self.filter(best_score__gt=0)

    def in_queue(self) -> PairQuerySet:
        """Return the proposed pairs that are waiting for an editor's decision."""
        return self.proposed().filter(state="undecided")

    def joining(self) -> PairQuerySet:
        """Return the proposed pairs whose verdict puts both articles in one cluster."""
        return self.proposed().filter(joins=True)

    def drawn(self, lot: str) -> PairQuerySet:
        """Return the same pairs in a random order, the same one every time; another lot gives another order."""
        return self.order_by(MD5(Concat(Value(lot, models.TextField()), Cast("pk", models.TextField()))))

    def among(self, article_ids: Collection[int] | QuerySet[Any]) -> PairQuerySet:
        """Return the pairs with both articles among these."""
        return self.filter(left__in=article_ids, right__in=article_ids)

    def in_group(self, group_id: int) -> PairQuerySet:
        """Return the pairs with both articles in this dense group."""
        return self.filter(left__group_member__group=group_id, right__group_member__group=group_id)

    def touching(self, article_ids: Collection[int]) -> PairQuerySet:
        """Return the pairs with at least one article among these."""
        return self.filter(Q(left__in=article_ids) | Q(right__in=article_ids))

    def with_doubt(self) -> PairQuerySet:
        """Return the same pairs with `doubt`, the distance from even odds: 0 for the most doubtful, 0.5 for certain."""
        return self.annotate(doubt=DOUBT)

    def with_articles(self) -> PairQuerySet:
        """Return the same pairs with their articles as lists show them, without the long texts."""
        return self.select_related("left__newspaper", "right__newspaper").defer(*texts_of("left", "right"))


class ClusterQuerySet(models.QuerySet["Cluster"]):
    """Clusters."""

    def weakly_held(self) -> ClusterQuerySet:
        """Return the proposed clusters with a pair less probable than WEAK_PROBABILITY."""
        return self.filter(state="proposed", lowest_score__lt=WEAK_PROBABILITY)

    def with_kept(self) -> ClusterQuerySet:
        """Return the same clusters with their kept article, without its long texts."""
        return self.select_related("kept__newspaper").defer(*texts_of("kept"))


class DecisionQuerySet(models.QuerySet["Decision"]):
    """Decisions."""

    def in_force(self) -> DecisionQuerySet:
        """Return the decisions that are not undone.

        The undo of each is looked up by its index: a join would read all decisions, however few are asked about.
        """
        undo = self.model.objects.filter(undoes=OuterRef("pk")).order_by().values("pk")
        return self.alias(undo=Subquery(undo[:1])).filter(undo=None)

    def group_confirmations(self, group_ids: Collection[int]) -> DecisionQuerySet:
        """Return the decisions in force that confirmed one of these dense groups, the latest first."""
        found = self.filter(kind="confirm_group", group_number__in=group_ids, undone_by=None)
        return found.select_related("decided_by").order_by("-pk")


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    """Evidence."""

    def found_by(self, run: DetectionRun) -> EvidenceQuerySet:
        """Return the evidence that a run found for the pairs in its scope.

        A pass that reads all articles also finds pairs that are older than the scope; these are left out.
        """
        found = self.filter(run=run)
        if since := run.scope.get("since"):
            found = found.filter(Q(pair__left__date__gte=since) | Q(pair__right__date__gte=since))
        for pass_name, newer_than in (run.scope.get("newer_than") or {}).items():
            newer = Q(pair__left__revision__gt=newer_than) | Q(pair__right__revision__gt=newer_than)
            found = found.filter(~Q(pass_name=pass_name) | newer)
        return found
