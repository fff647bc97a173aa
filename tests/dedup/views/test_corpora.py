"""Corpora that a worker writes: asked for on the page of exports, watched, downloaded, cancelled, forgotten."""

import datetime
import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from articles.jobs import work as jobs
from articles.jobs.work import cancel as cancel_job
from articles.jobs.work import do_job
from articles.models import Article, Job
from dedup import corpora
from dedup.models import CorpusExport, CorpusPart
from newsdedup_site.privacy.removal import withhold
from newsdedup_site.privacy.retention import watch
from tests.commands import called, work
from tests.conftest import StoreArticle
from tests.factories import client_of, make_cluster, make_run, make_user

pytestmark = pytest.mark.django_db
State = Job.State


@pytest.fixture
def archive(store: StoreArticle) -> list[Article]:
    """Four articles, two of which are copies, after a run."""
    papers = ("Harbour Post", "Harbour Post", "Inland Courier", "Valley Sun")
    stored = [store(headline=f"ferry {number}", newspaper=paper) for number, paper in enumerate(papers)]
    make_cluster(*stored[:2])
    make_run(counts={"articles": 4, "passes": {"trigram": {"pairs": 1}}})
    return stored


@pytest.fixture(autouse=True)
def _one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection that stores the progress does not see what a test has stored; on a slow machine it would look."""
    monkeypatch.setattr(jobs, "STORED_EVERY", 600.0)


@pytest.fixture
def vera() -> Client:
    return client_of(make_user("vera", "viewer"))


def ask(client: Client, query: str = "format=csv.gz") -> CorpusExport:
    answer = client.post(f"/exports/corpus/new/?{query}", follow=True)
    return CorpusExport.objects.get(pk=answer.context["export"].pk)


def page_of(client: Client, export: CorpusExport) -> str:
    return str(client.get(f"/exports/corpus/{export.pk}/").content.decode())


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("format=csv.gz", ["keep-syndication"]),
        ("format=parquet&policy=one-per-cluster&since=2026-01-01", ["one-per-cluster", "--since", "2026-01-01"]),
        ("format=jsonl.gz&boilerplate=topic", ["keep-syndication", "--boilerplate", "topic"]),
    ],
)
def test_the_files_of_a_worker_are_those_of_the_command_byte_by_byte(
    query: str,
    options: list[str],
    archive: list[Article],
    vera: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(corpora, "PART_BYTES", 300)
    export = ask(vera, query)
    assert "waiting for a worker" in page_of(vera, export)
    assert f'hx-get="/jobs/{export.job_id}/state/"' in page_of(vera, export)
    work()
    export = CorpusExport.objects.get()
    assert (export.job.state, export.job.total, export.job.done, export.job.error) == (State.DONE, 4, 4, "")
    ending = export.asked["format"]
    called("export_corpus", "--policy", *options, "--output", tmp_path / f"corpus.{ending}", "--no-progress")
    assert [file["content"] for file in export.files] == ["corpus", "removed", "description"]
    for file in export.files:
        answer = vera.get(f"/exports/corpus/{export.pk}/files/{file['content']}/")
        sent = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
        assert sent == (tmp_path / file["name"]).read_bytes()
        assert answer["Content-Length"] == str(len(sent)) == str(file["bytes"])
        assert answer["Content-Disposition"] == f'attachment; filename="{file["name"]}"'
    assert export.parts.filter(content="corpus").count() > 1
    described = json.loads((tmp_path / "corpus.json").read_text())
    assert described == export.description
    page = page_of(vera, export)
    assert "every 2s" not in page
    for shown in ("We searched 4 articles of 3 newspapers", described["columns"]["corpus"][4]["meaning"]):
        assert shown in page


def test_corpora_are_listed_and_one_that_is_under_way_is_not_written_twice(
    archive: list[Article], vera: Client, django_assert_max_num_queries: Any
) -> None:
    ada = client_of(make_user("ada", "admin"))
    first = ask(vera)
    assert ask(vera) == ask(ada) == first
    assert Job.objects.count() == 1
    others = [ask(vera, f"policy={policy}") for policy in ("keep-all", "one-per-cluster")]
    with django_assert_max_num_queries(10):
        listed = vera.get("/exports/").content.decode()
    assert all(f'href="/exports/corpus/{made.pk}/"' in listed for made in (first, *others))
    refused = vera.post("/exports/corpus/new/?policy=drop-all-copies", follow=True).content.decode()
    assert "3 of your exports are under way; wait for one, or cancel one." in refused
    assert ask(ada, "policy=drop-all-copies")
    work()
    assert set(Job.objects.values_list("state", flat=True)) == {State.DONE}
    assert ask(vera) != first


def test_only_who_asked_or_an_admin_ends_a_corpus_and_nothing_of_it_stays(archive: list[Article], vera: Client) -> None:
    export = ask(vera)
    other, admin = client_of(make_user("mara", "editor")), client_of(make_user("ada", "admin"))
    drop = f"/exports/corpus/{export.pk}/drop/"
    assert other.post(drop).status_code == 403
    assert "Cancel</button>" not in page_of(other, export)
    admin.post(drop)
    work()
    job = Job.objects.get()
    assert (job.state, job.started_at) == (State.CANCELLED, None)
    assert "Start again" in page_of(vera, export)

    again = ask(vera)
    work()
    assert CorpusPart.objects.filter(export=again).exists()
    vera.post(f"/exports/corpus/{again.pk}/drop/")
    assert not CorpusExport.objects.filter(pk=again.pk).exists()
    assert vera.get(f"/exports/corpus/{again.pk}/files/articles/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_corpus_that_is_cancelled_while_it_is_written_leaves_nothing(
    archive: list[Article], vera: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ask(vera)
    monkeypatch.setattr(jobs, "STORED_EVERY", 0.01)

    def cancel() -> None:
        cancel_job(export.job)
        connection.close()

    def methods(_part: Any) -> str:
        thread = threading.Thread(target=cancel)
        thread.start()
        thread.join()
        return "methods"

    monkeypatch.setattr("dedup.corpora.methods_of", methods)
    do_job(export.job_id)
    export = CorpusExport.objects.get()
    assert (export.job.state, export.files, export.parts.count()) == (State.CANCELLED, [], 0)


def full_disk() -> None:
    """Have PostgreSQL say of each part that its disk is full."""
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
            CREATE TRIGGER full_disk BEFORE INSERT ON dedup_corpuspart EXECUTE FUNCTION full_disk();
        """)


