"""Filters that few rows pass: these are looked up first, because a walk along the list would read all of it.

PostgreSQL cannot know how a filter and an order go together. Where many rows pass, the walk in the order of the list
soon fills a page; where few do, they are found by an index and sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, BooleanField, F, Func, Q, QuerySet, Value

from dedup.models import Pair
from dedup.querysets import PairQuerySet

# With a million articles, so many are looked up as fast as a walk finds a hundred rows.
FEW = 5_000


class IsAnyOf(Func):
    """Whether a number is in an array. PostgreSQL looks those of the array up by an index."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY ("
    output_field = BooleanField()


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The pairs to which a filter limits questions; `few`: they are looked up, because not many pass."""

    pairs: PairQuerySet
    few: bool


def few_of(rows: QuerySet[Any], field: str = "pk", most: int = FEW) -> Value | None:
    """Return the numbers in this field as an array; None if there are more than `most` rows."""
    found = list(rows.order_by().values_list(field, flat=True)[: most + 1])
    return None if len(found) > most else array_of(found)


def array_of(numbers: Iterable[int]) -> Value:
    """Return the numbers as IsAnyOf takes them."""
    return Value(sorted(set(numbers)), output_field=ArrayField(BigIntegerField()))


def questions_on(pairs: PairQuerySet, *, cards: bool) -> Q:
    """Return the condition for questions on these pairs, which are few, or with `cards` on a cluster with one."""
    numbers = array_of(pairs.order_by().values_list("pk", flat=True))
    on_pairs = Q(IsAnyOf("pair", numbers))
    if not cards:
        return on_pairs
    inside = Pair.objects.filter(IsAnyOf("pk", numbers), left__membership__cluster=F("right__membership__cluster"))
    clusters = inside.order_by().values_list("left__membership__cluster", flat=True)
    return on_pairs | Q(IsAnyOf("cluster", array_of(clusters)))
