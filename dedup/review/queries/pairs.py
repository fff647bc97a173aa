"""The pairs in lists, and the groups that an editor can choose."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, F, Prefetch, Q, QuerySet

from dedup.models import Evidence, Pair, Verdict
from dedup.models.querysets import PairQuerySet

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
