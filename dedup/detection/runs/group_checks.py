"""Compares more pairs of dense groups, where clusters need them (clustering/group_pairs.py), and stores them."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from django.db import connection, transaction

from articles.models import Article
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.clustering.group_pairs import IdPair, compared_in_groups
from dedup.detection.judging.judge import JudgedPair, JudgedRow, Terms
from dedup.detection.runs.evidence import numbers_of, store_candidates, update_best_scores
from dedup.detection.runs.judging import judged_rows, store_rows
from dedup.detection.runs.outdated_verdicts import note_input_digests
from dedup.detection.types import DENSE_GROUPS, Candidate
from dedup.models import DetectionRun, Evidence, GroupMember

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


def check_groups(run: DetectionRun, terms: Terms) -> int:
    """Compare the pairs that clusters of dense groups need, and store them; return how many there are.

    Call it when all proposed pairs are judged. What it stores depends on them alone, not on what earlier runs compared.
    """
    groups = dict(GroupMember.objects.values_list("article", "group"))
    proposed, known = _known() if groups else ({}, {})
    must, cannot, _ = constraints_in_force(groups)
    checked = compared_in_groups(proposed, groups, must, cannot, _days_of, partial(_judged, terms, known))
    stale = Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False)
    if checked or stale.exists():
        with transaction.atomic():
            stale.exclude(pair__in=_store(run, checked, terms)).update(stale=True)
            update_best_scores()
    return len(checked)


def _known() -> tuple[dict[IdPair, JudgedRow], dict[IdPair, JudgedRow]]:
    """Return the verdicts on the pairs of dense groups that passes propose, and on those compared by an earlier run."""
    proposed: dict[IdPair, JudgedRow] = {}
    checked: dict[IdPair, JudgedRow] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ANALYZE_SQL)
        cursor.execute(_JUDGED_SQL, {"checks": DENSE_GROUPS})
        for number, left, right, *columns, is_proposed in cursor:
            (proposed if is_proposed else checked)[left, right] = JudgedRow(number, *columns)
    return proposed, checked


def _days_of(pairs: Collection[IdPair]) -> dict[int, datetime.date]:
    return dict(Article.objects.filter(pk__in={end for ends in pairs for end in ends}).values_list("pk", "date"))


def _judged(
    terms: Terms, known: Mapping[IdPair, JudgedRow], month: datetime.date, pairs: Sequence[IdPair]
) -> Iterator[JudgedRow]:
    """Yield the verdicts on pairs of a month: those known, and the others as they are made, without numbers."""
    unknown = [JudgedPair(0, *ends, leftover=0) for ends in pairs if ends not in known]
    made = judged_rows(month, unknown, terms) if unknown else iter(())
    for ends in pairs:
        yield known[ends] if ends in known else next(made)


def _store(run: DetectionRun, checked: Mapping[IdPair, JudgedRow], terms: Terms) -> list[int]:
    """Store these pairs; return their numbers."""
    pairs = (group_check(*ends, row.left_matched, row.right_matched) for ends, row in checked.items())
    store_candidates(run.pk, pairs)
    numbers = numbers_of(checked)
    store_rows((row._replace(id=numbers[ends]) for ends, row in checked.items()), {})
    stored = [numbers[ends] for ends in checked]
    if stored:
        note_input_digests(stored, terms)
    return stored


def group_check(left: int, right: int, left_matched: float, right_matched: float) -> Candidate:
    """Return a pair that was compared for its group; its score is how much of the shorter article matches."""
    # More than nothing, which would mean that no pass proposes the pair.
    return Candidate(left, right, DENSE_GROUPS, max(left_matched, right_matched, 0.001))
