"""What becomes of every kind of task whose worker is killed in the middle of it, by `kill -9`."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from django_tasks.base import Task, TaskResultStatus
from django_tasks_db.models import DBTaskResult
from psycopg.sql import SQL, Identifier

from articles.files.uploads import keep_upload
from articles.models import Article, FileImport, Newspaper, Removal
from dedup.detection.runs.imports import request_import
from dedup.detection.runs.lost_tasks import MOST_WORKERS, RECOVERIES, put_back_lost_tasks
from dedup.detection.runs.reextraction import request_reextraction
from dedup.models import Worker
from newsdedup_site.privacy.removal import begin_articles
from newsdedup_site.privacy.tasks import request_removal
from tests.conftest import StoreArticle
from tests.crash.ready import ReadyCommands
from tests.databases import child_environment, database_url
from tests.forked import CHECKOUT

pytestmark = pytest.mark.django_db(transaction=True)

ROW = b'{"date": "2026-03-02", "headline": "A ferry", "url": "https://a.example/1", "text": "It sails at noon.", '
ROW += b'"newspaper": "Harbour Post"}\n'
PATIENCE = 60


class Kind:
    """A kind of task: how one is asked for, and the table at which its worker waits when it is killed.

    `settled`: what is true after the next worker. `ended`: the status of the task then. `at_once`: a lock shows that it
    was left, before its worker is known to be gone.
    """

    def __init__(
        self,
        path: str,
        ask: Callable[[User], object],
        table: str,
        settled: Callable[[], bool],
        ended: TaskResultStatus = TaskResultStatus.SUCCESSFUL,
        *,
        at_once: bool = False,
    ) -> None:
        self.path, self.ask, self.table, self.settled, self.ended = path, ask, table, settled, ended
        self.at_once = at_once


def ask_for_an_import(user: User) -> None:
    request_import(keep_upload("articles.jsonl", [ROW], newspaper="", user=user))


def ask_for_a_removal(user: User) -> None:
    request_removal(begin_articles([Article.objects.get().pk], reason="The author asked.", user=user))


def ask_for_a_watch(user: User) -> None:
    ask_for_a_removal(user)
    DBTaskResult.objects.filter(task_path__endswith="removal_task").delete()
    DBTaskResult.objects.update(run_after=timezone.now())


KINDS = (
    Kind(
        "dedup.detection.runs.imports.import_task",
        ask_for_an_import,
        "articles_article",
        lambda: FileImport.objects.get().state == "finished" and Article.objects.count() == 2,
        at_once=True,
    ),
    Kind(
        "dedup.detection.runs.reextraction.reextract_task",
        lambda _user: request_reextraction(Newspaper.objects.get()),
        "articles_article",
        lambda: True,
    ),
    Kind(
        "newsdedup_site.privacy.tasks.removal_task",
        ask_for_a_removal,
        "articles_article",
        lambda: Removal.objects.get().state == "done" and not Article.objects.exists(),
    ),
    Kind(
        "newsdedup_site.privacy.tasks.watch_task",
        ask_for_a_watch,
        "articles_removal",
        lambda: DBTaskResult.objects.filter(task_path__endswith="watch_task", status="READY").count() == 1,
    ),
)


def declared_tasks() -> set[str]:
    """Return the paths of all tasks of the project, by looking for their decorator in its files."""
    found = subprocess.run(
        ["git", "grep", "-lE", "^@task", "--", "*.py", ":!tests"],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    )
    # The one task of all jobs is killed in test_jobs.py.
    paths = set(found.stdout.split()) - {"articles/jobs/work.py"}
    modules = [import_module(path.removesuffix(".py").replace("/", ".")) for path in paths]
    return {thing.module_path for module in modules for thing in vars(module).values() if isinstance(thing, Task)}


def test_every_kind_of_task_says_what_becomes_of_it_and_is_killed_here() -> None:
    assert declared_tasks() == set(RECOVERIES) == {kind.path for kind in KINDS}


@pytest.fixture(scope="module")
def workers(
    django_db_setup: None, django_db_blocker: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReadyCommands]:
    ready = ReadyCommands(os.environ | child_environment(), tmp_path_factory.mktemp("workers"))
    yield ready
    ready.close()


def work(workers: ReadyCommands) -> None:
    ended = workers.run_armed(["db_worker", "--batch", "--no-startup-delay"])
    assert ended.status == 0, ended.errors


def kill_at(table: str, workers: ReadyCommands) -> None:
    """Kill a worker while it waits for a table, in the middle of its task."""
    ended = []
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    with psycopg.connect(database_url()) as other:
        other.execute(SQL("LOCK TABLE {}").format(Identifier(table)))
        command = ["db_worker", "--batch", "--no-startup-delay", "--worker-id", "killed"]
        thread = threading.Thread(target=lambda: ended.append(workers.run_armed(command)))
        thread.start()
        deadline = time.monotonic() + PATIENCE
        while not other.execute(waits, [table]).fetchone()[0] and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        os.kill(workers.at_work, signal.SIGKILL)
        thread.join(PATIENCE)
    assert [each.status for each in ended] == [-signal.SIGKILL]
    wait_for_its_session(deadline)


def wait_for_its_session(deadline: float) -> None:
    """Wait until the server has noticed that the worker is gone, and released its locks."""
    others = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        while cursor.execute(others).fetchone()[0] and time.monotonic() < deadline:
            threading.Event().wait(0.02)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.path.rpartition(".")[2] for kind in KINDS])
def test_a_task_whose_worker_is_killed_in_the_middle_is_done_by_the_next_one(
    kind: Kind, workers: ReadyCommands, store: StoreArticle
) -> None:
    store()
    kind.ask(User.objects.create_user("anna"))
    kill_at(kind.table, workers)
    task = DBTaskResult.objects.get(task_path=kind.path, worker_ids=["killed"])
    assert put_back_lost_tasks() == int(kind.at_once)  # any other may be alive
    assert task.status == TaskResultStatus.RUNNING

    Worker.objects.update(seen_at=timezone.now() - datetime.timedelta(seconds=31))
    put_back_lost_tasks()
    work(workers)
    task.refresh_from_db()
    assert (task.status, kind.settled()) == (kind.ended, True), task.traceback
    assert put_back_lost_tasks() == 0


@pytest.mark.parametrize("kind", KINDS, ids=[kind.path.rpartition(".")[2] for kind in KINDS])
def test_a_task_that_kills_each_worker_is_given_up_and_blocks_nobody(kind: Kind, store: StoreArticle) -> None:
    store()
    user = User.objects.create_user("anna")
    kind.ask(user)
    for number in range(MOST_WORKERS):
        task = DBTaskResult.objects.get(task_path=kind.path)
        task.claim(f"killed {number}")
        put_back_lost_tasks()
    task.refresh_from_db()
    assert (task.status, "workers were killed" in task.traceback) == (TaskResultStatus.FAILED, True)
    if kind.ask not in (ask_for_a_removal, ask_for_a_watch):  # there is one article, whose removal goes on
        kind.ask(user)
        assert DBTaskResult.objects.filter(task_path=kind.path, status=TaskResultStatus.READY).exists()
