"""Writes pairs and their evidence, one block at a time: COPY into a temporary table, then an upsert."""

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db import connection, transaction

from articles.storage.ingest import newest_revision
from dedup.detection.article_sql import article_sql
from dedup.detection.clustering.constraints import lock_review, with_pair_state
from dedup.detection.clustering.rebuild import NOTE_PROPOSED_SQL
from dedup.detection.passes.containment import ContainmentPass
from dedup.detection.runs.phases import WrittenBlock
from dedup.detection.runs.text_indexes import watermark_of
from dedup.detection.types import Candidate, Tally, Window
from dedup.models import DetectionRun, KeptPairs, RunBlock, ShingleCounts, Watermark
from dedup.models.base import read_rows

_COPIED_AT_ONCE = 10_000

_CREATE_SQL = """
CREATE TEMPORARY TABLE found_candidate (
    left_id bigint, right_id bigint, pass_name text, score double precision, details jsonb
) ON COMMIT DROP
"""

_COPY_SQL = "COPY found_candidate (left_id, right_id, pass_name, score, details) FROM STDIN"

# Editors may have decided about two articles before a pass proposes them as a pair: by deciding about their cluster,
# or about pairs that imply it.
_INSERT_PAIRS_SQL = with_pair_state(
    article_sql(
        """
INSERT INTO dedup_pair (left_id, right_id, state, implied, best_score, days_apart, same_newspaper, found_at)
SELECT found.left_id, found.right_id,
       {{state}}, {{implied}},
       found.score,
       abs(left_article.date - right_article.date),
       left_article.newspaper_id = right_article.newspaper_id,
       now()
FROM found_candidate AS found
{pair.both_articles}
{{state_joins}}
ORDER BY found.left_id, found.right_id
ON CONFLICT (left_id, right_id) DO NOTHING
""",
        pair="found",
    ),
    of="found",
)

_UPSERT_EVIDENCE_SQL = """
INSERT INTO dedup_evidence (pair_id, pass_name, score, details, run_id, stale)
SELECT pair.id, found.pass_name, found.score, found.details, %(run_id)s, false
FROM found_candidate AS found
JOIN dedup_pair AS pair ON pair.left_id = found.left_id AND pair.right_id = found.right_id
ORDER BY pair.id
ON CONFLICT (pair_id, pass_name) DO UPDATE
SET score = excluded.score, details = excluded.details, run_id = excluded.run_id,
    stale = false
"""

# Raises the scores of existing pairs. They are lowered at the end of the run, when it is known which evidence is stale.
_RAISE_SCORES_SQL = """
UPDATE dedup_pair AS pair
SET best_score = found.score
FROM found_candidate AS found
WHERE pair.left_id = found.left_id AND pair.right_id = found.right_id AND pair.best_score < found.score
"""

