"""Runs in several processes: the same answer, and no process left behind, however the run ends."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from dedup.detection.passes import PASSES
from dedup.detection.runs import blocks, phases, scope, starting
from dedup.detection.runs.profiles import choose_passes, configs_of
from dedup.detection.runs.requests import cancel_run
from dedup.models import DetectionRun, Evidence, Membership, Pair, RunPhase
from tests.databases import child_environment

pytestmark = pytest.mark.django_db(transaction=True)

WIRE = (
    "The harbour authority of Port Selby said on Monday that the northern breakwater will close for six weeks while "
    "divers replace the anchor chains. Fishing boats may use the southern basin free of charge until the work is done."
)


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    monkeypatch.setattr(scope, "BLOCK_ARTICLES", 3)
    monkeypatch.setattr(blocks, "ARTICLES_PER_WORKER", 1)


def found() -> tuple:
    evidence = Evidence.objects.order_by("pair__left", "pair__right", "pass_name")
    return (
        list(evidence.values_list("pair__left", "pair__right", "pass_name", "score", "details", "stale")),
        list(Pair.objects.order_by("left", "right").values_list("left", "right", "best_score", "state")),
        list(Membership.objects.order_by("article").values_list("article", "cluster__kept")),
    )


def test_two_workers_give_what_one_gives(store, small_blocks) -> None:
    for day in range(1, 9):
        for paper in ("Harbour Post", "Inland Courier"):
            host = paper.lower().replace(" ", "")
            for tail in ("?utm_source=feed", "?utm_source=letter"):
                url = f"https://{host}.example/news/{day}/breakwater{tail}"
                store(
                    f"{WIRE} Berth {day} stays open all week long.",
                    newspaper=paper,
                    date=f"2026-03-0{day}",
                    url=url,
                    headline="Closed for all boats",
                )
    answers = []
    for count in (1, 2, 1):
        call_command(
            "find_duplicates",
            f"--passes={','.join(PASSES)}",
            f"--workers={count}",
            "--no-progress",
            stdout=io.StringIO(),
            stderr=io.StringIO(),
        )
        answers.append(found())
    assert answers[0] == answers[1] == answers[2]
    found_by = {row[2] for row in answers[0][0]}
    assert found_by >= {"url", "title", "exact", "trigram", "minhash", "stopword", "sentence"}


@pytest.mark.parametrize("count", [0, -2])
def test_a_number_of_workers_that_cannot_be_meant_is_refused(count) -> None:
    with pytest.raises(CommandError, match=f"--workers: '{count}' is not a number from 1 to 512"):
        call_command("find_duplicates", f"--workers={count}")


# A run in two processes, each of which waits in its block until a file is there.
STALLING = """
import sys, time
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


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_parent_and_the_next_run_goes_on(store, tmp_path, how) -> None:
    for number in range(20):
        store(f"{WIRE} Berth {number} stays open.", date=f"2026-03-{number + 1:02}")
    environment = os.environ | child_environment() | {
        "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings", "GATE": str(tmp_path / "gate"), "PYTHONPATH": "."
    }  # fmt: skip
    script = tmp_path / "stalling.py"
    script.write_text(STALLING)
    with subprocess.Popen([sys.executable, str(script)], env=environment, text=True, stderr=subprocess.PIPE) as process:
        begun = wait_for(lambda: [*tmp_path.glob("begun-*")], 2)
        process.send_signal(how)
        errors = process.communicate(timeout=60)[1]
    pids = [int(path.name.removeprefix("begun-")) for path in begun]
    wait_for(lambda: [pid for pid in pids if not is_alive(pid)], 2)
    if how == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert (process.returncode, errors) == (130, "Interrupted. Run the same command again to resume.\n")
    call_command("find_duplicates", "--passes=trigram", "--no-progress", stdout=io.StringIO())
    assert DetectionRun.objects.get().state == "done"
    assert Pair.objects.count() == 19 + 18 + 17


def test_a_run_that_is_cancelled_stops_and_is_resumed_only_by_people(store, tmp_path, small_blocks) -> None:
    for number in range(20):
        store(f"{WIRE} Berth {number} stays open.", date=f"2026-03-{number + 1:02}")
    environment = os.environ | child_environment() | {
        "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings", "GATE": str(tmp_path / "gate"), "PYTHONPATH": "."
    }  # fmt: skip
    script = tmp_path / "stalling.py"
    script.write_text(STALLING)
    anna = get_user_model().objects.create_user("anna")
    with subprocess.Popen([sys.executable, str(script)], env=environment, text=True, stderr=subprocess.PIPE) as process:
        wait_for(lambda: [*tmp_path.glob("begun-*")], 2)
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
    call_command("find_duplicates", "--passes=trigram", "--no-progress", stdout=io.StringIO())
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
        call_command("find_duplicates", "--passes=trigram", "--no-progress")
    run = DetectionRun.objects.get()
    # Cancelled in the third block, whose transaction was undone.
    assert (raised.value.returncode, run.state, run.blocks.count(), len(done)) == (130, "interrupted", 2, 2)
    assert seen == [0, 3]
    monkeypatch.setattr(blocks, "perform_block", perform)
    output = io.StringIO()
    call_command("find_duplicates", "--passes=trigram", "--no-progress", "--format=json", stdout=output)
    run.refresh_from_db()
    assert (run.state, Pair.objects.count()) == ("done", 19 + 18 + 17)
    seconds = json.loads(output.getvalue())["phases"]
    assert list(seconds) == [
        "forms", "shingles", "trigram", "storing", "stale", "best scores", "groups", "series", "recurring", "verdicts",
        "group checks", "clusters", "questions", "counts", "reports",
    ]  # fmt: skip
    assert {phase.state for phase in run.phases.all()} == {"done"}


def is_alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_for(found, count: int) -> list:
    """Return what is found once it is so many."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if len(seen := found()) >= count:
            return seen
        time.sleep(0.02)
    pytest.fail(f"waited a minute for {count}, saw {len(found())}")
