"""The runs, the page of one, and starting one."""

import datetime
import io
import re

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from articles.models import Job
from articles.storage.locks import Lock
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.starting import store_refused_run
from dedup.models import DetectionRun, Profile, RunBlock, Worker
from tests.conftest import StoreArticle
from tests.databases import somebody_holds
from tests.factories import make_run, make_user
from tests.pages import notices, text_of

pytestmark = pytest.mark.django_db


def test_runs_and_the_page_of_one(editor_client: Client) -> None:
    run = make_run(error="out of memory", state=DetectionRun.State.FAILED)
    RunBlock.objects.create(
        run=run, pass_name="trigram", first_day="2026-03-01", last_day="2026-03-31", pairs=1234, seconds=1.5
    )

    listed = text_of(editor_client, "/runs/")
    assert f'href="/runs/{run.pk}/"' in listed
    assert "Start a run" not in listed  # which is for admins
    page = text_of(editor_client, f"/runs/{run.pk}/")
    for expected in ("out of memory", "failed", "threshold", "0.6", "1,234", "1.50", "1 Mar 2026 to 31 Mar 2026"):
        assert expected in page


def test_a_finished_run_shows_what_it_found_and_what_it_was_asked(editor_client: Client, store: StoreArticle) -> None:
    for paper in ("Harbour Post", "Inland Courier"):
        store("The ferry sails at noon on weekdays until the end of May.", newspaper=paper)
    call_command("find_duplicates", "--newspaper=Harbour Post", "--newspaper=Inland Courier", stdout=io.StringIO())
    page = text_of(editor_client, f"/runs/{DetectionRun.objects.get().pk}/")
    for expected in ("Harbour Post, Inland Courier", "Similar text", "All, each pair once", "50.0%"):
        assert expected in page
    verdicts = ("duplicates", "new versions", "templates", "merely similar")
    assert re.findall(r"Pairs that are ([a-z ]+)", page) == list(verdicts)


def test_an_admin_queues_a_run_once_and_takes_it_back(client: Client, store: StoreArticle) -> None:
    admin = make_user("ada", "admin")
    client.force_login(admin)
    newspaper = store().newspaper
    profile = Profile.objects.get(is_default=True)
    assert "No worker answers" in text_of(client, "/runs/new/")
    wanted = {"profile": profile.pk, "since": "2026-03-01", "until": "", "newspapers": [newspaper.pk]}

    address = client.post("/runs/new/", wanted)["Location"]
    asked = Job.objects.get()
    assert address == f"/jobs/{asked.pk}/"
    assert asked.arguments == {
        "profile": profile.pk, "since": "2026-03-01", "until": None, "newspapers": [newspaper.pk], "new": False
    }  # fmt: skip
    page = text_of(client, address)
    assert [kind for kind, _ in notices(page)] == ["success", "warning"]
    for expected in ("manage.py db_worker", "ada", "2026-03-01", "Harbour Post", f'hx-get="{address}state/"'):
        assert expected in page
    assert address in text_of(client, "/runs/")

    again = client.post("/runs/new/", wanted, follow=True)
    assert (again.redirect_chain[0][0], DBTaskResult.objects.count()) == (address, 1)
    assert "already waits for a worker. It was not queued again." in again.content.decode()
    # Another scope is another run.
    assert client.post("/runs/new/", wanted | {"new": "on"})["Location"] != address

    Worker.objects.create(name="one", seen_at=timezone.now())
    assert "A worker begins as soon as it can" in text_of(client, f"{address}state/")
    assert client.post(f"{address}cancel/")["Location"] == address
    assert [job.arguments["new"] for job in Job.objects.filter(state="waiting")] == [True]
    assert DBTaskResult.objects.count() == 1
    assert client.get(f"{address}state/")["HX-Refresh"] == "true"


def test_cancelling_a_job_cancels_its_run(client: Client) -> None:
    admin = make_user("ada", "admin")
    client.force_login(admin)
    address = client.post("/runs/new/", {"profile": Profile.objects.get().pk})["Location"]
    job = Job.objects.get()
    run = make_run(state=DetectionRun.State.RUNNING, finished_at=None, job=job)
    Job.objects.update(state="running", tries=1, page=f"/runs/{run.pk}/")
    assert f'href="/runs/{run.pk}/"' in text_of(client, f"{address}state/")
    assert address not in text_of(client, "/runs/")
    with somebody_holds(Lock.RUN):
        assert client.post(f"{address}cancel/")["Location"] == f"/runs/{run.pk}/"
    run.refresh_from_db()
    assert (run.state, run.cancelled_by) == ("running", admin)