# Evidence of this pass for pairs that the run covered and did not find again, if its settings would have found them:
# those of earlier runs with the same settings, and those inside the bounds if the settings are comparable. Where the
# profile hides the rest, all.
_MARK_STALE_SQL = article_sql(
    """
UPDATE dedup_evidence AS evidence
SET stale = true
FROM dedup_pair AS pair
{pair.both_articles}
LEFT JOIN unnest(
    %(firsts)s::bigint[], %(seconds)s::bigint[],
    %(lowest_scores)s::float8[], %(most_days)s::float8[], %(hiding)s::boolean[]
) AS own (first, second, lowest_score, most_days, hides)
    ON own.first = least(left_article.newspaper_id, right_article.newspaper_id)
    AND own.second = greatest(left_article.newspaper_id, right_article.newspaper_id)
WHERE pair.id = evidence.pair_id
  AND NOT evidence.stale
  AND evidence.run_id <> %(run_id)s
  AND evidence.pass_name = %(pass_name)s
  -- Where only new articles were compared, their pairs and those of dense groups are looked up one by one.
  AND (%(newer_than)s::bigint IS NULL OR pair.id = ANY (ARRAY(
      SELECT near.id FROM {articles} AS fresh JOIN dedup_pair AS near ON near.left_id = fresh.id
      WHERE fresh.revision > %(newer_than)s
      UNION
      SELECT near.id FROM {articles} AS fresh JOIN dedup_pair AS near ON near.right_id = fresh.id
      WHERE fresh.revision > %(newer_than)s
      UNION
      SELECT near.id FROM dedup_crowdedarticle AS hub JOIN dedup_pair AS near ON near.left_id = hub.article_id
      WHERE hub.run_id = %(run_id)s AND hub.pass_name = %(pass_name)s
      UNION
      SELECT id FROM dedup_pair WHERE left_id = ANY (%(touched)s::bigint[])
      UNION
      SELECT id FROM dedup_pair WHERE right_id = ANY (%(touched)s::bigint[])
  )))
  AND (
      coalesce(own.hides, %(hides)s)
      OR evidence.run_id = ANY (%(same_runs)s)
      OR (
          evidence.run_id = ANY (%(comparable_runs)s)
          AND evidence.score >= coalesce(own.lowest_score, %(lowest_score)s)
          AND pair.days_apart <= coalesce(own.most_days, %(most_days_apart)s)
          -- In a dense group, other settings may keep other pairs.
          AND 2 > (
              SELECT count(*) FROM dedup_crowdedarticle AS hub
              WHERE hub.pass_name = evidence.pass_name AND hub.run_id = %(run_id)s
                AND hub.article_id IN (pair.left_id, pair.right_id)
          )
      )
  )
  AND (%(since)s::date IS NULL OR {pair.later_day} >= %(since)s)
  AND (%(until)s::date IS NULL OR {pair.later_day} <= %(until)s)
  AND {left_article.in_newspapers} AND {right_article.in_newspapers}
  AND (%(up_to)s::bigint IS NULL OR greatest(left_article.revision, right_article.revision) <= %(up_to)s)
  AND (
      %(newer_than)s::bigint IS NULL
      OR greatest(left_article.revision, right_article.revision) > %(newer_than)s
      OR pair.left_id = ANY (%(touched)s::bigint[]) OR pair.right_id = ANY (%(touched)s::bigint[])
      -- New articles decide which pairs a dense group keeps: those of its other articles are found again, or stale.
      OR (
          2 = (
              SELECT count(*) FROM dedup_crowdedarticle AS hub
              WHERE hub.pass_name = evidence.pass_name AND hub.run_id = %(run_id)s
                AND hub.article_id IN (pair.left_id, pair.right_id)
          )
          AND EXISTS (
              SELECT FROM dedup_runblock AS block
              WHERE block.run_id = %(run_id)s AND block.pass_name = evidence.pass_name
                AND {pair.later_day} BETWEEN block.first_day AND block.last_day
          )
      )
  )
RETURNING pair.id
""",
    "left_article",
    "right_article",
)

# Of all pairs, or of those that a run has found evidence of or marked it as stale.
_BEST_SCORES_SQL = """
WITH changed AS (
    UPDATE dedup_pair AS pair
    SET best_score = best.score
    FROM (
        SELECT pair.id, pair.best_score AS before,
               coalesce(max(evidence.score) FILTER (WHERE NOT evidence.stale), 0) AS score
        FROM dedup_pair AS pair
        LEFT JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
        WHERE %(run_id)s::bigint IS NULL
           OR pair.id = ANY (%(stale)s::bigint[])
           OR pair.id = ANY (ARRAY(SELECT pair_id FROM dedup_evidence WHERE run_id = %(run_id)s))
        GROUP BY pair.id
    ) AS best
    WHERE best.id = pair.id AND pair.best_score <> best.score
    RETURNING pair.left_id, pair.right_id, best.score > 0 AS proposed, best.before > 0 AS was_proposed
)
INSERT INTO dedup_changedarticle (article)
SELECT unnest(ARRAY[left_id, right_id]) FROM changed
WHERE proposed <> was_proposed AND EXISTS (SELECT FROM dedup_watermark WHERE name = 'clusters')
"""

