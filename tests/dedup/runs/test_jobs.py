"""What becomes of every kind of job whose worker is killed in the middle of it, by `kill -9`."""

from __future__ import annotations

import datetime
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from articles.files.uploads import keep_upload, request_import
from articles.jobs.kinds import KINDS
from articles.jobs.work import MOST_TRIES, cancel, do_job, put_back_lost_jobs
from articles.models import Article, Job, Newspaper, Removal
from articles.storage.locks import LockLostError
from dedup.detection.runs.reextraction import request_reextraction
from dedup.detection.runs.requests import Wanted, request_run, schedule_night
from dedup.detection.runs.scope import Scope
from dedup.forms.exports import CorpusForm
from dedup.models import CorpusPart, DetectionRun, Profile, StoredReport
from dedup.reports import REPORTS
from dedup.reports.tasks import request_report
from dedup.research.lessons import ask_for_lesson
from dedup.rows.corpus.kept import request_corpus
from newsdedup_site.privacy.removal import begin_articles
from newsdedup_site.privacy.tasks import request_removal
from tests.conftest import StoreArticle
from tests.crash.ready import ReadyCommands
from tests.databases import child_environment, database_url

pytestmark = pytest.mark.django_db(transaction=True)
State = Job.State
PATIENCE = 60
ROW = b'{"date": "2026-03-02", "headline": "A ferry", "url": "https://a.example/1", "text": "It sails at noon.", '
ROW += b'"newspaper": "Harbour Post"}\n'


def ask_for_a_report(user: User) -> None:
    request_report(REPORTS["overview"], Scope(), REPORTS["overview"].options_class(), user)


def ask_for_a_corpus(user: User) -> None:
    form = CorpusForm(QueryDict("format=jsonl.gz"))
    assert form.is_valid()
    request_corpus(form.stored, user)


def ask_for_a_night(_user: User) -> None:
    Profile.objects.update(nightly_at=datetime.time(2, 15))
    schedule_night(Profile.objects.get(), timezone.now() - datetime.timedelta(minutes=1))


def ask_for_an_import(user: User) -> None:
    request_import(keep_upload("articles.jsonl", [ROW], newspaper="", user=user), user)


def ask_for_a_removal(user: User) -> None:
    removal = Removal.objects.first() or begin_articles([Article.objects.get().pk], reason="He asked.", user=user)
    request_removal(removal, user=user)


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
}


def test_every_kind_of_job_is_killed_here() -> None:
    assert set(CASES) == set(KINDS)


@pytest.fixture(scope="module")
def workers(
    django_db_setup: None, django_db_blocker: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReadyCommands]:
    ready = ReadyCommands(os.environ | child_environment(), tmp_path_factory.mktemp("workers"))
    yield ready
    ready.close()


def page_of(job: Job) -> str:
    client = Client()
    client.force_login(User.objects.get_or_create(username="root", is_superuser=True)[0])
    return client.get(f"/jobs/{job.pk}/").content.decode()


def work(workers: ReadyCommands) -> None:
    ended = workers.run_armed(["db_worker", "--batch", "--no-startup-delay"])
    assert ended.status == 0, ended.errors


def kill_at(table: str, workers: ReadyCommands) -> None:
    """Kill a worker while it waits for a table, in the middle of its job."""
    ended = []
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    with psycopg.connect(database_url()) as other:
        other.execute(SQL("LOCK TABLE {}").format(Identifier(table)))
        command = ["db_worker", "--batch", "--no-startup-delay", "--worker-id", "killed"]
        thread = threading.Thread(target=lambda: ended.append(workers.run_armed(command)))
        thread.start()
        deadline = time.monotonic() + PATIENCE
        while other.execute(waits, [table]).fetchone() == (0,) and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        assert workers.at_work
        assert put_back_lost_jobs() == 0  # its worker lives
        os.kill(workers.at_work, signal.SIGKILL)
        thread.join(PATIENCE)
    assert [command.status for command in ended] == [-signal.SIGKILL]
    wait_for_its_session(deadline)


def wait_for_its_session(deadline: float) -> None:
    """Wait until the server has noticed that the worker is gone, and released its locks."""
    others = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        while cursor.execute(others).fetchone()[0] and time.monotonic() < deadline:
            threading.Event().wait(0.02)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if place else ()) for place, kind in enumerate(CASES)]
)
def test_a_job_whose_worker_is_killed_in_the_middle_is_done_by_the_next_one(
    kind: str, workers: ReadyCommands, store: StoreArticle
) -> None:
    store()
    CASES[kind].ask(User.objects.create_user("anna"))
    kill_at(CASES[kind].table, workers)
    job = Job.objects.get(kind=kind, state=State.RUNNING)
    assert "It was interrupted: its worker was killed" in page_of(job)
    assert (put_back_lost_jobs(), put_back_lost_jobs()) == (1, 0)
    assert "waiting for a worker" in page_of(job)
    work(workers)
    job.refresh_from_db()
    assert (job.state, CASES[kind].settled()) == (CASES[kind].end, True), job.error
    assert put_back_lost_jobs() == 0


@pytest.mark.parametrize("kind", CASES)
def test_a_job_that_kills_each_worker_is_given_up_and_blocks_nobody(kind: str, store: StoreArticle) -> None:
    store()
    user = User.objects.create_user("anna")
    CASES[kind].ask(user)
    job = Job.objects.get(kind=kind)
    for number in range(MOST_TRIES):
        Job.objects.filter(pk=job.pk, state=State.WAITING).update(state=State.RUNNING, tries=number + 1)
        put_back_lost_jobs()
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
    assert put_back_lost_jobs() == 0
    assert set(Job.objects.values_list("state", flat=True)) == {State.CANCELLED, State.FAILED}


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
    assert put_back_lost_jobs() == 1
    monkeypatch.undo()
    do_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.tries, CASES[kind].settled()) == (State.DONE, 2, True)
