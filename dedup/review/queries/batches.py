"""Batches as pages show them: the list, and what one would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from dedup.answers import Answer
from dedup.detection.clustering.consistency import Joins, joins
from dedup.models import Batch, BatchItem, Membership, Pair
from dedup.review.batches import Outcome, outcome_of

# Questions left out because they contradict decisions, which the page lists.
CONTRADICTIONS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Preview:
    """What deciding a batch would change now."""

    outcome: Outcome
    pairs: int
    clusters: int  # proposed clusters that it confirms as a whole
    joins: Joins | None  # of a batch that confirms
    split: int  # clusters that lose an article, of a batch that parts
    contradicting: Sequence[tuple[BatchItem, Pair | None]]


def listed_batches() -> QuerySet[Batch]:
    """Return all batches with their editors and decisions, the latest first."""
    return Batch.objects.select_related("made_by", "decision__undone_by__decided_by", "decision__decided_by")


def open_batch(user_id: int) -> Batch | None:
    """Return the latest batch that this editor has begun and not decided."""
    return Batch.objects.filter(made_by=user_id, decision=None).first()


def preview_of(batch: Batch) -> Preview:
    """Return what deciding this batch would change now."""
    outcome = outcome_of(batch)
    pairs = [each for each in outcome.kept if each.pair_id]
    shown = outcome.contradicting[:CONTRADICTIONS_SHOWN]
    found = Pair.objects.with_articles().in_bulk([each.pair_id for each in shown if each.pair_id])
    confirms = batch.kind == Answer.CONFIRM
    cluster_of = _clusters_of(outcome.kept)
    return Preview(
        outcome=outcome,
        pairs=len(pairs),
        clusters=len(outcome.kept) - len(pairs),
        joins=joins((tuple(each.articles) for each in outcome.kept), cluster_of) if confirms else None,
        split=0 if confirms else len(_shared(pairs, cluster_of)),
        contradicting=[(each, found.get(each.pair_id or 0)) for each in shown],
    )


def _clusters_of(items: Sequence[BatchItem]) -> dict[int, int]:
    """Return the cluster of each article of these questions that is in one."""
    articles = {each for item in items for each in item.articles}
    found = Membership.objects.filter(article__in=articles)
    return dict(found.order_by().values_list("article", "cluster"))


def _shared(pairs: Sequence[BatchItem], cluster_of: dict[int, int]) -> set[int]:
    """Return the clusters that hold both articles of a pair."""
    ends = ([cluster_of.get(article) for article in item.articles] for item in pairs)
    return {left for left, right in ends if left is not None and left == right}
