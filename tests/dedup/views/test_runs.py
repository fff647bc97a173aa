"""The runs, the page of one, and starting one."""

from __future__ import annotations

import datetime
import io
import re
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django_tasks_db.models import DBTaskResult

from dedup.models import DetectionRun, Profile, RunBlock
from dedup.passes import PASSES
from dedup.runs.pipeline import store_refused_run
from dedup.runs.scope import Scope
from tests.conftest import StoreArticle
from tests.factories import make_run, make_user
from tests.pages import notices

pytestmark = pytest.mark.django_db


def text_of(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def test_runs_and_the_page_of_one(editor_client: Client) -> None:
    run = make_run(error="out of memory", state=DetectionRun.State.FAILED)
    RunBlock.objects.create(
        run=run, pass_name="trigram", first_day="2026-03-01", last_day="2026-03-31", pairs=1234, seconds=1.5
    )

    assert f'href="/runs/{run.pk}/"' in text_of(editor_client, "/runs/")
    page = text_of(editor_client, f"/runs/{run.pk}/")
    for expected in ("out of memory", "failed", "threshold", "0.6", "1,234", "1.50", "1 Mar 2026 to 31 Mar 2026"):
        assert expected in page


def test_a_finished_run_shows_what_it_found_and_what_it_was_asked(editor_client: Client, store: StoreArticle) -> None:
    for paper in ("Harbour Post", "Inland Courier"):
        store("The ferry sails at noon on weekdays until the end of May.", newspaper=paper)
    call_command("find_duplicates", "--newspaper=Harbour Post", "--newspaper=Inland Courier", stdout=io.StringIO())
    page = text_of(editor_client, f"/runs/{DetectionRun.objects.get().pk}/")
    for expected in (
        "Harbour Post, Inland Courier",
        "Similar text",
        "All, each pair once",
        "50.0%",
    ):
        assert expected in page
    verdicts = ("duplicates", "new versions", "templates", "merely similar")
    assert re.findall(r"Pairs that are ([a-z ]+)", page) == list(verdicts)


def test_starting_a_run_is_for_admins(editor_client: Client) -> None:
    assert "Start a run" not in text_of(editor_client, "/runs/")
    text_of(editor_client, "/runs/new/", status=403)
    assert editor_client.post("/runs/new/").status_code == 403


def test_an_admin_starts_a_run(client: Client, store: StoreArticle) -> None:
    admin = make_user("ada", "admin")
    client.force_login(admin)
    newspaper = store().newspaper
    profile = Profile.objects.get(is_default=True)
    assert "manage.py db_worker" in text_of(client, "/runs/new/")
    asked = {"profile": profile.pk, "since": "2026-03-01", "until": "", "newspapers": [newspaper.pk]}

    assert client.post("/runs/new/", asked)["Location"] == "/runs/"
    assert DBTaskResult.objects.get().args_kwargs["kwargs"] == {
        "profile_id": profile.pk,
        "since": "2026-03-01",
        "until": None,
        "newspaper_ids": [newspaper.pk],
        "user_id": admin.pk,
        "new": False,
    }
    assert notices(text_of(client, "/runs/")) == [("success", [])]


def test_a_run_that_ends_before_it_begins_is_refused(client: Client) -> None:
    client.force_login(make_user("ada", "admin"))
    asked = {"profile": Profile.objects.get(is_default=True).pk, "since": "2026-03-02", "until": "2026-03-01"}
    answer = client.post("/runs/new/", asked)

    assert answer.status_code == 400
    assert "2026-03-01 is before 2026-03-02" in answer.content.decode()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"trigram": {"threshold": 7}},
            "default cannot be used: trigram: ",
        ),
        ({"simhash": {}}, "default cannot be used: there is no pass &#x27;simhash&#x27;"),
        (
            {name: {"enabled": False} for name in PASSES},
            "default has no pass enabled; ",
        ),
    ],
)
def test_a_profile_that_cannot_be_used_is_refused(client: Client, settings: dict[str, Any], message: str) -> None:
    client.force_login(make_user("ada", "admin"))
    profile = Profile.objects.get(is_default=True)
    Profile.objects.update(settings=settings)
    answer = client.post("/runs/new/", {"profile": profile.pk})

    assert answer.status_code == 400
    page = answer.content.decode()
    assert f'<div class="field-error" role="alert">{message}' in page
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
    assert "<dt>Passes</dt><dd>url, title</dd>" in page
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
