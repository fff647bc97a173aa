"""Runs that were asked for on a page or by the clock, done by a real worker process."""

import datetime
import os
import subprocess
import sys
import time

import psycopg
import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles.jobs.work import do_job
from articles.models import Job
from articles.storage.locks import Lock
from dedup.detection.runs.requests import Wanted, is_worker_alive, request_run, schedule_night
from dedup.models import DetectionRun, Profile, Worker
from tests.databases import child_environment, database_url

pytestmark = pytest.mark.django_db(transaction=True)


def work() -> None:
    """Have a worker do what waits, and end."""
    command = [sys.executable, "manage.py", "db_worker", "--batch", "--no-startup-delay"]
    subprocess.run(command, env=os.environ | child_environment(), check=True, capture_output=True, timeout=120)


def ask_for(profile: Profile, **bounds: datetime.date) -> Job:
    user, _ = get_user_model().objects.get_or_create(username="anna")
    asked, _ = request_run(Wanted(profile, **bounds), user=user)
    assert isinstance(asked, Job)
    return asked


def test_a_worker_runs_the_detection_for_the_user_who_asked(store) -> None:
    for paper in ("Harbour Post", "Inland Courier"):
        store("The ferry sails at noon on weekdays until the end of May.", newspaper=paper)
    profile = Profile.objects.get()
    job = ask_for(profile, since=datetime.date(2026, 3, 1))
    work()
    job.refresh_from_db()
    run = DetectionRun.objects.get()
    assert (job.state, job.result, job.page) == ("done", run.pk, f"/runs/{run.pk}/")
    assert (run.state, run.requested_by, run.profile, run.job) == ("done", job.requested_by, profile, job)
    assert run.scope == {
        "since": "2026-03-01",
        "until": None,
        "newspapers": None,
        "passes": None,
        "newer_than": None,
        "boilerplate": "keep",
        "rules": [],
    }
    assert run.counts["clusters"] == 1
    # The worker has ended, and leaves no sign of life behind.
    assert not is_worker_alive()


def test_a_worker_gives_signs_of_life_until_it_ends() -> None:
    forgotten = Worker.objects.create(name="forgotten", seen_at=timezone.now() - datetime.timedelta(days=2))
    command = [sys.executable, "manage.py", "db_worker", "--interval", "60", "--no-startup-delay"]
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    # It has given its first sign, and is told to end in the middle of its next query.
    with psycopg.connect(database_url()) as other, connection.cursor() as cursor:
        other.execute("SELECT FROM dedup_worker FOR UPDATE")
        with subprocess.Popen(command, env=os.environ | child_environment(), stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + 60
            while not cursor.execute(waiting).fetchone()[0] and time.monotonic() < deadline:
                time.sleep(0.05)
            alive = is_worker_alive()
            process.terminate()
            process.wait(timeout=30)
    assert (alive, [*Worker.objects.all()]) == (True, [forgotten])


def test_a_run_that_cannot_begin_says_so_where_runs_are_listed() -> None:
    job = ask_for(Profile.objects.create(name="odd", settings={"trigram": {"threshold": 7.0}}))
    do_job(job.pk)
    job.refresh_from_db()
    run = DetectionRun.objects.get()
    assert (run.state, run.profile_name, job.page) == ("failed", "odd", f"/runs/{run.pk}/")
    assert run.error == "trigram: threshold is 7.0; it must be from 0.3 to 1 (similarity, 0..1)" == job.error


def test_a_run_whose_profile_is_gone_fails() -> None:
    job = ask_for(Profile.objects.create(name="odd"))
    Profile.objects.filter(name="odd").delete()
    do_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The profile was deleted.")
    assert DetectionRun.objects.count() == 0


def nights() -> list[Job]:
    """Return the nightly runs that wait, the next one first."""
    return list(Job.objects.filter(kind="night", state="waiting").order_by("not_before"))


def set_nightly(at: datetime.time | None) -> Profile:
    """Set the time in the admin, as people do."""
    profile = Profile.objects.get()
    client = Client()
    client.force_login(get_user_model().objects.get_or_create(username="root", is_staff=True, is_superuser=True)[0])
    address = reverse("admin:dedup_profile_change", args=[profile.pk])
    form = client.get(address).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    values = {name: value for name, value in values.items() if value is not False and value is not None}
    answer = client.post(address, values | {"nightly_at": at or ""})
    assert answer.status_code == 302
    profile.refresh_from_db()
    return profile


def test_a_nightly_run_is_arranged_for_the_next_such_time_and_rearranged() -> None:
    with time_machine.travel("2026-03-02 23:30:00Z", tick=False):
        profile = set_nightly(datetime.time(2, 15))
        assert profile.nightly_due == datetime.datetime(2026, 3, 3, 2, 15, tzinfo=datetime.UTC)
        assert [night.not_before for night in nights()] == [profile.nightly_due]
        assert set_nightly(datetime.time(2, 15)).nightly_due == profile.nightly_due
        assert len(nights()) == 1
        assert set_nightly(datetime.time(23, 45)).nightly_due.isoformat() == "2026-03-02T23:45:00+00:00"
        assert set_nightly(None).nightly_due is None
        assert not nights()


def test_a_worker_runs_what_is_due_on_new_articles_and_arranges_the_next_night(store) -> None:
    store("The ferry sails at noon on weekdays until the end of May.")
    profile = set_nightly(datetime.time(2, 15))
    due = timezone.now() - datetime.timedelta(minutes=1)
    schedule_night(profile, datetime.datetime(2026, 1, 1, 2, 15, tzinfo=datetime.UTC))  # a time that was changed
    schedule_night(profile, due)
    store("The ferry sails at noon on weekdays until the end of May.", newspaper="Inland Courier")
    work()
    run = DetectionRun.objects.get()
    assert (run.state, run.counts["clusters"], run.requested_by) == ("done", 1, None)
    assert run.scope["newer_than"] == {}
    profile.refresh_from_db()
    assert profile.nightly_due > timezone.now()
    assert [profile.nightly_due] == [night.not_before for night in nights()]


def test_a_nightly_run_that_meets_another_one_comes_again() -> None:
    profile = set_nightly(datetime.time(2, 15))
    due = timezone.now()
    schedule_night(profile, due)
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [Lock.RUN])
        do_job(Job.objects.latest("pk").pk)
    profile.refresh_from_db()
    assert datetime.timedelta(minutes=9) < profile.nightly_due - timezone.now() < datetime.timedelta(minutes=11)
    assert not DetectionRun.objects.exists()
