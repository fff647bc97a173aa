"""The list of reports and the page of one."""

from __future__ import annotations

import pytest
from django.test import Client

from articles.models import Newspaper
from dedup.reports import REPORTS
from dedup.reports.exact import ExactReport
from tests.conftest import StoreArticle

pytestmark = pytest.mark.django_db


def test_the_list_names_each_report_and_runs_none(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExactReport, "result", lambda *_: pytest.fail("the list ran a report"))
    page = editor_client.get("/reports/").content.decode()
    assert all(f'href="/reports/{name}/"' in page and report.label in page for name, report in REPORTS.items())


def test_options_stay_in_the_address_of_the_files(editor_client: Client, store: StoreArticle) -> None:
    store("The ferry sails.", newspaper="Harbour Post", date="2026-03-02")
    store("The ferry sails.", newspaper="Inland Courier", date="2026-03-03")
    paper = Newspaper.objects.get(name="Harbour Post")
    query = f"since=2026-03-01&until=2026-03-02&newspapers={paper.pk}"
    page = editor_client.get(f"/reports/exact/?{query}")

    assert page.context["summary"].startswith("0 of 1 articles (0.00%)")
    assert f"/reports/exact.csv?{query.replace('&', '&amp;')}" in page.content.decode()
    assert editor_client.get(f"/reports/exact.json?{query}").json()["exact"]["articles"] == 1
    csv = editor_client.get(f"/reports/exact.csv?{query}")
    assert csv["Content-Disposition"] == 'attachment; filename="exact.csv"'
    assert csv.content.decode().splitlines()[:2] == [
        '"table","repeated","groups","articles","share"',
        '"exact","the same headline",0,0,0.0',
    ]


def test_what_makes_no_sense_is_refused(editor_client: Client) -> None:
    page = editor_client.get("/reports/exact/?since=2026-03-02&until=2026-03-01")
    assert page.status_code == 400
    assert "2026-03-01 is before 2026-03-02" in page.content.decode()
    assert "Nothing was computed." in page.content.decode()
    assert editor_client.get("/reports/exact.json?newspapers=0").status_code == 400
    for address in ("/reports/nothing/", "/reports/nothing.csv", "/reports/nothing.json"):
        assert editor_client.get(address).status_code == 404
