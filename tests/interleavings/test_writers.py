"""Two writers at once, in every order; one that breaks off; one that has to wait. The writers are in this folder."""

import os
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection, transaction
from psycopg.sql import SQL, Identifier, Literal

from dedup.detection.clustering.constraints import lock_review
from tests import initial_rows
from tests.interleavings import reviews, rows, runs
from tests.interleavings.schedule import Play, lanes, waits_before_it_writes
from tests.interleavings.world import editors

pytestmark = pytest.mark.django_db(transaction=True)
# Of each writer, so many statements after the first that writes; all statements with INTERLEAVINGS=all.
_BROKEN = 3

PLAYS: dict[str, Play[Any]] = rows.PLAYS | reviews.PLAYS | runs.PLAYS
# Those that are several transactions by design are not here.
ATOMIC = rows.WRITERS | reviews.WRITERS | runs.WRITERS
LOCKED = reviews.WRITERS | runs.WRITERS | runs.ONLY_WAIT


@pytest.mark.parametrize("name", PLAYS)
def test_what_comes_out_is_what_one_after_the_other_gives(
    name: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    for module, limit in rows.LIMITS:
        monkeypatch.setattr(module, limit, 1)
    settings.SECOND_READINGS = 1.0 if "read again" in name else settings.SECOND_READINGS
    PLAYS[name].check()


@pytest.mark.parametrize("name", LOCKED)
def test_whoever_writes_pairs_clusters_or_decisions_waits_before_the_first_write(name: str) -> None:
    prepare, writer = LOCKED[name]
    world = _ready(prepare)
    with lanes() as (lane, _):
        with transaction.atomic():
            lock_review()
            assert waits_before_it_writes(lane, lambda: writer(world))
        lane.run_to_its_end()
        assert not isinstance(lane.result, BaseException), lane.result


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


@pytest.mark.parametrize("name", ATOMIC)
def test_a_writer_that_breaks_off_has_written_nothing(name: str) -> None:
    prepare, writer = ATOMIC[name]
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
    """Return the world of a writer, with what its play makes by the way: the editors, and a run."""
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
