"""Jobs and their workers: every kind is killed in the middle, by `kill -9`; runs on demand and at night."""

import datetime
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from articles.files.uploads import keep_upload, request_import
from articles.jobs.attached_copies import request_separation
from articles.jobs.kinds import KINDS
from articles.jobs.work import MOST_TRIES, cancel, do_job, requeue_lost_jobs
from articles.models import Article, AttachedCopy, Job, Newspaper, Removal
from articles.storage.locks import Lock, LockLostError
from articles.storage.renormalization import UpdatedBatch
from crawlers.models import Trial
from crawlers.requested.queue import request_crawl
from crawlers.requested.trials import look_for_sources, try_stored
from dedup.corpora import request_corpus
from dedup.detection.clustering.joins import joins_follow
from dedup.detection.runs.requests import Wanted, is_worker_alive, request_reextraction, request_run, schedule_night
from dedup.detection.runs.scope import Scope
from dedup.detection.types import SameAs
from dedup.forms.exports import CorpusForm
from dedup.models import CorpusPart, DetectionRun, Profile, StoredReport, Worker
from dedup.reports import REPORTS
from dedup.reports.computing import request_report
from dedup.research.lessons import ask_for_lesson
from dedup.review.rules.profiles import save_profile
from newsdedup_site.privacy.removal import begin_articles, request_removal
from tests.conftest import StoreArticle
from tests.crash.installation import ReadyCommands
from tests.databases import child_environment, database_url
from tests.dedup.runs.running import EVERYTHING, wait_until
from tests.dedup.views.test_profiles import fields_of
from tests.factories import attach_copy

pytestmark = pytest.mark.django_db(transaction=True)
State = Job.State
PATIENCE = 60
NOWHERE = "http://127.0.0.1:9/feed"
ROW = b'{"date": "2026-03-02", "headline": "A ferry", "url": "https://a.example/1", "text": "It sails at noon.", '
ROW += b'"newspaper": "Harbour Post"}\n'


def ask_for_a_report(user: User) -> None:
    request_report(REPORTS["overview"], Scope(), REPORTS["overview"].options_class(), user)


def ask_for_a_corpus(user: User) -> None:
    form = CorpusForm(QueryDict("format=jsonl.gz"))
    assert form.is_valid()
    request_corpus(form.stored, user)


def ask_for_clusters(user: User) -> None:
    profile = Profile.objects.get()
    profile.same_as = "states" if profile.same_as == "copies" else "copies"
    save_profile(profile, user=user)


def ask_for_a_night(_user: User) -> None:
    Profile.objects.update(nightly_at=datetime.time(2, 15))
    schedule_night(Profile.objects.get(), timezone.now() - datetime.timedelta(minutes=1))


def ask_for_an_import(user: User) -> None:
    request_import(keep_upload("articles.jsonl", [ROW], newspaper="", user=user), user)


def ask_for_a_removal(user: User) -> None:
    removal = Removal.objects.first() or begin_articles([Article.objects.get().pk], reason="He asked.", user=user)
    request_removal(removal, user=user)


def newspaper_with_a_feed() -> Newspaper:
    Newspaper.objects.update(feed_urls=[NOWHERE])
    return Newspaper.objects.get()


def ask_for_a_separation(user: User) -> None:
    attach_copy(Article.objects.get())
    request_separation(Newspaper.objects.get(), user)


class Case(NamedTuple):
    """How a job is asked for, the table at which its worker is killed, what is true after the next one, and its end."""

    ask: Callable[[User], object]
    table: str
    settled: Callable[[], bool]
    end: str = State.DONE


CASES = {
    "report": Case(ask_for_a_report, "articles_article", lambda: StoredReport.objects.get().computed_at is not None),
    "lesson": Case(
        ask_for_lesson,
        "dedup_decision",
        lambda: "at least 5 of each are needed" in Job.objects.get().error,
        State.FAILED,
    ),
    "run": Case(
        lambda user: request_run(Wanted(Profile.objects.get()), user=user),
        "dedup_evidence",
        lambda: DetectionRun.objects.get().state == "done",  # one run, which was resumed
    ),
    "night": Case(
        ask_for_a_night,
        "dedup_evidence",
        lambda: Profile.objects.get().nightly_due > timezone.now(),  # the night is lost, the next one is scheduled
        State.FAILED,
    ),
    "clusters": Case(ask_for_clusters, "dedup_profile", lambda: joins_follow(SameAs.COPIES)),
    "corpus": Case(ask_for_a_corpus, "dedup_corpuspart", lambda: CorpusPart.objects.count() == 3),
    "import": Case(ask_for_an_import, "articles_article", lambda: Article.objects.count() == 2),
    "reextraction": Case(
        lambda user: request_reextraction(Newspaper.objects.get(), user), "articles_article", lambda: True
    ),
    "removal": Case(
        ask_for_a_removal,
        "articles_article",
        lambda: Removal.objects.get().state == "done" and not Article.objects.exists(),
    ),
    "separation": Case(
        ask_for_a_separation,
        "articles_article",
        lambda: Article.objects.count() == 2 and not AttachedCopy.objects.exists(),
    ),
    "crawl": Case(
        lambda user: request_crawl([newspaper_with_a_feed()], user=user),
        "crawlers_pendinglink",
        lambda: "only failures" in Job.objects.get().error,
        State.FAILED,
    ),
    "discovery": Case(
        lambda user: look_for_sources(NOWHERE, user=user),
        "crawlers_trial",
        lambda: "this machine" in Job.objects.get().error,
        State.FAILED,
    ),
    "trial": Case(
        lambda user: try_stored(newspaper_with_a_feed(), user=user),
        "crawlers_trial",
        lambda: Trial.objects.get().results["sources"][0]["url"] == NOWHERE,
    ),
}

