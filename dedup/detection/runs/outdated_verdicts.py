"""Finds the pairs to judge: those where something that their verdict rests on has changed since it was given.

Every pair has a digest of what its verdict rests on: the terms of the run, both articles, the rules of editors about
both, and the articles of both newspapers around the month. A pair that no pass proposes any more loses it.
"""

import datetime
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection, transaction

from articles.storage.fingerprints import fingerprint
from articles.storage.ingest import newest_revision
from dedup.detection.judging.judge import JudgedPair, Terms
from dedup.detection.kernels.connected import lowest_of_each
from dedup.detection.kernels.tokens import IntArray
from dedup.detection.runs.recurring_text import MonthsToLearn, months_to_learn, newspaper_months, number_of
from dedup.detection.runs.text_indexes import watermark_of
from dedup.detection.types import Phase
from dedup.models import DenseGroup, Series, Watermark
from dedup.models.base import copied

# Increase this when the comparison of two articles or the wording of its reasons changes: all pairs are judged again.
COMPARISON_VERSION = 9
# Their articles take about 80 MB.
PAIRS_AT_ONCE = 1_000
_READ_AT_ONCE = 10_000
# Enough bits for the ordinal number of any day; an article's number is above them.
_MONTH_BITS = 22

# Uses the index pair_unproposed.
_FORGET_SQL = "UPDATE dedup_pair SET input_digest = NULL WHERE best_score = 0 AND input_digest IS NOT NULL"
# Uses the index evidence_leftover.
_LEFTOVER_SQL = """
SELECT count(*), coalesce(bit_xor(hashint8extended(
    pair.left_id, hashint8extended(pair.right_id, (evidence.details ->> 'leftover')::bigint)
)), 0)
FROM dedup_evidence AS evidence JOIN dedup_pair AS pair ON pair.id = evidence.pair_id
WHERE evidence.details ? 'leftover' AND evidence.pass_name = 'exact' AND NOT evidence.stale
"""
# Without `every`, only pairs without a digest are looked at: the index pair_to_judge has them.
_DIGESTS_SQL = """
WITH ruled_series AS MATERIALIZED (
    SELECT form.article_id, series.id
    FROM dedup_series AS series
    JOIN dedup_headlineform AS form
        ON form.newspaper_id = series.newspaper_id AND md5(form.form) = md5(series.form) AND form.form = series.form
    WHERE series.ruled_at IS NOT NULL
), ruled_group AS MATERIALIZED (
    SELECT member.article_id, member.group_id AS id
    FROM dedup_densegroup AS dense
    JOIN dedup_groupmember AS member ON member.group_id = dense.id
    WHERE dense.ruled_at IS NOT NULL
), proposed AS (
    SELECT pair.id, pair.left_id, pair.right_id, pair.input_digest,
           left_form.newspaper_id AS left_newspaper, right_form.newspaper_id AS right_newspaper,
           left_form.revision AS left_revision, right_form.revision AS right_revision,
           greatest(left_form.date, right_form.date) AS day
    FROM dedup_pair AS pair
    JOIN dedup_headlineform AS left_form ON left_form.article_id = pair.left_id
    JOIN dedup_headlineform AS right_form ON right_form.article_id = pair.right_id
    WHERE pair.best_score > 0 AND (%(every)s OR pair.input_digest IS NULL)
      AND (%(pairs)s::bigint[] IS NULL OR pair.id = ANY (%(pairs)s))
), digested AS (
    SELECT proposed.id, proposed.left_id, proposed.right_id, proposed.input_digest,
           proposed.left_newspaper, proposed.right_newspaper,
           proposed.day - (extract(day FROM proposed.day)::int - 1) AS month,
           coalesce((evidence.details ->> 'leftover')::bigint, 0) AS leftover,
           proposed.left_revision, proposed.right_revision,
           CASE WHEN left_series.id = right_series.id THEN 1 WHEN left_group.id = right_group.id THEN 2 ELSE 0
           END AS ruling
    FROM proposed
    LEFT JOIN dedup_evidence AS evidence
        ON evidence.pair_id = proposed.id AND evidence.pass_name = 'exact' AND NOT evidence.stale
        AND evidence.details ? 'leftover'
    LEFT JOIN ruled_series AS left_series ON left_series.article_id = proposed.left_id
    LEFT JOIN ruled_series AS right_series ON right_series.article_id = proposed.right_id
    LEFT JOIN ruled_group AS left_group ON left_group.article_id = proposed.left_id
    LEFT JOIN ruled_group AS right_group ON right_group.article_id = proposed.right_id
), wanted AS (
    SELECT digested.*,
           hashint8extended(digested.left_revision, hashint8extended(digested.right_revision,
           hashint8extended(digested.leftover, hashint8extended(digested.ruling,
           hashint8extended(coalesce(around_left.digest, 0), hashint8extended(coalesce(around_right.digest, 0),
           %(terms)s)))))) AS digest
    FROM digested
    LEFT JOIN newspaper_month AS around_left
        ON around_left.newspaper_id = digested.left_newspaper AND around_left.month = digested.month
    LEFT JOIN newspaper_month AS around_right
        ON around_right.newspaper_id = digested.right_newspaper AND around_right.month = digested.month
)
"""
_OUTDATED_SQL = (
    "COPY ("
    + _DIGESTS_SQL
    + """
SELECT id, left_id, right_id, leftover, digest, (month - date '0001-01-01' + 1)::bigint, left_newspaper, right_newspaper
FROM wanted WHERE digest IS DISTINCT FROM input_digest
) TO STDOUT (FORMAT binary)
"""
)
_COLUMNS = 8
_NOTE_SQL = (
    _DIGESTS_SQL
    + """
UPDATE dedup_pair AS pair SET input_digest = wanted.digest FROM wanted WHERE wanted.id = pair.id
"""
)


