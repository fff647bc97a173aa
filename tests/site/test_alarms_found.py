"""What is an alarm, and what is none."""

import datetime
import os
import platform
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from articles.jobs.work import do_job, job_task
from articles.models import FileImport, Job, Newspaper
from articles.storage.locks import Lock
from crawlers.models import Crawl, CrawlSchedule, Visit
from dedup.detection.runs.requests import schedule_nightly
from dedup.integrations.webhooks import delete_webhook, make_webhook
from dedup.models import Profile, RunPhase, Worker
from newsdedup_site.alarms import finding
from newsdedup_site.alarms.finding import find_all
from newsdedup_site.alarms.kinds import KINDS
from newsdedup_site.alarms.kinds import found as as_found
from newsdedup_site.alarms.recording import record
from newsdedup_site.alarms.views import present
from newsdedup_site.models import Alarm
from tests.databases import somebody_holds
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db
NOW = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)


def ago(**since: float) -> datetime.datetime:
    return NOW - datetime.timedelta(**since)


@pytest.fixture(autouse=True)
def _plenty_of_disk(settings: Any) -> None:
    """The disks of the machine that tests are nobody's business here."""
    settings.ALARM_DISK_FREE = 0.0


def found(now: datetime.datetime = NOW) -> list[Alarm]:
    with time_machine.travel(now, tick=False):
        return find_all(now)


def kinds(now: datetime.datetime = NOW) -> list[str]:
    return [alarm.kind for alarm in found(now)]


def nightly(at: str = "02:30", now: str = "2026-03-01T09:00Z") -> Profile:
    """Return the default profile, which was given its nightly time then."""
    Profile.objects.update(nightly_at=datetime.time.fromisoformat(at))
    profile = Profile.objects.get()
    with time_machine.travel(now, tick=False):
        schedule_nightly(profile)
    return profile


def do_night() -> None:
    do_job(Job.objects.filter(kind="night").latest("pk").pk)


def alive() -> None:
    Worker.objects.update_or_create(name="w", defaults={"seen_at": ago(seconds=3)})


# ---- nightly runs ----


def test_a_new_archive_has_no_alarm_and_misses_a_nightly_run_an_hour_after_its_time() -> None:
    assert found() == []
    nightly()
    alive()
    due = datetime.datetime(2026, 3, 2, 2, 30, tzinfo=datetime.UTC)
    assert kinds(due + datetime.timedelta(minutes=59)) == []
    [alarm] = found()
    assert (alarm.kind, alarm.since) == ("night", due)
    assert alarm.what == "The nightly run of the profile “default” was due on 2 Mar 2026, 02:30 and has not started."
    # Given another time just now, today's 08:30 was never promised.
    nightly("08:30", "2026-03-02T08:59Z")
    assert kinds() == []


@pytest.mark.parametrize(
    ("given", "due"),
    [
        # There is no 02:30 on 29 March in Berlin, and there are two on 25 October.
        ("2026-03-28T12:00Z", "2026-03-29T01:30+00:00"),
        ("2026-10-24T12:00Z", "2026-10-25T00:30+00:00"),
    ],
)
def test_a_night_in_which_clocks_are_changed_is_missed_once(settings: Any, given: str, due: str) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    nightly(now=given)
    alive()
    moment = datetime.datetime.fromisoformat(due)
    Worker.objects.update(seen_at=moment + datetime.timedelta(hours=1))
    assert Profile.objects.get().nightly_due == moment
    assert kinds(moment + datetime.timedelta(minutes=59)) == []
    assert kinds(moment + datetime.timedelta(minutes=61)) == ["night"]
    # The worker wakes up between the two 02:30, and does it: the next one is tomorrow's.
    with time_machine.travel(moment + datetime.timedelta(minutes=50), tick=False):
        do_night()
    Worker.objects.update(seen_at=moment + datetime.timedelta(hours=20))
    assert kinds(moment + datetime.timedelta(hours=20)) == []


@pytest.mark.django_db(transaction=True)
def test_a_night_that_another_run_holds_up_counts_from_its_own_time() -> None:
    profile = nightly()
    alive()
    due = profile.nightly_due = Profile.objects.get().nightly_due
    with somebody_holds(Lock.RUN):
        for hours in (0, 1, 2):  # it comes again each time
            with time_machine.travel(due + datetime.timedelta(hours=hours), tick=False):
                do_night()
    now = due + datetime.timedelta(hours=2, minutes=5)
    Worker.objects.update(seen_at=now)
    [alarm] = found(now)
    assert (alarm.kind, alarm.since) == ("night", due)
    assert alarm.what.endswith("has not started. Another run holds it up.")
    do_night()
    assert Profile.objects.get().nightly_waits_since is None


