"""Runs in several processes: the same answer, no process left behind, however the run ends, and no second lost."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError
from django.db import connection

from articles.storage.locks import Lock
from dedup.detection.runs import blocks, phases, scope, starting
from dedup.detection.runs.phases import NO_PROGRESS, RunClock, all_phases
from dedup.detection.runs.profiles import choose_passes, configs_of
from dedup.detection.runs.requests import cancel_run
from dedup.models import DetectionRun, Pair, RunPhase
from tests.databases import child_environment
from tests.dedup.runs.running import WIRE, command, find_duplicates, wait_until
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)

# Who holds the lock of runs in this database: tests in other processes have it in theirs, on the same server.
HOLDERS = """
    SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND objid = %s AND datname = current_database()
"""


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    monkeypatch.setattr(scope, "BLOCK_ARTICLES", 3)
    monkeypatch.setattr(blocks, "ARTICLES_PER_WORKER", 1)


@pytest.mark.parametrize("count", [0, -2])
def test_a_number_of_workers_that_cannot_be_meant_is_refused(count) -> None:
    with pytest.raises(CommandError, match=f"--workers: '{count}' is not a number from 1 to 512"):
        command("find_duplicates", f"--workers={count}")


# A run in two processes, each of which waits in its block until a file is there.
STALLING = """
import sys, time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import django
if __name__ == "__main__":
    django.setup()
    from django.core.management import call_command
    from dedup.detection.runs import blocks
    from dedup.detection.runs import scope
    scope.BLOCK_ARTICLES = 3
    blocks.ARTICLES_PER_WORKER = 1
    from tests.dedup.runs import test_workers
    blocks.perform_block = test_workers.perform_slowly
    call_command("find_duplicates", "--workers=2", "--no-progress", "--passes=trigram")
"""


def perform_slowly(task: blocks.BlockTask, on_read) -> int:
    """Find a block's pairs once the file that the environment names is there; say first that it was begun."""
    gate = Path(os.environ["GATE"])
    with (gate.parent / f"begun-{os.getpid()}").open("w"):
        pass
    while not gate.exists():
        time.sleep(0.02)
    return blocks.perform_block(task, on_read)


