"""Compares more pairs of dense groups, where clusters need them.

A pass proposes only the closest pairs of a dense group. Where one of them is wrongly judged a duplicate, the pairs that
would have spoken against it were not proposed. So before two parts of a group join, some more pairs between them are
compared, until every part of a cluster has met the others.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.db import connection, transaction

from articles.models import Article
from dedup.clustering.components import Apart, Edge, cluster
from dedup.clustering.constraints import constraints_in_force
from dedup.clustering.rebuild import RANKS
from dedup.judging.judge import JudgedPair, JudgedRow
from dedup.judging.months import month_of
from dedup.models import DetectionRun, Evidence, GroupMember, Pair
from dedup.runs.evidence import store_candidates, update_best_scores
from dedup.runs.judging import judged_rows, store_rows
from dedup.runs.outdated_verdicts import note_rests_on
from dedup.runs.terms import RunTerms
from dedup.types import DENSE_GROUPS, Candidate

# After so many rounds, what is not compared stays so: each round asks for few pairs of few articles.
_MOST_ROUNDS = 5

# The members are new rows, which PostgreSQL would take for a handful.
_ANALYZE_SQL = "ANALYZE dedup_groupmember, dedup_pair, dedup_evidence"
_JUDGED_SQL = """
SELECT pair.id, pair.left_id, pair.right_id, pair.verdict, pair.probability, pair.duplicate_probability,
       pair.reasons::text, pair.joins, pair.left_matched, pair.right_matched,
       bool_or(evidence.pass_name <> %(checks)s)
FROM dedup_groupmember AS left_member
JOIN dedup_pair AS pair ON pair.left_id = left_member.article_id
JOIN dedup_groupmember AS right_member
    ON right_member.article_id = pair.right_id AND right_member.group_id = left_member.group_id
JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id AND NOT evidence.stale
WHERE pair.verdict <> '' AND pair.left_matched IS NOT NULL
GROUP BY pair.id
ORDER BY pair.left_id, pair.right_id
"""

Ends = tuple[int, int]


class _Known(NamedTuple):
    """The verdicts on pairs of dense groups: of those that passes propose, and of those compared by an earlier run."""

    proposed: dict[Ends, JudgedRow]
    checked: dict[Ends, JudgedRow]


def check_groups(run: DetectionRun, terms: RunTerms) -> int:
    """Compare the pairs that clusters of dense groups need, and store them; return how many there are.

    Call it when all proposed pairs are judged. What it stores depends on them alone, not on what earlier runs compared.
    """
    groups = dict(GroupMember.objects.values_list("article", "group"))
    known = _known() if groups else _Known({}, {})
    checked = _checked(groups, known, _Judge(terms))
    stale = Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False)
    if checked or stale.exists():
        with transaction.atomic():
            stale.exclude(pair__in=_store(run, checked, terms)).update(stale=True)
            update_best_scores()
    return len(checked)


def _known() -> _Known:
    known = _Known({}, {})
    with connection.cursor() as cursor:
        cursor.execute(_ANALYZE_SQL)
        cursor.execute(_JUDGED_SQL, {"checks": DENSE_GROUPS})
        for number, left, right, *columns, proposed in cursor:
            (known.proposed if proposed else known.checked)[left, right] = JudgedRow(number, *columns)
    return known


def _checked(groups: Mapping[int, int], known: _Known, judge: _Judge) -> dict[Ends, JudgedRow]:
    """Return the verdicts on the pairs that are needed apart from those proposed."""
    checked: dict[Ends, JudgedRow] = {}
    must, cannot, _ = constraints_in_force(groups)
    for _ in range(_MOST_ROUNDS if known.proposed else 0):
        rows = known.proposed | checked
        edges = [_edge(ends, row) for ends, row in rows.items() if row.joins]
        apart = [Apart(*ends, row.duplicate_probability) for ends, row in rows.items() if not row.joins]
        asked = set(cluster(edges, must, cannot, apart, groups).unchecked) - rows.keys()
        if not asked:
            break
        checked |= {ends: known.checked[ends] for ends in asked & known.checked.keys()}
        checked |= judge.rows(sorted(asked - known.checked.keys()))
    return checked


def _edge(ends: Ends, row: JudgedRow) -> Edge:
    return Edge(*ends, row.probability, RANKS[row.verdict], row.left_matched, row.right_matched)


class _Judge:
    """Judges pairs of any months."""

    def __init__(self, terms: RunTerms) -> None:
        self._terms = terms

    def rows(self, asked: Iterable[Ends]) -> dict[Ends, JudgedRow]:
        """Return the verdicts on these pairs, which have no numbers yet."""
        pairs = list(asked)
        days = dict(Article.objects.filter(pk__in={end for ends in pairs for end in ends}).values_list("pk", "date"))
        months: defaultdict[datetime.date, list[Ends]] = defaultdict(list)
        for left, right in pairs:
            months[month_of(max(days[left], days[right]))].append((left, right))
        found: dict[Ends, JudgedRow] = {}
        for month, of_month in sorted(months.items()):
            judged = judged_rows(month, [JudgedPair(0, *ends, leftover=0) for ends in of_month], self._terms)
            found |= dict(zip(of_month, judged, strict=True))
        return found


def _store(run: DetectionRun, checked: Mapping[Ends, JudgedRow], terms: RunTerms) -> list[int]:
    """Store these pairs; return their numbers."""
    store_candidates(run.pk, (Candidate(*ends, DENSE_GROUPS, _score(row)) for ends, row in checked.items()))
    lefts = {left for left, _ in checked}
    numbers = {
        (left, right): number
        for number, left, right in Pair.objects.filter(left__in=lefts).values_list("pk", "left", "right").iterator()
    }
    store_rows((row._replace(id=numbers[ends]) for ends, row in checked.items()), {})
    stored = [numbers[ends] for ends in checked]
    if stored:
        note_rests_on(stored, terms)
    return stored


def _score(row: JudgedRow) -> float:
    """Return how much of the shorter article matches; more than nothing, which would mean that no pass proposes it."""
    return max(row.left_matched, row.right_matched, 0.001)
