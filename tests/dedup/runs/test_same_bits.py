"""Runs of the same articles end with the same rows, to the last bit.

Whatever the hash seed and the processor, with one worker or two, in blocks of any size, from the start or resumed after
`kill -9` at several points: every column of every table of articles and of the detection is compared.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pytest
from django.db import connection
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from dedup.detection.passes import PASSES
from dedup.detection.types import DENSE_GROUPS
from tests.databases import child_environment, database_url
from tests.dedup.runs.made_up_archive import store_archive

pytestmark = pytest.mark.django_db(transaction=True)

CHECKOUT = Path(__file__).parents[3]
SEED = 20_260_309
FIND = [f"--passes={','.join(PASSES)}", "--boilerplate=story", "--no-progress"]
# After which steps a run is killed, one process after the other: in the middle of its boilerplate, of its passes, of
# marking what is stale, and of its verdicts.
KILLS = ("store_weeks:9", "perform_block:7", "mark_stale:3", "store_rows:2")

# The columns that may differ between any two runs: their own times.
TIMES = {
    "dedup_detectionrun": ("started_at", "finished_at"),
    "dedup_pair": ("found_at",),  # when the block with it was stored
    "dedup_runblock": ("seconds",),
    "dedup_runphase": ("seconds", "updated_at"),
}
# Numbers of rows, which come from sequences: they count the order in which workers store their blocks, and skip what a
# killed process had taken. What refers to a pair by its number is compared by the pair's two articles instead.
NUMBERS = {
    "dedup_pair": ("id",),
    "dedup_evidence": ("id",),
    "dedup_runblock": ("id",),
    "dedup_newspapermonth": ("id",),
    "dedup_crowdedarticle": ("id",),
    "dedup_openquestion": ("id", "number"),
    "dedup_runphase": ("total", "done", "found"),  # of a run that was resumed: what was still ahead
}
# What these rows are known by instead.
KEYS = {
    "dedup_pair": ("left_id", "right_id"),
    "dedup_evidence": ("pair_id", "pass_name"),
    "dedup_crowdedarticle": ("pass_name", "article_id"),
    "dedup_openquestion": ("pair_id", "cluster_id"),
    "dedup_newspapermonth": ("newspaper_id", "month"),
    "dedup_runblock": ("run_id", "pass_name", "first_day"),
}
# The marks of blocks and their quick filters, where the blocks themselves are different.
BLOCKS = "dedup_runblock"
OF_BLOCKS = ("candidates", "verified")

Rows = dict[Any, dict[str, Any]]
Store = dict[str, Rows]


# ---- the runs --------------------------------------------------------------------------------------


@pytest.fixture
def news() -> None:
    """Store made-up news with an earlier run, decisions and a rule; some articles came after it."""
    store_archive(SEED)


def manage(database: str, seed: int, **environment: str) -> None:
    """Run the command itself."""
    _run(["manage.py", "find_duplicates", *FIND, "--workers=1"], database, seed, **environment)


def with_two_workers(database: str, seed: int) -> None:
    done = _run(["-m", "tests.dedup.runs.detect", *FIND, "--workers=2"], database, seed)
    assert done.stderr.count("A worker starts.\n") == 2  # for all phases together


def killed_and_resumed(database: str, seed: int) -> None:
    for kill in KILLS:
        _run(["-m", "tests.dedup.runs.detect", *FIND, f"--kill={kill}"], database, seed, returncode=-signal.SIGKILL)
    _run(["-m", "tests.dedup.runs.detect", *FIND], database, seed)


def _run(
    command: list[str], database: str, seed: int, *, returncode: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    values = os.environ | child_environment() | environment
    values |= {
        "DATABASE_URL": url_of(database),
        "PYTHONHASHSEED": str(seed),
        "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings",
        "PYTHONPATH": str(CHECKOUT),
    }
    done = subprocess.run(
        [sys.executable, *command], cwd=CHECKOUT, env=values, check=False, capture_output=True, text=True
    )
    assert done.returncode == returncode, done.stderr
    return done


def another_processor() -> dict[str, str]:
    """Return what makes numpy and its BLAS work as on a processor of 2008, as far as they have kernels for it."""
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])  # type: ignore[call-overload]
    return {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": " ".join(features)}


# ---- the databases ---------------------------------------------------------------------------------


def url_of(database: str) -> str:
    return urlsplit(database_url())._replace(path=f"/{database}").geturl()


@contextmanager
def copies(*names: str) -> Iterator[list[str]]:
    """Copy the test database under these names; drop the copies at the end."""
    original = connection.settings_dict["NAME"]
    databases = [f"{original}_{name}" for name in names]
    connection.close()  # a database in use cannot be copied
    with psycopg.connect(url_of("postgres"), autocommit=True) as server:
        try:
            # A test that lost its database on purpose may have left a session.
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [original])
            for database in databases:
                server.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(database)))
                template = Identifier(original)
                server.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(database), template))
            yield databases
        finally:
            for database in databases:
                server.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(database)))


def everything(database: str) -> Store:
    """Return all rows of all tables of articles and of the detection, by what identifies them in any database."""
    with closing(psycopg.connect(url_of(database), row_factory=dict_row)) as stored:
        tables = stored.execute(
            "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
            " AND table_type = 'BASE TABLE' AND table_name ~ '^(articles|dedup)_' ORDER BY 1"
        ).fetchall()
        rows = {
            table["name"]: stored.execute(SQL("SELECT * FROM {}").format(Identifier(table["name"]))).fetchall()
            for table in tables
        }
    ends = {row["id"]: (row["left_id"], row["right_id"]) for row in rows["dedup_pair"]}
    found: Store = {}
    for table, some in rows.items():
        for row in some:
            if row.get("pair_id") is not None:
                row["pair_id"] = ends[row["pair_id"]]
        found[table] = {_key(table, row): row for row in some}
        assert len(found[table]) == len(some)
    for run in found["dedup_detectionrun"].values():
        run["counts"].pop("phases", None)
        for measured in run["counts"].get("passes", {}).values():
            del measured["seconds"]
    return found


def _key(table: str, row: dict[str, Any]) -> Any:
    if table in KEYS:
        return tuple(row[column] for column in KEYS[table])
    return next(iter(row.values()))  # the first column of each table is its primary key


def differences(one: Store, other: Store, *, except_for: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return, by table and column, how many rows differ and the first two values, as text to the last digit."""
    assert one.keys() == other.keys()
    found: dict[str, Any] = {}
    for table, rows in one.items():
        if rows.keys() != other[table].keys():
            found[table] = sorted(rows.keys() ^ other[table].keys(), key=repr)[:5]
        for key in rows.keys() & other[table].keys():
            for column, value in rows[key].items():
                their = other[table][key][column]
                if column not in except_for.get(table, ()) and repr(value) != repr(their):
                    name = f"{table}.{column}"
                    found[name] = (found.get(name, (0,))[0] + 1, value, their)
    return found