# ---- runs ----


@pytest.mark.parametrize(
    ("state", "minutes", "words"),
    [
        ("failed", 9, ""),
        ("failed", 11, "failed"),
        ("interrupted", 59, ""),
        ("interrupted", 61, "was interrupted"),
        ("done", 600, ""),
    ],
)
def test_a_run_that_stopped_is_an_alarm_after_a_while(state: str, minutes: int, words: str) -> None:
    run = make_run(state=state, finished_at=ago(minutes=minutes), error="Something broke.")
    whats = [alarm.what for alarm in found()]
    when = ago(minutes=minutes)
    expected = f"Run {run.pk} of the profile “default” {words} on 2 Mar 2026, {when:%H:%M} and has not been resumed."
    assert whats == ([expected] if words else [])


@pytest.mark.django_db(transaction=True)
def test_a_run_that_was_killed_is_one_and_one_at_work_is_none() -> None:
    run = make_run(state="running", finished_at=None, started_at=ago(hours=5))
    RunPhase.objects.create(run=run, name="trigram", position=0, updated_at=ago(minutes=11))
    [alarm] = found()
    assert (alarm.kind, alarm.since) == ("run", ago(minutes=11))
    assert "was killed on" in alarm.what
    with somebody_holds(Lock.RUN):
        assert found() == []


def test_what_was_cancelled_or_refused_on_a_page_or_made_good_is_no_alarm() -> None:
    anna = make_user("anna", "admin")
    make_run(state="interrupted", finished_at=ago(days=1), cancelled_at=ago(days=1), cancelled_by=anna)
    make_run(state="failed", finished_at=ago(days=1), config={}, requested_by=anna, error="another run is active")
    assert found() == []
    other = Profile.objects.create(name="trial")
    make_run(state="failed", finished_at=ago(days=1), profile=other)
    assert kinds() == ["run"]
    make_run(finished_at=ago(hours=2))
    assert found() == []
    # But where a run comes every night, only one of the same profile makes it good.
    Profile.objects.filter(pk=other.pk).update(nightly_at=datetime.time(2), nightly_due=NOW)
    assert kinds() == ["run"]
    make_run(profile=other, finished_at=ago(hours=1))
    assert found() == []


def an_import(state: str, error: str) -> None:
    title = f"Import of {state}.csv"
    job = Job.objects.create(kind="import", title=title, state=state, started_at=ago(hours=2), error=error)
    FileImport.objects.create(name=title, size=1, preview={}, uploaded_by=make_user(state, "admin"), job=job)


def test_a_full_disk_is_named_with_what_helps() -> None:
    error = 'could not extend file "base/5/16384": No space left on device\nHINT:  Check free disk space.'
    make_run(state="failed", finished_at=ago(hours=1), error=error)
    an_import("failed", "[Errno 28] No space left on device")
    Job.objects.create(
        kind="crawl", state="failed", started_at=ago(hours=2), finished_at=ago(hours=1), error="Disk quota exceeded"
    )
    assert kinds() == ["run", "crawl_failed", "import"]
    assert {alarm.remedy for alarm in found()} == {
        "Free space on this disk or enlarge it, then start again what stopped. Nothing that was stored before is lost."
    }


def test_an_import_that_was_killed_is_an_alarm_and_a_broken_file_is_none() -> None:
    for state, error in (("running", ""), ("failed", "line 3 is no JSON"), ("cancelled", "")):
        an_import(state, error)
    assert [alarm.what for alarm in found()] == ["The import of running.csv was killed."]


# ---- the worker ----