# Copies of a database share the numbers of its tables, and pg_locks shows the locks of all databases.
HERE = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"


def test_every_kind_of_job_is_killed_here() -> None:
    assert set(CASES) == set(KINDS)


@pytest.fixture(scope="module")
def workers(
    django_db_setup: None, django_db_blocker: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReadyCommands]:
    folder = tmp_path_factory.mktemp("workers")
    ready = ReadyCommands(os.environ | child_environment() | {"CRAWL_STATE_DIR": str(folder / "states")}, folder)
    yield ready
    ready.close()


def page_of(job: Job) -> str:
    client = Client()
    client.force_login(User.objects.get_or_create(username="root", is_superuser=True)[0])
    return client.get(f"/jobs/{job.pk}/").content.decode()


@contextmanager
def worker(workers: ReadyCommands, job: Job, signal_number: int) -> Iterator[None]:
    """Have a worker do a job, and end it by a signal, unless it ends by itself once nothing waits."""
    ended = []
    command = ["db_worker", "--no-startup-delay", *(["--batch"] if KINDS[job.kind].has_task else [])]
    thread = threading.Thread(target=lambda: ended.append(workers.run_armed(command)))
    thread.start()
    yield
    ends_itself = KINDS[job.kind].has_task and signal_number == signal.SIGTERM
    if workers.at_work and not ends_itself:
        os.kill(workers.at_work, signal_number)
    thread.join(PATIENCE)
    assert [command.status for command in ended] == [-signal.SIGKILL if signal_number == signal.SIGKILL else 0]


def do(job: Job, workers: ReadyCommands) -> None:
    with worker(workers, job, signal.SIGTERM):
        wait_until(lambda: not Job.objects.get(pk=job.pk).is_active)


def kill_at(table: str, job: Job, workers: ReadyCommands) -> None:
    """Kill a worker while it waits for a table, in the middle of its job."""
    waits = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass AND {HERE}"
    with psycopg.connect(database_url()) as other:
        other.execute(SQL("LOCK TABLE {}").format(Identifier(table)))
        with worker(workers, job, signal.SIGKILL):
            wait_until(lambda: other.execute(waits, [table]).fetchone() != (0,))
            assert workers.at_work
            assert requeue_lost_jobs() == 0  # its worker lives
    wait_until(has_no_session)


def has_no_session() -> bool:
    """Return whether the server has noticed that the worker is gone, and released its locks."""
    others = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid() AND {HERE}"
    with connection.cursor() as cursor:
        return cursor.execute(others).fetchone() == (0,)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if place else ()) for place, kind in enumerate(CASES)]
)
def test_a_job_whose_worker_is_killed_in_the_middle_is_done_by_the_next_one(
    kind: str, workers: ReadyCommands, store: StoreArticle
) -> None:
    store()
    CASES[kind].ask(User.objects.create_user("anna"))
    job = Job.objects.get(kind=kind)
    kill_at(CASES[kind].table, job, workers)
    assert Job.objects.get(state=State.RUNNING) == job
    assert "It was interrupted: its worker was killed" in page_of(job)
    assert (requeue_lost_jobs(), requeue_lost_jobs()) == (1, 0)
    assert "waiting for a worker" in page_of(job)
    do(job, workers)
    job.refresh_from_db()
    assert (job.state, CASES[kind].settled()) == (CASES[kind].end, True), job.error
    assert requeue_lost_jobs() == 0


@pytest.mark.parametrize("kind", CASES)
def test_a_job_that_kills_each_worker_is_given_up_and_blocks_nobody(kind: str, store: StoreArticle) -> None:
    store()
    user = User.objects.create_user("anna")
    CASES[kind].ask(user)
    job = Job.objects.get(kind=kind)
    for number in range(MOST_TRIES):
        Job.objects.filter(pk=job.pk, state=State.WAITING).update(state=State.RUNNING, tries=number + 1)
        requeue_lost_jobs()
    job.refresh_from_db()
    assert (job.state, "killed" in job.error) == (State.FAILED, True)
    assert not Profile.objects.filter(nightly_due__lt=timezone.now()).exists()
    assert "3 workers were killed while they did this" in page_of(job)
    CASES[kind].ask(user)
    assert Job.objects.filter(kind=kind, state=State.WAITING).exists()


