"""Imports and runs from a page that a kill or a lost database left in the middle go on by themselves, once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult
from psycopg.sql import SQL, Literal

from articles.files import uploads
from articles.models import Article, FileImport
from articles.storage.locks import Lock, LockLostError
from dedup.detection.runs import tasks
from dedup.detection.runs.imports import request_import
from dedup.detection.runs.lost_tasks import MOST_WORKERS, put_back_lost_tasks
from dedup.detection.runs.requests import Wanted, cancel_run, request_run
from dedup.models import DetectionRun, Profile, Worker
from tests.databases import child_environment, database_url
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)
ROWS = [
    {"date": "2026-03-02", "url": f"https://paper.example/{number}", "text": f"The ferry {number} sails at noon."}
    for number in range(3)
]


def an_import() -> None:
    file = "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
    assert request_import(uploads.keep_upload("a.jsonl", [file], newspaper="Post", user=make_user("ada", "admin")))


def a_run() -> None:
    request_run(Wanted(Profile.objects.get()), user=make_user("ada", "admin"))


def states() -> set[str]:
    """Return the state of the import, or that of the run."""
    return {*FileImport.objects.values_list("state", flat=True), *DetectionRun.objects.values_list("state", flat=True)}


def be_killed() -> None:
    raise SystemExit


def lose_the_connection() -> None:
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
    Article.objects.exists()


@pytest.fixture
def leave(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], DBTaskResult]:
    """Take the task that waits as the worker "dead" does, which gives a sign of life, and end in the middle."""

    def leave_in_the_middle(how: Callable[[], None]) -> DBTaskResult:
        Worker.objects.update_or_create(name="dead", defaults={"seen_at": timezone.now()})
        task = DBTaskResult.objects.get()
        task.claim("dead")
        with monkeypatch.context() as patched:
            patched.setattr(uploads, "import_rows", lambda *_, **__: how())
            patched.setattr(tasks, "run_detection", lambda *_, **__: how())
            try:
                task.task.call(**task.args_kwargs["kwargs"])
            except SystemExit:
                connection.close()
            except LockLostError as error:
                connection.close()
                task.set_failed(error)
        return task

    return leave_in_the_middle


def page() -> str:
    client = Client()
    client.force_login(get_user_model().objects.get())
    kept, run = FileImport.objects.first(), DetectionRun.objects.first()
    address = reverse("import", args=[kept.pk]) if kept else reverse("run", args=[run.pk] if run else [])
    return client.get(address).content.decode()


@pytest.mark.parametrize("how", [be_killed, lose_the_connection])
@pytest.mark.parametrize("asked", [an_import, a_run])
def test_what_was_left_in_the_middle_goes_on_by_itself_at_once_and_once(
    asked: Callable[[], None], how: Callable[[], None], leave: Callable[[Callable[[], None]], DBTaskResult]
) -> None:
    asked()
    task = leave(how)
    assert states() == {"running"}
    assert "A worker resumes it" in page()
    assert (put_back_lost_tasks(), put_back_lost_tasks()) == (1, 0)
    assert ("waiting for a worker" if asked is an_import else "put back into the queue") in page()
    worker = [sys.executable, "manage.py", "db_worker", "--batch", "--no-startup-delay"]
    subprocess.run(worker, env=os.environ | child_environment(), check=True, capture_output=True, timeout=120)
    task.refresh_from_db()
    assert (task.status, states()) == (TaskResultStatus.SUCCESSFUL, {"finished" if asked is an_import else "done"})
    assert Article.objects.count() == (len(ROWS) if asked is an_import else 0)
    assert (put_back_lost_tasks(), DetectionRun.objects.count()) == (0, 1 if asked is a_run else 0)


@pytest.mark.parametrize("asked", [an_import, a_run])
def test_what_a_process_is_at_is_not_begun_again_however_silent_its_worker_is(
    asked: Callable[[], None], leave: Callable[[Callable[[], None]], DBTaskResult]
) -> None:
    asked()
    task = leave(be_killed)
    Worker.objects.all().delete()
    keys = (Lock.IMPORT, task.args_kwargs["kwargs"]["number"]) if asked is an_import else (Lock.RUN,)
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute(SQL("SELECT pg_advisory_lock({})").format(SQL(", ").join(map(Literal, map(int, keys)))))
        assert put_back_lost_tasks() == 0
        assert "resumes it" not in page()
    assert put_back_lost_tasks() == 1


@pytest.mark.parametrize("asked", [an_import, a_run])
def test_what_kills_each_worker_is_given_up(
    asked: Callable[[], None], leave: Callable[[Callable[[], None]], DBTaskResult]
) -> None:
    asked()
    for _ in range(MOST_WORKERS - 1):
        leave(be_killed)
        assert put_back_lost_tasks() == 1
    leave(be_killed)
    assert put_back_lost_tasks() == 0
    assert states() == {"failed"}
    assert f"{MOST_WORKERS} workers were killed while they did this" in page()
    Worker.objects.all().delete()
    assert put_back_lost_tasks() == 0


def test_what_somebody_started_again_or_cancelled_meanwhile_is_left_alone(
    leave: Callable[[Callable[[], None]], DBTaskResult],
) -> None:
    an_import()
    leave(be_killed)
    assert request_import(FileImport.objects.get())
    assert states() == {"waiting"}
    FileImport.objects.all().delete()
    DBTaskResult.objects.all().delete()
    user = get_user_model().objects.get()
    request_run(Wanted(Profile.objects.get()), user=user)
    leave(be_killed)
    assert cancel_run(DetectionRun.objects.get(), user=user)
    Worker.objects.all().delete()
    assert (put_back_lost_tasks(), states()) == (0, {"interrupted"})
