"""Compares more pairs of dense groups, where clusters need them (clustering/group_pairs.py), and stores them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import connection, transaction

from articles.models import Article
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.clustering.group_pairs import IdPair, by_month, compared_in_groups
from dedup.detection.judging.judge import JudgedPair, JudgedRow
from dedup.detection.runs.evidence import store_candidates, update_best_scores
from dedup.detection.runs.judging import judged_rows, store_rows
from dedup.detection.runs.outdated_verdicts import note_input_digests
from dedup.detection.runs.terms import RunTerms
from dedup.detection.types import DENSE_GROUPS, Candidate
from dedup.models import DetectionRun, Evidence, GroupMember, Pair

# The members are new rows, of which PostgreSQL would expect only a few.
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


class _Known(NamedTuple):
    """The verdicts on pairs of dense groups: of those that passes propose, and of those compared by an earlier run."""

    proposed: dict[IdPair, JudgedRow]
    checked: dict[IdPair, JudgedRow]


def check_groups(run: DetectionRun, terms: RunTerms) -> int:
    """Compare the pairs that clusters of dense groups need, and store them; return how many there are.

    Call it when all proposed pairs are judged. What it stores depends on them alone, not on what earlier runs compared.
    """
    groups = dict(GroupMember.objects.values_list("article", "group"))
    known = _known() if groups else _Known({}, {})
    must, cannot, _ = constraints_in_force(groups)
    checked = compared_in_groups(known.proposed, groups, must, cannot, _Judge(terms, known.checked).rows)
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


class _Judge:
    """Returns the verdicts on pairs of any months: those known, and of the others those that it makes."""

    def __init__(self, terms: RunTerms, known: Mapping[IdPair, JudgedRow]) -> None:
        self._terms, self._known = terms, known

    def rows(self, asked: Sequence[IdPair]) -> dict[IdPair, JudgedRow]:
        """Return the verdicts on these pairs, by month; those that are new have no numbers yet."""
        days = dict(Article.objects.filter(pk__in={end for ends in asked for end in ends}).values_list("pk", "date"))
        found: dict[IdPair, JudgedRow] = {}
        for month, pairs in by_month(asked, days):
            unknown = [ends for ends in pairs if ends not in self._known]
            made = self._made(month, unknown) if unknown else {}
            found |= {ends: made.get(ends) or self._known[ends] for ends in pairs}
        return found

    def _made(self, month: datetime.date, pairs: Sequence[IdPair]) -> dict[IdPair, JudgedRow]:
        judged = judged_rows(month, [JudgedPair(0, *ends, leftover=0) for ends in pairs], self._terms)
        return dict(zip(pairs, judged, strict=True))


def _store(run: DetectionRun, checked: Mapping[IdPair, JudgedRow], terms: RunTerms) -> list[int]:
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
        note_input_digests(stored, terms)
    return stored


def _score(row: JudgedRow) -> float:
    """Return how much of the shorter article matches; more than nothing, which would mean that no pass proposes it."""
    return max(row.left_matched, row.right_matched, 0.001)
