"""Stores which articles are crowded: those of whose pairs with each other a pass proposes only some."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection, transaction

from dedup.detection.clustering.constraints import lock_review
from dedup.models import DetectionRun

_CREATE_SQL = "CREATE TEMPORARY TABLE found_crowded (article_id bigint, near integer) ON COMMIT DROP"
_COPY_SQL = "COPY found_crowded (article_id, near) FROM STDIN"
# Blocks of one run see different neighbours of an article, and a run of new articles sees some of them: the highest
# number counts.
_UPSERT_SQL = """
INSERT INTO dedup_crowdedarticle AS known (article_id, pass_name, near, run_id)
SELECT article_id, %(pass_name)s, near, %(run_id)s FROM found_crowded ORDER BY article_id
ON CONFLICT (pass_name, article_id) DO UPDATE
SET near = CASE
        WHEN %(only_new)s OR known.run_id = excluded.run_id THEN greatest(known.near, excluded.near)
        ELSE excluded.near
    END,
    run_id = excluded.run_id
"""
# Evidence of an earlier run that is not stale is from outside what the run covered: its articles stay crowded.
_FORGET_SQL = """
DELETE FROM dedup_crowdedarticle AS crowded
WHERE crowded.pass_name = %(pass_name)s
  AND crowded.run_id <> %(run_id)s
  AND NOT EXISTS (
      SELECT FROM dedup_pair AS pair JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
      WHERE pair.left_id = crowded.article_id
        AND evidence.pass_name = %(pass_name)s AND NOT evidence.stale AND evidence.run_id <> %(run_id)s
  )
  AND NOT EXISTS (
      SELECT FROM dedup_pair AS pair JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id
      WHERE pair.right_id = crowded.article_id
        AND evidence.pass_name = %(pass_name)s AND NOT evidence.stale AND evidence.run_id <> %(run_id)s
  )
"""


def store_crowded(run_id: int, pass_name: str, near: Mapping[int, int], *, only_new: bool) -> None:
    """Store the crowded articles of a block, each with the number of articles near it. Call in its transaction.

    `only_new`: the run compares new articles alone, so it may have counted fewer than there are.
    """
    if not near:
        return
    lock_review()
    with connection.cursor() as cursor:
        cursor.execute(_CREATE_SQL)
        with cursor.copy(_COPY_SQL) as copy:
            for row in near.items():
                copy.write_row(row)
        cursor.execute(_UPSERT_SQL, {"run_id": run_id, "pass_name": pass_name, "only_new": only_new})
        cursor.execute("DROP TABLE found_crowded")


def forget_crowded(run: DetectionRun, pass_name: str, *, only_new: bool) -> int:
    """Remove the articles that a finished run covered in this pass and did not find crowded; return how many.

    Call it after `mark_stale`. A run of new articles alone removes none.
    """
    if only_new:
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        lock_review()
        cursor.execute(_FORGET_SQL, {"run_id": run.pk, "pass_name": pass_name})
        return int(cursor.rowcount)