@contextmanager
def stalled(store, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Begin a run of twenty articles in two workers that wait in their blocks, as numbers of processes in a folder."""
    for number in range(20):
        store(f"{WIRE} Berth {number} stays open.", date=f"2026-03-{number + 1:02}")
    environment = os.environ | child_environment() | {
        "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings", "GATE": str(folder / "gate"), "PYTHONPATH": "."
    }  # fmt: skip
    script = folder / "stalling.py"
    script.write_text(STALLING)
    with subprocess.Popen([sys.executable, str(script)], env=environment, text=True, stderr=subprocess.PIPE) as process:
        wait_until(lambda: len([*folder.glob("begun-*")]) == 2)
        yield process


def lose_the_database(_process: subprocess.Popen[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_terminate_backend(pid) FROM ({HOLDERS}) AS holder", [Lock.RUN])
        assert cursor.rowcount == 1


INTERRUPTED = "Interrupted. Run the same command again to resume.\n"
ENDS = {
    "SIGKILL": (subprocess.Popen.kill, -signal.SIGKILL, ""),
    "SIGTERM": (subprocess.Popen.terminate, 130, INTERRUPTED),
    "SIGINT": (lambda process: process.send_signal(signal.SIGINT), 130, INTERRUPTED),
    "a lost database": (lose_the_database, 1, "CommandError: the database was lost ("),
}


@pytest.mark.parametrize(
    "how", ["SIGKILL", *(pytest.param(how, marks=pytest.mark.slow) for how in ENDS if how != "SIGKILL")]
)
def test_workers_end_with_their_parent_and_the_next_run_goes_on(store, tmp_path, how) -> None:
    end, status, said = ENDS[how]
    with stalled(store, tmp_path) as process:
        busy = pytest.raises(CommandError, match=r"another run is active on this database \(run ")
        with busy as refused:
            command("find_duplicates", "--passes=trigram")
        end(process)
        if how == "a lost database":
            (tmp_path / "gate").touch()  # it sees that when a block is done
        errors = process.communicate(timeout=60)[1]
    assert refused.value.returncode == 3
    pids = [int(path.name.removeprefix("begun-")) for path in tmp_path.glob("begun-*")]
    left = lambda: [psutil.Process(pid).status() for pid in pids if psutil.pid_exists(pid)]  # noqa: E731
    wait_until(lambda: set(left()) <= {psutil.STATUS_ZOMBIE})
    assert process.returncode == status
    assert said in errors
    assert how != "a lost database" or "run the same command again" in errors
    wait_until(lock_is_free)
    command("find_duplicates", "--passes=trigram")
    assert DetectionRun.objects.get().state == "done"
    assert Pair.objects.count() == 19 + 18 + 17


def lock_is_free() -> bool:
    """Return whether PostgreSQL has noticed that a killed client is gone."""
    with connection.cursor() as cursor:
        cursor.execute(HOLDERS, [Lock.RUN])
        return cursor.fetchone() is None


@pytest.mark.slow
def test_a_run_that_is_cancelled_stops_and_is_resumed_only_by_people(store, tmp_path, small_blocks) -> None:
    anna = get_user_model().objects.create_user("anna")
    with stalled(store, tmp_path) as process:
        # While the blocks go on, the phases are there for the pages.
        run = DetectionRun.objects.get()
        shown = dict(run.phases.values_list("name", "state"))
        assert cancel_run(run, user=anna)
        errors = process.communicate(timeout=60)[1]
    assert errors.endswith("CommandError: Cancelled by anna.\n")
    assert (shown["forms"], shown["trigram"], shown["clusters"]) == ("done", "running", "ahead")
    run.refresh_from_db()
    assert (run.state, run.error, run.blocks.count()) == ("interrupted", "Cancelled by anna.", 0)
    scope_of_it = scope.Scope(passes=("trigram",))
    configs = choose_passes(configs_of(run.profile.settings), ["trigram"])
    other = starting.start_run(configs, scope_of_it, profile=run.profile, by_itself=True)
    assert other != run
    other.delete()
    command("find_duplicates", "--passes=trigram")
    resumed = DetectionRun.objects.get()
    assert (resumed.pk, resumed.state, resumed.cancelled_at) == (run.pk, "done", None)
    assert Pair.objects.count() == 19 + 18 + 17


def test_one_process_stops_between_batches_and_keeps_its_blocks(store, monkeypatch, small_blocks) -> None:
    for number in range(20):
        store(f"{WIRE} Berth {number} stays open.", date=f"2026-03-{number + 1:02}")
    monkeypatch.setattr(phases, "_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(blocks, "ARTICLES_PER_WORKER", 1_000)
    anna = get_user_model().objects.create_user("anna")
    perform, done, seen = blocks.perform_block, [], []

    def perform_and_cancel(task, on_read):
        if len(done) == 2:
            assert cancel_run(DetectionRun.objects.get(), user=anna)
        written = perform(task, on_read)
        done.append(task)
        seen.append(RunPhase.objects.get(name="trigram").done)
        return written

    monkeypatch.setattr(blocks, "perform_block", perform_and_cancel)
    with pytest.raises(CommandError, match="Cancelled by anna") as raised:
        command("find_duplicates", "--passes=trigram")
    run = DetectionRun.objects.get()
    # Cancelled in the third block, whose transaction was undone.
    assert (raised.value.returncode, run.state, run.blocks.count(), len(done)) == (130, "interrupted", 2, 2)
    assert seen == [0, 3]
    monkeypatch.setattr(blocks, "perform_block", perform)
    seconds = find_duplicates("--passes=trigram")["phases"]
    run.refresh_from_db()
    assert (run.state, Pair.objects.count()) == ("done", 19 + 18 + 17)
    assert list(seconds) == [
        "forms", "shingles", "trigram", "storing", "stale", "best scores", "groups", "series", "recurring", "verdicts",
        "group checks", "clusters", "questions", "counts", "reports",
    ]  # fmt: skip
    assert {phase.state for phase in run.phases.all()} == {"done"}


def test_a_run_stores_and_prints_its_phases_in_order(store) -> None:
    for paper in ("Harbour Post", "Inland Courier"):
        store("The ferry sails at noon on weekdays until the end of May.", newspaper=paper)
    printed, _ = command("find_duplicates")
    run = DetectionRun.objects.get()
    phases = list(run.phases.all())
    assert [phase.name for phase in phases] == [name for name in all_phases() if name in run.counts["phases"]]
    took = (run.finished_at - run.started_at).total_seconds()
    # Reports are counted after its end.
    assert 0 < sum(phase.seconds for phase in phases if phase.name != "reports") <= took
    places = [printed.index(name) for name in ("Where the time went", "Merged newspapers", "Storing pairs", "Counting")]
    assert places == sorted(places)


def test_no_second_is_lost_between_phases_or_sittings(monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr("dedup.detection.runs.phases.time.monotonic", lambda: now[0])
    run = make_run()
    for sitting in (1, 2):
        clock = RunClock(run, NO_PROGRESS, {"forms", "url", "trigram", "storing"})
        now[0] += 1
        with clock.phase("forms"):
            now[0] += 4
        now[0] += 1
        with clock.phase("url", "trigram", "storing", shared=True):
            clock.start("url", 40)
            now[0] += 7
            clock.worked("url", 3.0)
            clock.worked("storing", 1.0)
            clock.advance("url", 40, 2)
        clock.close()
        seconds = {"forms": 5.0, "url": 6.0, "trigram": 0.0, "storing": 2.0}
        assert clock.seconds() == {name: sitting * second for name, second in seconds.items()}
    row = run.phases.get(name="url")
    assert (row.total, row.done, row.found, row.state) == (40, 40, 2, "done")