# What a pair says of its two articles, where it is no longer so: a newspaper was merged, or a day was corrected. Both
# give the articles new revisions, which the index article_revision finds.
_ARTICLE_FACTS_SQL = article_sql(
    """
UPDATE dedup_pair AS pair
SET same_newspaper = facts.same_newspaper, days_apart = facts.days_apart
FROM (
    SELECT pair.id, left_article.newspaper_id = right_article.newspaper_id AS same_newspaper,
           abs(left_article.date - right_article.date) AS days_apart
    FROM dedup_pair AS pair
    {pair.both_articles}
    WHERE %(revision)s::bigint = 0 OR pair.id = ANY (ARRAY(
        SELECT of_left.id FROM {articles} AS article JOIN dedup_pair AS of_left ON of_left.left_id = article.id
        WHERE article.revision > %(revision)s
        UNION
        SELECT of_right.id FROM {articles} AS article JOIN dedup_pair AS of_right ON of_right.right_id = article.id
        WHERE article.revision > %(revision)s
    ))
) AS facts
WHERE facts.id = pair.id
  AND (pair.same_newspaper, pair.days_apart) IS DISTINCT FROM (facts.same_newspaper, facts.days_apart)
"""
)
_ARTICLE_FACTS = "article facts"


_NUMBERS_SQL = """
SELECT pair.left_id, pair.right_id, pair.id
FROM unnest(%(lefts)s::bigint[], %(rights)s::bigint[]) AS asked (left_id, right_id)
JOIN dedup_pair AS pair ON pair.left_id = asked.left_id AND pair.right_id = asked.right_id
"""


def write_block(
    run_id: int, pass_name: str, candidates: Iterable[Candidate], window: Window, tally: Tally
) -> WrittenBlock:
    """Store the candidates of a block of days and the block's mark in one transaction.

    The articles that the tally names as hubs, and what it keeps, are stored with them. The candidates are streamed into
    a temporary table as the pass finds them: memory holds only some thousands.
    """
    began = time.monotonic()
    with transaction.atomic():
        pairs, found = store_candidates(run_id, candidates)
        store_hubs(run_id, pass_name, tally.hubs, only_new=window.newer_than is not None)
        if pass_name == ContainmentPass.name and window.newer_than is None:
            _keep(run_id, tally.kept)
        RunBlock.objects.create(
            run_id=run_id,
            pass_name=pass_name,
            first_day=window.first_day,
            last_day=window.last_day,
            candidates=tally.candidates,
            verified=tally.verified,
            pairs=pairs,
            seconds=time.monotonic() - began,
        )
    return WrittenBlock(pairs, found - began, time.monotonic() - found)


def _keep(run_id: int, pairs: Sequence[bytes]) -> None:
    """Keep the pairs of a block that compares all, if its run keeps them; forget what other runs kept."""
    ShingleCounts.objects.exclude(run=run_id).delete()
    if ShingleCounts.objects.filter(run=run_id).exists():
        KeptPairs.objects.create(counted_id=run_id, pairs=b"".join(pairs))


def mark_stale(run: DetectionRun, pass_name: str, covered: dict[str, Any]) -> list[int]:
    """Mark the evidence of a pass that a finished run covered and did not find again, and add it to the run's count.

    Both are one transaction: a run that is killed after it and resumed finds nothing left to mark, but counts it.
    Returns the ids of the pairs.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        lock_review()
        unbounded: dict[str, Any] = {"run_id": run.pk, "pass_name": pass_name, "up_to": None, "touched": []}
        cursor.execute(_MARK_STALE_SQL, unbounded | covered)
        pairs = [pair for (pair,) in cursor]
        run.counts["stale"] = run.counts.get("stale", 0) + len(pairs)
        run.save(update_fields=["counts"])
    return pairs


def update_best_scores(run: DetectionRun | None = None, stale: Collection[int] = ()) -> None:
    """Set the best score of every pair to the highest score of its evidence that is not stale, or 0.

    With a run, only of the pairs that it found and of those whose evidence it marked as `stale`: all others are right.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        lock_review()
        if run is None:
            # After a first run, the statistics still describe empty tables: the plan would visit all pairs for each.
            cursor.execute("ANALYZE dedup_pair, dedup_evidence")
        cursor.execute(_BEST_SCORES_SQL, {"run_id": run.pk if run else None, "stale": list(stale)})


def update_article_facts() -> None:
    """Correct the days between the articles of each pair, and whether they are of one newspaper."""
    newest = newest_revision()
    with transaction.atomic(), connection.cursor() as cursor:
        lock_review()
        cursor.execute(_ARTICLE_FACTS_SQL, {"revision": watermark_of(_ARTICLE_FACTS)})
        Watermark.objects.update_or_create(name=_ARTICLE_FACTS, defaults={"revision": newest})


