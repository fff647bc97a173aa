"""Which pairs of dense groups are compared because clusters need them. Pure.

A pass proposes only the closest pairs of a dense group. Where one of them is wrongly judged a duplicate, the pairs that
would have spoken against it were not proposed. So before two parts of a group join, some more pairs between them are
compared, until every part of a cluster has met the others.
"""

import datetime
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from dedup.detection.clustering.components import Apart, Edge, Rank, cluster
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.judging.months import month_of
from dedup.detection.types import VerdictKind

# What joins the articles of a pair with this verdict.
RANKS = {VerdictKind.DUPLICATE.value: Rank.DUPLICATE, VerdictKind.VERSION.value: Rank.VERSION}
# After so many rounds, what is not compared stays so: each round asks for few pairs of few articles.
_MOST_ROUNDS = 5

IdPair = tuple[int, int]


def compared_in_groups(
    proposed: Mapping[IdPair, JudgedRow],
    groups: Mapping[int, int],
    must: Sequence[IdPair],
    cannot: Sequence[IdPair],
    days_of: Callable[[Collection[IdPair]], Mapping[int, datetime.date]],
    judge: Callable[[datetime.date, Sequence[IdPair]], Iterable[JudgedRow]],
) -> dict[IdPair, JudgedRow]:
    """Return the verdicts on the pairs that are needed apart from those proposed.

    `groups` has the group of each article in one; `proposed` is ordered by its keys. `days_of` returns the days of the
    articles of pairs, and `judge` the verdicts on pairs of a month, in their order. What is returned for some groups
    does not depend on others, unless links that must be kept connect them.
    """
    checked: dict[IdPair, JudgedRow] = {}
    for _ in range(_MOST_ROUNDS if proposed else 0):
        rows = {**proposed, **checked}
        edges = [
            Edge(*ends, row.probability, RANKS[row.verdict], row.left_matched, row.right_matched)
            for ends, row in rows.items()
            if row.joins
        ]
        apart = [Apart(*ends, row.duplicate_probability) for ends, row in rows.items() if not row.joins]
        asked = set(cluster(edges, must, cannot, apart, groups).unchecked) - rows.keys()
        if not asked:
            break
        for month, pairs in by_month(sorted(asked), days_of(asked)):
            checked |= zip(pairs, judge(month, pairs), strict=True)
    return checked


def by_month(pairs: Iterable[IdPair], days: Mapping[int, datetime.date]) -> list[tuple[datetime.date, list[IdPair]]]:
    """Return pairs by the month that they belong to, in order, given the day of each article."""
    months: defaultdict[datetime.date, list[IdPair]] = defaultdict(list)
    for left, right in pairs:
        months[month_of(max(days[left], days[right]))].append((left, right))
    return sorted(months.items())
