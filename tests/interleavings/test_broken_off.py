"""A writer that breaks off at any of its statements leaves the database as it was, every row of every table."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from psycopg.sql import SQL, Identifier, Literal

from dedup.detection.clustering.changes import update_clusters
from dedup.detection.runs.dense_groups import update_groups
from tests import initial_rows
from tests.interleavings import test_reviews as reviews
from tests.interleavings import test_rows as rows
from tests.interleavings import test_runs as runs
from tests.interleavings.world import desk, editors

pytestmark = pytest.mark.django_db(transaction=True)
# Of each writer, so many statements after the first that writes; all statements with INTERLEAVINGS=all.
_BROKEN = 3

# What each begins with, and the writer. Those that are several transactions by design are not here.
WRITERS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "decide_pair": (desk, reviews.decide(0, "reject")),
    "undo": (reviews.decided, reviews.undo(0)),
    "confirm_cluster": (desk, reviews.confirm),
    "reject_cluster": (desk, reviews.reject),
    "split_cluster": (desk, reviews.split),
    "merge_clusters": (reviews.two_clusters, reviews.merge),
    "take_out": (desk, reviews.take_out),
    "keep_article": (desk, reviews.keep),
    "declare_pair": (reviews.apart, reviews.declare(0, "confirm")),
    "confirm_group": (reviews.grouped, reviews.confirm_group),
    "make_group_rule": (reviews.grouped, reviews.rule_group(0)),
    "end_group_rule": (reviews.ruled, reviews.end_group_rule),
    "make_rule": (reviews.series, reviews.rule_series(0)),
    "end_rule": (reviews.ruled_series, reviews.end_series_rule),
    "answer_collision": (reviews.decided, reviews.contest),
    "settle": (reviews.contested, reviews.settle(0, "reject")),
    "begin a batch": (reviews.two_pairs, reviews.begin),
    "decide a batch": (reviews.sampled, reviews.decide_batch(0)),
    "write_block": (runs.in_a_new_run(desk), runs.found((1, 2))),
    "store_rows": (desk, runs.judge("template")),
    "update_clusters": (desk, lambda _world: update_clusters(only_changed=False)),
    "update_groups": (runs.loose, lambda _world: update_groups()),
    "store_crowded": (desk, runs.crowd(60)),
    "store_articles": (rows.papers, rows.store_named),
    "attach_urls": (rows.known, rows.attach),
    "merge_newspapers": (rows.papers, rows.merge),
    "undo_merge": (rows.merged, rows.undo_merging),
    "save_rule": (rows.papers, rows.save_extraction),
    "whitelist_sentence": (rows.sentence(whitelisted=False), rows.begin),
    "end_whitelisting": (rows.sentence(whitelisted=True), rows.end),
    "make_token": (lambda: rows.person("ines", "editor"), rows.make_a_token),
    "change a role": (rows.two_admins, rows.demote),
    "block": (rows.two_admins, rows.shut_out),
    "request_run": (rows.no_requests, rows.ask_run),
    "request_crawl": (rows.crawls(), rows.ask_crawl),
    "set_schedule": (rows.crawls(), rows.schedule),
    "save_newspaper": (rows.tried, rows.save_tried),
}


class BrokenOffError(Exception):
    """What the tests put in the place of a statement."""


class _Breaking:
    """Raises at the statement with this number, of those in a transaction, from 0.

    With -1 it only counts them, and notes the first that writes.
    """

    def __init__(self, at: int) -> None:
        self._at, self.count, self.first_write = at, 0, -1

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if not connection.in_atomic_block:  # before the transaction, or after it
            return execute(sql, params, many, context)
        if self.count == self._at:
            raise BrokenOffError(str(sql)[:100])
        if self.first_write < 0 and not str(sql).lstrip().startswith(("SELECT", "SAVEPOINT", "RELEASE")):
            self.first_write = self.count
        self.count += 1
        return execute(sql, params, many, context)


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_that_breaks_off_has_written_nothing(name: str) -> None:
    prepare, writer = WRITERS[name]
    counting = _counted(prepare, writer)
    world = _ready(prepare)
    before = everything()
    for at in _places(counting):
        with connection.execute_wrapper(_Breaking(at)), pytest.raises(BrokenOffError) as broken:
            writer(world)
        assert everything() == before, f"{name} broke off at its statement {at}, {broken.value}, and left something."
    writer(world)
    assert everything() != before


def _counted(prepare: Callable[[], Any], writer: Callable[[Any], Any]) -> _Breaking:
    """Count the statements of a writer, once what a process keeps in memory has been read."""
    for _ in range(2):
        counting, world = _Breaking(-1), _ready(prepare)
        with connection.execute_wrapper(counting):
            writer(world)
        initial_rows.put_back()
    return counting


def _ready(prepare: Callable[[], Any]) -> Any:
    """Return the world of a writer, with what its play makes by the way."""
    editors()
    runs.a_run()
    return prepare()


def _places(counting: _Breaking) -> Sequence[int]:
    if os.environ.get("INTERLEAVINGS") == "all":
        return range(counting.count)
    after = range(max(counting.first_write, 0) + 1, counting.count)
    chosen = random.Random(counting.count).sample(after, min(_BROKEN - 1, len(after)))
    return sorted({counting.count - 1, *chosen})


def everything() -> dict[str, str]:
    """Return a digest of all rows of each table."""
    parts = [
        SQL("SELECT {}, coalesce(md5(string_agg(row::text, '|' ORDER BY row::text)), '') FROM {} AS row").format(
            Literal(table), Identifier(table)
        )
        for table in initial_rows._tables()
    ]
    with connection.cursor() as cursor:
        cursor.execute(SQL(" UNION ALL ").join(parts))
        return dict(cursor.fetchall())