def numbers_of(ends: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the numbers of those of these pairs that are stored."""
    rows = read_rows(_NUMBERS_SQL, lefts=[left for left, _ in ends], rights=[right for _, right in ends])
    return {(left, right): number for left, right, number in rows}


def store_candidates(run_id: int, candidates: Iterable[Candidate]) -> tuple[int, float]:
    """Store pairs with their evidence; return how many, and when the last was found. Call it in a transaction."""
    proposed = iter(candidates)
    pairs = 0
    with connection.cursor() as cursor:
        cursor.execute(_CREATE_SQL)
        # In batches, because the pass runs queries on the same connection between them.
        while batch := list(islice(proposed, _COPIED_AT_ONCE)):
            pairs += len(batch)
            with cursor.copy(_COPY_SQL) as copy:
                for pair in batch:
                    details = json.dumps(pair.evidence, ensure_ascii=False)
                    copy.write_row((pair.left, pair.right, pair.pass_name, pair.score, details))
        found = time.monotonic()
        if pairs:
            cursor.execute("ANALYZE found_candidate")
            lock_review()
            cursor.execute(_INSERT_PAIRS_SQL)
            cursor.execute(_UPSERT_EVIDENCE_SQL, {"run_id": run_id})
            cursor.execute(NOTE_PROPOSED_SQL)
            cursor.execute(_RAISE_SCORES_SQL)
        cursor.execute("DROP TABLE found_candidate")
    return pairs, found


# ---- hubs, the articles near so many others that a pass keeps only some of their pairs --------------------------

_CREATE_HUBS_SQL = "CREATE TEMPORARY TABLE found_hubs (article_id bigint, near integer) ON COMMIT DROP"
_COPY_HUBS_SQL = "COPY found_hubs (article_id, near) FROM STDIN"
# Blocks of one run see different neighbours of an article, and a run of new articles sees some of them: the highest
# number counts.
_UPSERT_HUBS_SQL = """
INSERT INTO dedup_crowdedarticle AS known (article_id, pass_name, near, run_id)
SELECT article_id, %(pass_name)s, near, %(run_id)s FROM found_hubs ORDER BY article_id
ON CONFLICT (pass_name, article_id) DO UPDATE
SET near = CASE
        WHEN %(only_new)s OR known.run_id = excluded.run_id THEN greatest(known.near, excluded.near)
        ELSE excluded.near
    END,
    run_id = excluded.run_id
"""
# Evidence of an earlier run that is not stale is from outside what the run covered: its articles stay hubs.
_FORGET_HUBS_SQL = """
DELETE FROM dedup_crowdedarticle AS hub
WHERE hub.pass_name = %(pass_name)s
  AND hub.run_id <> %(run_id)s
  AND NOT EXISTS (
      SELECT FROM dedup_pair AS pair JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
      WHERE pair.left_id = hub.article_id
        AND evidence.pass_name = %(pass_name)s AND NOT evidence.stale AND evidence.run_id <> %(run_id)s
  )
  AND NOT EXISTS (
      SELECT FROM dedup_pair AS pair JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
      WHERE pair.right_id = hub.article_id
        AND evidence.pass_name = %(pass_name)s AND NOT evidence.stale AND evidence.run_id <> %(run_id)s
  )
"""


def store_hubs(run_id: int, pass_name: str, neighbours: Mapping[int, int], *, only_new: bool) -> None:
    """Store the hubs of a block, each with the number of its neighbours. Call in its transaction.

    `only_new`: the run compares new articles alone, so it may have counted fewer than there are.
    """
    if not neighbours:
        return
    lock_review()
    with connection.cursor() as cursor:
        cursor.execute(_CREATE_HUBS_SQL)
        with cursor.copy(_COPY_HUBS_SQL) as copy:
            for row in neighbours.items():
                copy.write_row(row)
        cursor.execute(_UPSERT_HUBS_SQL, {"run_id": run_id, "pass_name": pass_name, "only_new": only_new})
        cursor.execute("DROP TABLE found_hubs")


def forget_hubs(run: DetectionRun, pass_name: str, *, only_new: bool) -> int:
    """Remove the articles that a finished run covered in this pass and did not find to be hubs; return how many.

    Call it after `mark_stale`. A run of new articles alone removes none.
    """
    if only_new:
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        lock_review()
        cursor.execute(_FORGET_HUBS_SQL, {"run_id": run.pk, "pass_name": pass_name})
        return int(cursor.rowcount)
