"""The rows of a tab of the queue: pairs with their articles, and clusters with what their articles have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from dedup.models import Cluster, Membership, Pair
from dedup.review.queries.pairs import rows_of_queue
from dedup.review.questions.question import Question, question_of


@dataclass(frozen=True, slots=True)
class Row:
    """A question in a list, with its pair or its cluster."""

    question: Question
    pair: Pair | None = None
    cluster: Cluster | None = None
    newspapers: int = 0

    def as_undecided(self) -> Row:
        """Return the row as if nobody had decided its pair."""
        if self.pair is not None:
            self.pair.state, self.pair.implied = Pair.State.UNDECIDED, False
        return self


def rows_of_tab(rows: Iterable[Any]) -> list[Row]:
    """Return the rows as the list shows them, in the same order."""
    questions = [question_of(row) for row in rows]
    pairs = {each.pk: each for each in rows_of_queue(_of_kind("pair", questions))}
    numbers = list(_of_kind("cluster", questions))
    clusters = Cluster.objects.with_kept().in_bulk(numbers)
    counted = Membership.objects.filter(cluster__in=numbers).order_by().values_list("cluster")
    newspapers = dict(counted.annotate(Count("article__newspaper", distinct=True)))
    return [
        Row(each, pair=pairs.get(each.number))
        if each.kind == "pair"
        else Row(each, cluster=clusters.get(each.number), newspapers=newspapers.get(each.number, 0))
        for each in questions
    ]


def _of_kind(kind: str, questions: Iterable[Question]) -> Iterator[int]:
    return (each.number for each in questions if each.kind == kind)
