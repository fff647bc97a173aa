"""Filters that few rows pass: these are looked up first, because a walk along the list would read all of it.

PostgreSQL cannot know how a filter and an order go together. Where many rows pass, the walk in the order of the list
soon fills a page; where few do, they are found by an index and sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, LiteralString

from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import BigIntegerField, BooleanField, Func, Q, QuerySet, Value
from django.db.models.functions import Cast

from dedup.models.querysets import PairQuerySet

# With a million articles, so many are looked up as fast as a walk finds a hundred rows.
FEW = 5_000


class IsAnyOf(Func):
    """Whether a number is in an array. PostgreSQL looks those of the array up by an index."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY ("
    output_field = BooleanField()


class Numbers(Cast):
    """Numbers as an array, for IsAnyOf.

    `written` is the array as text: PostgreSQL reads it much faster than the driver can write the numbers one by one.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self.written = f"{{{','.join(map(str, numbers))}}}"
        super().__init__(Value(self.written), ArrayField(BigIntegerField()))


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The pairs to which a filter limits questions, and their numbers if they were looked up: not many pass."""

    pairs: PairQuerySet
    few: Numbers | None = None


def few_of(rows: QuerySet[Any], field: str = "pk", most: int = FEW) -> Numbers | None:
    """Return the numbers in this field; None if there are more than `most` rows."""
    found = list(rows.order_by().values_list(field, flat=True)[: most + 1])
    return None if len(found) > most else Numbers(found)


# From pairs to the memberships of their articles, Django would read the articles too.
_CLUSTERS_SQL: LiteralString = """
SELECT DISTINCT one.cluster_id
FROM dedup_pair AS pair
JOIN dedup_membership AS one ON one.article_id = pair.left_id
JOIN dedup_membership AS other ON other.article_id = pair.right_id AND other.cluster_id = one.cluster_id
WHERE pair.id = ANY (%s::bigint[])
"""


def questions_on(numbers: Numbers, *, cards: bool) -> Q:
    """Return the condition for questions on these few pairs, or with `cards` on a cluster with one."""
    on_pairs = Q(IsAnyOf("pair", numbers))
    if not cards:
        return on_pairs
    with connection.cursor() as cursor:
        cursor.execute(_CLUSTERS_SQL, [numbers.written])
        clusters = Numbers(number for (number,) in cursor)
    return on_pairs | Q(IsAnyOf("cluster", clusters))