def test_no_worker_is_an_alarm_where_one_is_needed() -> None:
    Worker.objects.create(name="w", seen_at=ago(minutes=11))
    assert found() == []  # nothing is planned, so nobody misses it
    profile = nightly(now="2026-03-02T08:00Z")
    [alarm] = found()
    assert (alarm.kind, alarm.what) == ("worker", "No worker has answered since 2 Mar 2026, 08:49.")
    Worker.objects.update(seen_at=ago(minutes=9))
    assert found() == []
    # One that ended properly leaves no sign; it is missed once something is overdue.
    Worker.objects.all().delete()
    assert found() == []
    Profile.objects.filter(pk=profile.pk).update(nightly_due=ago(minutes=11))
    assert [found_alarm.what for found_alarm in found()] == ["No worker answers."]
    # So is it once a task has waited.
    Profile.objects.filter(pk=profile.pk).update(nightly_at=None, nightly_due=None)
    with time_machine.travel(ago(minutes=11), tick=False):
        job_task.enqueue(0)
        later = job_task.using(run_after=NOW + datetime.timedelta(hours=1)).enqueue(0)
    assert kinds() == ["worker"]
    DBTaskResult.objects.exclude(pk=later.id).delete()
    assert found() == []


# ---- crawls ----


def paper(name: str, **fields: Any) -> Newspaper:
    return Newspaper.objects.create(name=name, crawl=True, **fields)


def visit(newspaper: Newspaper, at: datetime.datetime, **fields: Any) -> None:
    row = Visit.objects.create(newspaper=newspaper, **{"state": "finished", "failed": 2, "spider": "feed", **fields})
    Visit.objects.filter(pk=row.pk).update(started_at=at)


def test_a_newspaper_that_fails_for_three_days_is_an_alarm() -> None:
    failing, short, mixed, gone = paper("Fjordbladet"), paper("Short"), paper("Mixed"), paper("Gone")
    Newspaper.objects.filter(pk=gone.pk).update(crawl=False)
    for days in (3, 2, 1, 0):
        visit(failing, ago(days=days, hours=1))
        visit(gone, ago(days=days, hours=1))
        visit(mixed, ago(days=days, hours=1))
        visit(mixed, ago(days=days), spider="sitemap", known=3)
    visit(failing, ago(days=30), failed=0)
    visit(failing, ago(hours=0.5), state="interrupted")
    # Visited once a month, it has not failed for a month.
    visit(short, ago(days=30), failed=0)
    visit(short, ago(hours=1), state="broken off", failed=0)
    [alarm] = found()
    assert alarm.what == "Every visit of Fjordbladet has failed since 27 Feb 2026, 08:00."
    assert (alarm.since, alarm.address) == (ago(days=3, hours=1), f"/crawls/{failing.pk}/")
    visit(failing, ago(minutes=1), unchanged=1)
    assert found() == []


def test_a_scheduled_crawl_that_did_not_happen_is_an_alarm() -> None:
    alive()
    late, other = paper("Fjordbladet"), paper("Other")
    CrawlSchedule.objects.create(newspaper=late, every_hours=1, due_at=ago(minutes=121))
    CrawlSchedule.objects.create(newspaper=other, every_hours=1, due_at=ago(minutes=119))
    [alarm] = found()
    assert alarm.what == "Fjordbladet was not crawled when due on 2 Mar 2026, 06:59."
    CrawlSchedule.objects.update(due_at=ago(hours=3))
    [alarm] = found()
    assert alarm.what == "2 newspapers were not crawled when due on 2 Mar 2026, 06:00 or later."
    CrawlSchedule.objects.update(due_at=NOW)
    Crawl.objects.create(job=Job.objects.create(kind="crawl"), newspaper=late, why="due")
    Crawl.objects.update(asked_at=ago(hours=7))
    [alarm] = found()
    assert alarm.what == "Fjordbladet was not crawled: the crawl has waited since 2 Mar 2026, 02:00."


def test_the_last_crawl_counts_unless_another_one_follows() -> None:
    failed = {"state": "failed", "error": "a\nCommandError: The database is away.\n"}
    Job.objects.create(kind="crawl", finished_at=ago(hours=3), **failed)
    [alarm] = found()
    assert (alarm.kind, alarm.what, alarm.detail) == (
        "crawl_failed", "The last crawl failed.", "a\nCommandError: The database is away."
    )  # fmt: skip
    Job.objects.create(kind="crawl", state="cancelled", finished_at=ago(hours=2))
    assert kinds() == ["crawl_failed"]
    again = Job.objects.create(kind="crawl", state="running", started_at=ago(hours=1))
    assert found() == []
    Job.objects.filter(pk=again.pk).update(state="done")
    assert found() == []


# ---- the machine ----


