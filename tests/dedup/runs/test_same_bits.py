"""Runs of the same articles end with the same rows, to the last bit.

Whatever the hash seed and the processor, with one worker or two, in blocks of any size, from the start or resumed after
`kill -9` at several points: every column of every table of articles and of the detection is compared.
"""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from django.db import connection

from dedup.detection.passes import PASSES
from dedup.detection.types import DENSE_GROUPS
from tests.databases import child_environment, own_database, url_of
from tests.dedup.runs.made_up_news import store_archive
from tests.stored_rows import Differences, Tables, compared, read_tables

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
# The marks of blocks and their quick filters, where the blocks themselves are different.
BLOCKS = "dedup_runblock"
OF_BLOCKS = ("candidates", "verified")

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


# ---- what is compared ------------------------------------------------------------------------------


def everything(database: str) -> Tables:
    """Return all rows of a database, without how long a run took."""
    with psycopg.connect(url_of(database)) as stored:
        found = read_tables(stored)
    for run in found.rows["dedup_detectionrun"]:
        run["counts"].pop("phases", None)
        for measured in run["counts"].get("passes", {}).values():
            del measured["seconds"]
    return found


def are_the_same(one: Tables, other: Tables, *passing: dict[str, tuple[str, ...]]) -> Differences:
    """Compare all rows of two databases, but for these columns."""
    first, second = (
        tables.by_keys(lambda table: [name for columns in passing for name in columns.get(table, ())])
        for tables in (one, other)
    )
    assert all(len(rows) == 1 for of_table in (*first.values(), *second.values()) for rows in of_table.values())
    return compared(first, second)


def without_blocks(tables: Tables) -> Tables:
    """Return the same rows without what describes the blocks of a run."""
    for run in tables.rows["dedup_detectionrun"]:
        for counted in run["counts"].get("passes", {}).values():
            for block in OF_BLOCKS:
                counted.pop(block)
    return tables.without(BLOCKS)


# ---- the test --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(900)  # a dozen processes, on a machine that may be busy
def test_runs_of_the_same_articles_end_with_the_same_bits(news) -> None:
    original = connection.settings_dict["NAME"]
    connection.close()  # a database in use cannot be copied
    first, second, workers, killed = names = [
        f"{original}_{name}" for name in ("seed_1", "seed_2", "two_workers", "killed")
    ]
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        for name in names:
            stack.enter_context(own_database(name, template=original, options=""))
        runs = [
            pool.submit(killed_and_resumed, killed, 4),
            pool.submit(manage, first, 1),
            pool.submit(manage, second, 2, **another_processor()),
            pool.submit(with_two_workers, workers, 3),
        ]
        for run in runs:
            run.result()
        tables = {name: everything(name) for name in names}
    has_everything(tables[first].rows)
    assert are_the_same(tables[first], tables[second], TIMES) == Differences()
    assert are_the_same(tables[workers], tables[killed], TIMES, NUMBERS) == Differences()
    whole, in_blocks = without_blocks(tables[first]), without_blocks(tables[workers])
    assert are_the_same(whole, in_blocks, TIMES, NUMBERS) == Differences()


def has_everything(rows: dict[str, list[dict[str, Any]]]) -> None:
    """Check that all that a verdict rests on occurs, so that equal rows mean something."""
    pairs, evidence = rows["dedup_pair"], rows["dedup_evidence"]
    assert {pair["verdict"] for pair in pairs} >= {"duplicate", "version", "template", "similar"}
    assert {pair["state"] for pair in pairs} >= {"undecided", "confirmed", "rejected"}
    assert {row["pass_name"] for row in evidence if not row["stale"]} == {*PASSES, DENSE_GROUPS}
    assert any(row["stale"] for row in evidence)
    reasons = " ".join(reason for pair in pairs for reason in pair["reasons"])
    for part in ("replaced", "again and again", "Headlines of this form", "An editor ruled"):
        assert part in reasons
    assert len({row["month"] for row in rows["dedup_newspapermonth"]}) >= 3
    for table in ("dedup_series", "dedup_groupmember", "dedup_cluster", "articles_repeatedsentence"):
        assert rows[table], table
    assert {row["pass_name"] for row in rows["dedup_crowdedarticle"]} == {"trigram", "stopword"}
    [run] = [row for row in rows["dedup_detectionrun"] if row["scope"]["boilerplate"] == "story"]
    assert run["state"] == "done"
    assert run["counts"]["stale"] > 0