def test_a_job_that_was_cancelled_or_is_unknown_is_not_put_back(store: StoreArticle) -> None:
    user = User.objects.create_user("anna")
    request_run(Wanted(Profile.objects.get()), user=user)
    job = Job.objects.get()
    Job.objects.update(state=State.RUNNING, tries=1)
    assert cancel(job, user)
    assert not cancel(job, user)
    Job.objects.create(kind="of a later version", state=State.RUNNING, tries=1)
    assert requeue_lost_jobs() == 0
    assert set(Job.objects.values_list("state", flat=True)) == {State.CANCELLED, State.FAILED}


def test_pages_are_extracted_again_with_progress_until_it_is_cancelled(
    store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    store()
    user, seen = User.objects.create_user("anna"), []
    request_reextraction(Newspaper.objects.get(), user)
    job = Job.objects.get()

    def batches(newspapers: list[Newspaper]) -> Iterator[UpdatedBatch]:
        for number in range(3):
            yield UpdatedBatch(articles=100, changed=number)
            job.refresh_from_db()
            seen.append((newspapers, job.done, job.total))
            if number == 1:
                cancel(job, user)

    monkeypatch.setattr("dedup.detection.runs.tasks.reextract", batches)
    do_job(job.pk)
    job.refresh_from_db()
    assert seen == [([Newspaper.objects.get()], 100, 0), ([Newspaper.objects.get()], 200, 0)]
    assert job.state == State.CANCELLED


@pytest.mark.parametrize("kind", ["import", "run"])
def test_a_job_whose_database_is_lost_is_put_back_at_once(
    kind: str, store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    store()
    CASES[kind].ask(User.objects.create_user("anna"))
    job = Job.objects.get()

    def lose_the_connection(*_: object, **__: object) -> None:
        with psycopg.connect(database_url(), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
        Article.objects.exists()

    for place in ("articles.files.uploads.import_rows", "dedup.detection.runs.tasks.run_detection"):
        monkeypatch.setattr(place, lose_the_connection)
    with pytest.raises(LockLostError):
        do_job(job.pk)
    connection.close()
    assert requeue_lost_jobs() == 1
    monkeypatch.undo()
    do_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.tries, CASES[kind].settled()) == (State.DONE, 2, True)


# ---- runs that were asked for on a page or by the clock ----


def ask_for(profile: Profile, **bounds: datetime.date) -> Job:
    user, _ = User.objects.get_or_create(username="anna")
    asked, _ = request_run(Wanted(profile, **bounds), user=user)
    assert isinstance(asked, Job)
    return asked


@pytest.mark.slow
def test_a_worker_runs_the_detection_for_the_user_who_asked(store: StoreArticle, workers: ReadyCommands) -> None:
    for paper in ("Harbour Post", "Inland Courier"):
        store("The ferry sails at noon on weekdays until the end of May.", newspaper=paper)
    Profile.objects.update(boilerplate="story")
    profile = Profile.objects.get()
    job = ask_for(profile, since=datetime.date(2026, 3, 1))
    do(job, workers)
    job.refresh_from_db()
    run = DetectionRun.objects.get()
    assert (job.state, job.result, job.page) == ("done", run.pk, f"/runs/{run.pk}/")
    assert (run.state, run.requested_by, run.profile, run.job) == ("done", job.requested_by, profile, job)
    assert run.scope == EVERYTHING | {"since": "2026-03-01", "boilerplate": "story"}
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
            wait_until(lambda: cursor.execute(waiting).fetchone()[0])
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
    """Set the time on the page, as people do."""
    profile = Profile.objects.get()
    client = Client()
    client.force_login(User.objects.get_or_create(username="root", is_staff=True, is_superuser=True)[0])
    address = reverse("profile", args=[profile.pk])
    answer = client.post(address, fields_of(client.get(address).context["form"]) | {"nightly_at": at or ""})
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


def test_a_worker_runs_what_is_due_on_new_articles_and_arranges_the_next_night(
    store: StoreArticle, workers: ReadyCommands
) -> None:
    store("The ferry sails at noon on weekdays until the end of May.")
    profile = set_nightly(datetime.time(2, 15))
    due = timezone.now() - datetime.timedelta(minutes=1)
    schedule_night(profile, datetime.datetime(2026, 1, 1, 2, 15, tzinfo=datetime.UTC))  # a time that was changed
    schedule_night(profile, due)
    store("The ferry sails at noon on weekdays until the end of May.", newspaper="Inland Courier")
    do(Job.objects.latest("pk"), workers)
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
