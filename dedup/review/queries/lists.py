"""The pairs in lists, the groups that an editor can choose, and filters that few rows pass.

Rows that pass such a filter are looked up first, because a walk along the list would read all of it. PostgreSQL cannot
know how a filter and an order go together: where many rows pass, the walk in the order of the list soon fills a page;
where few do, they are found by an index and sorted.
"""

from collections.abc import Iterable
from typing import Any, LiteralString, NamedTuple

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, BooleanField, Count, F, Func, Prefetch, Q, QuerySet, Value
from django.db.models.functions import Cast

from dedup.models import Evidence, Pair, Verdict
from dedup.models.base import read_rows
from dedup.models.pairs import PairQuerySet

# From this probability of being duplicates, a pair is reviewed whatever its verdict is.
LEAST_PROBABILITY = 0.1
MAY_BE_DUPLICATES = Q(verdict__in=[Verdict.DUPLICATE, Verdict.VERSION]) | Q(
    duplicate_probability__gte=LEAST_PROBABILITY
)
ANY = "any"
UNJUDGED = "unjudged"
# In the order of the form; the first is the default and has no name in the URL.
VERDICTS = {
    "": ("may be duplicates", MAY_BE_DUPLICATES),
    **{kind.value: (kind.label, Q(verdict=kind)) for kind in Verdict},
    UNJUDGED: ("not yet judged", Q(verdict="")),
    ANY: ("any", Q()),
}
_MOST_PROBABLE_FIRST = (F("duplicate_probability").desc(nulls_last=True), "-best_score", "id")


def rows_of_queue(numbers: Iterable[int]) -> list[Pair]:
    """Return the pairs with these numbers, in the same order, with their articles and their `current_evidence`.

    A separate query, because joins that only the rows need would slow down counting the queue.
    """
    current = Evidence.objects.filter(stale=False).order_by("-score", "id")
    full = Pair.objects.with_articles().prefetch_related(Prefetch("evidence", current, to_attr="current_evidence"))
    wanted = list(numbers)
    rows = full.in_bulk(wanted)
    return [rows[number] for number in wanted]


def most_probable(pairs: PairQuerySet, number: int) -> QuerySet[Pair]:
    """Return the `number` most probable duplicates of these pairs, with their articles and evidence."""
    return pairs.with_articles().prefetch_related("evidence").order_by(*_MOST_PROBABLE_FIRST)[:number]


def count_by_verdict(pairs: PairQuerySet) -> dict[str, int]:
    """Return the number of pairs of each verdict that occurs, by its name in VERDICTS."""
    counts = pairs.order_by().values_list("verdict").annotate(Count("pk"))
    return {verdict or UNJUDGED: number for verdict, number in counts}


# With a million articles, so many are looked up as fast as a walk finds a hundred rows.
MOST_IDS = 5_000


class IsAnyOf(Func):
    """Whether a number is in an array. PostgreSQL looks those of the array up by an index."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY ("
    output_field = BooleanField()


class IdArray(Cast):
    """Numbers as an array, for IsAnyOf.

    `written` is the array as text: PostgreSQL reads it much faster than the driver can write the numbers one by one.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self.written = f"{{{','.join(map(str, numbers))}}}"
        super().__init__(Value(self.written), ArrayField(BigIntegerField()))


class PairSelection(NamedTuple):
    """The pairs to which a filter limits questions, and their numbers if they were looked up: not many pass."""

    pairs: PairQuerySet
    ids: IdArray | None = None


def ids_of(rows: QuerySet[Any], field: str = "pk", most: int = MOST_IDS) -> IdArray | None:
    """Return the numbers in this field; None if there are more than `most` rows."""
    found = list(rows.order_by().values_list(field, flat=True)[: most + 1])
    return None if len(found) > most else IdArray(found)


# From pairs to the memberships of their articles, Django would read the articles too.
_CLUSTERS_SQL: LiteralString = """
SELECT DISTINCT one.cluster_id
FROM dedup_pair AS pair
JOIN dedup_membership AS one ON one.article_id = pair.left_id
JOIN dedup_membership AS other ON other.article_id = pair.right_id AND other.cluster_id = one.cluster_id
WHERE pair.id = ANY (%(numbers)s::bigint[])
"""


def questions_on(numbers: IdArray, *, cards: bool) -> Q:
    """Return the condition for questions on these few pairs, or with `cards` on a cluster with one."""
    on_pairs = Q(IsAnyOf("pair", numbers))
    if not cards:
        return on_pairs
    clusters = IdArray(number for (number,) in read_rows(_CLUSTERS_SQL, numbers=numbers.written))
    return on_pairs | Q(IsAnyOf("cluster", clusters))
