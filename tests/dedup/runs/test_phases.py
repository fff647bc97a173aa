"""The phases of a run: their time adds up to the run's, however many processes share it."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from dedup.detection.runs.phases import NO_PROGRESS, RunClock, all_phases, shares
from dedup.models import DetectionRun
from tests.factories import make_run

pytestmark = pytest.mark.django_db


def test_time_is_shared_by_work() -> None:
    assert shares(10.0, {"url": 1.0, "trigram": 3.0}) == {"url": 2.5, "trigram": 7.5}
    assert shares(10.0, {"url": 0.0}) == {"url": 0.0}
    assert shares(10.0, {}) == {}


def test_a_run_stores_and_prints_its_phases_in_order(store) -> None:
    for paper in ("Harbour Post", "Inland Courier"):
        store("The ferry sails at noon on weekdays until the end of May.", newspaper=paper)
    output = io.StringIO()
    call_command("find_duplicates", stdout=output, stderr=io.StringIO())
    run = DetectionRun.objects.get()
    phases = list(run.phases.all())
    assert [phase.name for phase in phases] == [name for name in all_phases() if name in run.counts["phases"]]
    took = (run.finished_at - run.started_at).total_seconds()
    # Reports are counted after its end.
    assert 0 < sum(phase.seconds for phase in phases if phase.name != "reports") <= took
    printed = output.getvalue()
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