def test_the_phases_of_a_run_under_way(client: Client, django_assert_max_num_queries) -> None:
    client.force_login(make_user("ada", "admin"))
    scope = {"since": None, "until": None, "newspapers": None, "passes": None, "newer_than": None}
    run = make_run(state=DetectionRun.State.RUNNING, finished_at=None, scope=scope)
    for position, (name, state, total, done, seconds) in enumerate(
        [
            ("shingles", "done", 8000, 8000, 2.5),
            ("trigram", "running", 8000, 2000, 30.0),
            ("sentence", "running", 8000, 0, 0.0),
            ("clusters", "ahead", None, 0, 0.0),
        ]
    ):
        run.phases.create(name=name, position=position, state=state, total=total, done=done, found=7, seconds=seconds)
    with somebody_holds(Lock.RUN):
        with django_assert_max_num_queries(16):
            page = text_of(client, f"/runs/{run.pk}/")
        rows = re.findall(r'<tr class="phase-(\w+)">\s*<th scope="row">([^<]+)', page)
        assert rows == [
            ("done", "Shingle index"), ("running", "Similar text"), ("ahead", "Shared sentences"), ("ahead", "Clusters")
        ]  # fmt: skip
        assert "2,000 of 8,000 articles, 7 pairs; about 90 seconds left" in re.sub(
            r"about 2 minutes", "about 90 seconds", page
        )
        assert "32.5" in page
        assert f'hx-get="/runs/{run.pk}/phases/"' in text_of(client, f"/runs/{run.pk}/phases/")
        # The same run is not queued while it goes on.
        answer = client.post("/runs/new/", {"profile": Profile.objects.get().pk})
        assert (answer["Location"], Job.objects.count()) == (f"/runs/{run.pk}/", 0)
    # Nobody works on it any more.
    assert client.get(f"/runs/{run.pk}/phases/")["HX-Refresh"] == "true"
    page = text_of(client, f"/runs/{run.pk}/")
    assert "No process works on this run any more" in page
    assert "every 2s" not in page
    client.post(f"/runs/{run.pk}/cancel/")
    run.refresh_from_db()
    assert (run.state, run.error) == ("interrupted", "Cancelled by ada, when no process worked on it any more.")
    assert "has ended already" in client.post(f"/runs/{run.pk}/cancel/", follow=True).content.decode()


def test_a_profile_that_cannot_be_used_is_refused(client: Client) -> None:
    client.force_login(make_user("ada", "admin"))
    Profile.objects.update(settings={"simhash": {}})
    answer = client.post("/runs/new/", {"profile": Profile.objects.get(is_default=True).pk})

    assert answer.status_code == 400
    message = "default cannot be used: there is no pass &#x27;simhash&#x27;"
    assert f'<div class="field-error" role="alert">{message}' in answer.content.decode()
    assert not DBTaskResult.objects.exists()


def test_a_run_that_could_not_begin(editor_client: Client) -> None:
    refused = store_refused_run(
        Scope(passes=("url", "title")),
        "another run is active",
        profile=Profile.objects.get(is_default=True),
        user_id=None,
    )
    page = text_of(editor_client, f"/runs/{refused.pk}/")

    assert "another run is active" in page
    assert "<dt>Passes</dt><dd>Same URL, Same headline</dd>" in page
    assert "Settings of this run" not in page


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 seconds"), (1, "1 second"), (10, "10 seconds"), (119, "119 seconds"), (120, "2\xa0minutes")],
)
def test_how_long_a_run_took(editor_client: Client, seconds: int, text: str) -> None:
    run = make_run()
    run.finished_at = run.started_at + datetime.timedelta(seconds=seconds)
    run.save()
    page = text_of(editor_client, f"/runs/{run.pk}/")

    assert f"({text})" in page
    assert "<dt>Passes</dt><dd>all</dd>" in page