def test_a_fault_is_one_sentence_with_a_remedy(
    archive: list[Article], store: StoreArticle, vera: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ask(vera)
    full_disk()
    work()
    assert (
        "The disk of the database is full (could not extend file: No space left on device"
        in page_of(vera, export).split('role="alert"')[1]
    )
    assert "make room there. Nothing of it was kept; then start it again." in page_of(vera, export)
    assert not CorpusPart.objects.exists()

    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    refused = vera.post("/exports/corpus/new/?format=parquet", follow=True).content.decode()
    assert "Nothing was started: the package pyarrow is needed and not installed; install it" in refused
    assert vera.post("/exports/corpus/new/?policy=best").status_code == 302
    assert CorpusExport.objects.count() == 1


def expire(_export: CorpusExport, _archive: list[Article], monkeypatch: pytest.MonkeyPatch) -> None:
    Job.objects.update(finished_at=timezone.now() - datetime.timedelta(days=7, minutes=1))

    class Once:
        looks: Iterator[bool] = iter((False, True))

        def wait(self, _seconds: float) -> bool:
            return next(self.looks)

        def is_set(self) -> bool:
            return False

    monkeypatch.setattr(connection, "close", lambda: None)
    watch(Once())  # type: ignore[arg-type]


def withhold_one(_export: CorpusExport, archive: list[Article], _monkeypatch: pytest.MonkeyPatch) -> None:
    withhold(archive[0].pk, reason="A dispute")


@pytest.mark.parametrize("forget", [expire, withhold_one])
def test_files_go_after_their_days_and_when_an_article_is_withheld(
    forget: Callable[..., None], archive: list[Article], vera: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ask(vera)
    work()
    forget(export, archive, monkeypatch)
    assert not CorpusExport.objects.exists()
    assert not CorpusPart.objects.exists()