def without_blocks(store: Store) -> Store:
    """Return the same rows without what describes the blocks of a run."""
    for run in store["dedup_detectionrun"].values():
        for counted in run["counts"].get("passes", {}).values():
            for block in OF_BLOCKS:
                counted.pop(block)
    return {table: rows for table, rows in store.items() if table != BLOCKS}


# ---- the test --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(900)  # a dozen processes, on a machine that may be busy
def test_runs_of_the_same_articles_end_with_the_same_bits(news) -> None:
    with copies("seed_1", "seed_2", "two_workers", "killed") as databases, ThreadPoolExecutor(2) as pool:
        first, second, workers, killed = databases
        runs = [
            pool.submit(killed_and_resumed, killed, 4),
            pool.submit(manage, first, 1),
            pool.submit(manage, second, 2, **another_processor()),
            pool.submit(with_two_workers, workers, 3),
        ]
        for run in runs:
            run.result()
        stores = {name: everything(name) for name in databases}
    has_everything(stores[first])
    assert differences(stores[first], stores[second], except_for=TIMES) == {}
    times_and_numbers = {table: TIMES.get(table, ()) + NUMBERS.get(table, ()) for table in TIMES | NUMBERS}
    assert differences(stores[workers], stores[killed], except_for=times_and_numbers) == {}
    whole, in_blocks = without_blocks(stores[first]), without_blocks(stores[workers])
    assert differences(whole, in_blocks, except_for=times_and_numbers) == {}


def has_everything(store: Store) -> None:
    """Check that all that a verdict rests on occurs, so that equal rows mean something."""
    pairs, evidence = store["dedup_pair"].values(), store["dedup_evidence"].values()
    assert {pair["verdict"] for pair in pairs} >= {"duplicate", "version", "template", "similar"}
    assert {pair["state"] for pair in pairs} >= {"undecided", "confirmed", "rejected"}
    assert {row["pass_name"] for row in evidence if not row["stale"]} == {*PASSES, DENSE_GROUPS}
    assert any(row["stale"] for row in evidence)
    reasons = " ".join(reason for pair in pairs for reason in pair["reasons"])
    for part in ("replaced", "again and again", "Headlines of this form", "An editor ruled"):
        assert part in reasons
    assert len({row["month"] for row in store["dedup_newspapermonth"].values()}) >= 3
    assert store["dedup_series"]
    assert store["dedup_groupmember"]
    assert store["dedup_cluster"]
    assert {row["pass_name"] for row in store["dedup_crowdedarticle"].values()} == {"trigram", "stopword"}
    assert store["articles_repeatedsentence"]
    [run] = [row for row in store["dedup_detectionrun"].values() if row["scope"]["boilerplate"] == "story"]
    assert run["state"] == "done"
    assert run["counts"]["stale"] > 0