def test_a_disk_that_is_nearly_full_is_an_alarm(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings.CRAWL_STATE_DIR = tmp_path / "not" / "there" / "yet"
    real = os.statvfs(tmp_path)
    assert str(settings.CRAWL_STATE_DIR) in " and ".join(finding.disks())
    assert real.f_blocks * real.f_frsize in {state.f_blocks * state.f_frsize for state in finding.disks().values()}

    def pretend(*, free: float, size: float, files: float = 1.0) -> list[str]:
        values = list(real)
        values[1], values[2] = 1, int(size)  # blocks of one byte
        values[3] = values[4] = int(free)
        values[5], values[6], values[7] = 1_000, int(1_000 * files), int(1_000 * files)
        monkeypatch.setattr(finding, "disks", lambda: {"/var": os.statvfs_result(values)})
        return [found_alarm.what for found_alarm in found()]

    settings.ALARM_DISK_FREE = 0.1
    assert pretend(free=2.1e9, size=20e9) == []
    assert pretend(free=1.9e9, size=20e9) == ["A disk is nearly full: 1.9 GB (9.5%) free."]
    assert pretend(free=51e9, size=4e12) == []  # a small share of a large disk is plenty
    assert pretend(free=49e9, size=4e12) == ["A disk is nearly full: 49.0 GB (1.2%) free."]
    assert pretend(free=15e9, size=20e9, files=0.05) == ["A disk is nearly full: 50 files free."]
    [alarm] = found()
    host = platform.node()
    assert (alarm.subject, alarm.detail) == (
        f"{host}: /var", f"/var on {host}: 50 files free; the alarm is raised below 10%."
    )  # fmt: skip


def test_a_full_disk_of_another_machine_is_shown_while_that_machine_is_heard_of() -> None:
    now = timezone.now()
    disk = as_found("disk", "worker-2: /var", "A disk is nearly full: 1.9 GB free.", detail="/var on worker-2")
    record([disk], now)
    record([], now)  # this machine does not see it
    ada = make_user("ada", "admin")
    [group] = present(ada)["groups"]
    [shown] = group.shown
    assert (group.kind.label, shown.since) == ("Disk nearly full", now)
    assert (shown.what, shown.detail) == (disk.what, disk.detail)
    Alarm.objects.update(seen_at=now - finding.FORGOTTEN)
    assert present(ada)["groups"] == []


def test_a_database_beyond_its_bound_is_an_alarm(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ALARM_DATABASE_GIGABYTES = 1
    assert found() == []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        [size] = cursor.fetchone()
    assert finding.database_bytes() == size
    monkeypatch.setattr(finding, "GIGABYTE", size - 1)
    assert kinds() == ["database"]


def test_waiting_migrations_are_the_only_alarm_until_they_are_done() -> None:
    make_run(state="failed", finished_at=ago(hours=1))
    MigrationRecorder.Migration.objects.filter(app="newsdedup_site", name="0003_alarms").delete()
    MigrationRecorder.Migration.objects.filter(app="articles", name="0002_article_revision").delete()
    [alarm] = found()
    assert (alarm.what, alarm.detail) == (
        "The tables are not up to date: 2 migrations to do.",
        "articles.0002_article_revision, newsdedup_site.0003_alarms",
    )


def test_a_webhook_that_was_given_up_is_an_alarm_until_it_is_switched_on_or_deleted() -> None:
    anna = make_user("anna", "editor")
    hook = make_webhook(anna, "https://receiver.example/", ["cluster.new"])
    hook.active, hook.fault = False, "7 attempts failed, the last with: HTTP 500"
    hook.save()
    [alarm] = found()
    assert alarm.what == "A webhook of anna was switched off because its receiver does not accept anything."
    assert "receiver.example" not in alarm.what  # a URL may be a secret
    anna.is_active = False
    anna.save()
    assert found() == []
    anna.is_active = True
    anna.save()
    delete_webhook(hook, by=anna)
    assert found() == []


def test_every_kind_says_what_follows_and_what_helps() -> None:
    for name, kind in KINDS.items():
        assert len(name) <= 20
        assert kind.follows.endswith(".")
        assert kind.remedy
    assert {name for name, kind in KINDS.items() if kind.for_all} == {
        "worker", "night", "run", "crawl", "crawl_failed", "newspaper"
    }  # fmt: skip