@dataclass(frozen=True, slots=True)
class PairsToJudge:
    """Some pairs, as a task for any process.

    `rows` has, for each pair, its number, its two articles, its leftover (JudgedPair), the digest of what its verdict
    rests on, and its month as an ordinal number. They are in order of month.
    """

    rows: IntArray
    terms: Terms

    def by_month(self) -> Iterator[tuple[datetime.date, list[JudgedPair]]]:
        """Yield the pairs of each month."""
        for month in np.unique(self.rows[:, 5]).tolist():
            rows = self.rows[self.rows[:, 5] == month, :4].tolist()
            yield datetime.date.fromordinal(month), [JudgedPair(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class Outdated:
    """The pairs to judge, in parts; what to learn of newspapers before; and the mark of when all are judged."""

    parts: list[PairsToJudge]
    months: list[MonthsToLearn]
    mark: tuple[int, str]

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return sum(len(part.rows) for part in self.parts)


def outdated_verdicts(terms: Terms) -> Outdated:
    """Return the pairs to judge on these terms. Call it when the headline forms are up to date."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_FORGET_SQL)
        mark = _mark(cursor, terms)
        every = not _is_marked(mark)
        if not every and not _is_any_new(cursor):
            return Outdated([], [], mark)
    with newspaper_months(terms.boilerplate) as cursor:
        copy = copied(_OUTDATED_SQL, ["int8"] * _COLUMNS, _READ_AT_ONCE, **_parameters(terms, every=every))
        batches = (np.array(read, dtype=np.int64) for read in copy)
        rows = _in_order(np.concatenate([np.empty((0, _COLUMNS), dtype=np.int64), *batches]))
        asked = np.unique(np.concatenate([rows[:, [6, 5]], rows[:, [7, 5]]]), axis=0).tolist()
        months = [(newspaper, datetime.date.fromordinal(month)) for newspaper, month in asked]
        # Newspapers with many pairs have many articles: if they came last, one process would work alone.
        pairs = dict(np.stack(np.unique(rows[:, 6:], return_counts=True), axis=1).tolist())
        learning = sorted(
            months_to_learn(cursor, months, terms.boilerplate), key=lambda task: pairs[task.newspaper], reverse=True
        )
    starts = range(0, len(rows), PAIRS_AT_ONCE)
    return Outdated(
        [PairsToJudge(rows[start : start + PAIRS_AT_ONCE, :6].copy(), terms) for start in starts], learning, mark
    )


def is_all_judged(terms: Terms) -> bool:
    """Return whether nothing that verdicts rest on has changed on these terms, as far as marks show it."""
    with connection.cursor() as cursor:
        mark = _mark(cursor, terms)
        return _is_marked(mark) and newest_revision() <= mark[0] and not _is_any_new(cursor)


def note_judged(outdated: Outdated) -> None:
    """Note that all these pairs are judged, so that the next run looks only at new ones if nothing else changes."""
    marked = dict(zip(("revision", "input_digest"), outdated.mark, strict=True))
    Watermark.objects.update_or_create(name=Phase.VERDICTS, defaults=marked)


def note_input_digests(pairs: Collection[int], terms: Terms) -> None:
    """Note what the verdicts of these pairs rest on, if they were given on these terms."""
    with newspaper_months(terms.boilerplate) as cursor:
        cursor.execute(_NOTE_SQL, _parameters(terms, every=True, pairs=pairs))


def _parameters(terms: Terms, *, every: bool, pairs: Collection[int] | None = None) -> dict[str, Any]:
    return {"every": every, "pairs": None if pairs is None else list(pairs), "terms": _number(terms)}


def _number(terms: Terms) -> int:
    return number_of(COMPARISON_VERSION, terms.dumped_model, terms.boilerplate)


def _mark(cursor: Any, terms: Terms) -> tuple[int, str]:
    """Return the revision up to which the forms are up to date, and a fingerprint of all else that verdicts rest on."""
    cursor.execute(_LEFTOVER_SQL)
    series = Series.objects.filter(ruled_at__isnull=False).order_by("newspaper_id", "form")
    groups = DenseGroup.objects.filter(ruled_at__isnull=False).order_by("fingerprint")
    rules = [*series.values_list("newspaper_id", "form")], [*groups.values_list("fingerprint", flat=True)]
    return watermark_of(Phase.SERIES), fingerprint(_number(terms), cursor.fetchone(), rules)


def _is_marked(mark: tuple[int, str]) -> bool:
    return (Phase.VERDICTS, *mark) in Watermark.objects.values_list("name", "revision", "input_digest")


def _is_any_new(cursor: Any) -> bool:
    cursor.execute("SELECT EXISTS (SELECT FROM dedup_pair WHERE input_digest IS NULL AND best_score > 0)")
    return bool(cursor.fetchone()[0])


def _in_order(rows: IntArray) -> IntArray:
    """Return the pairs by month; within it those next to each other that hang together by articles."""
    left, right, month = rows[:, 1], rows[:, 2], rows[:, 5]
    # Pairs of one month alone hang together.
    lowest = lowest_of_each(left << _MONTH_BITS | month, right << _MONTH_BITS | month)
    return rows[np.lexsort((right, left, lowest, month))]
