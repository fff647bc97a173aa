"""Results of reports that are kept: at the end of a run, by a worker, and for the next reader."""

from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from lxml import etree

from articles.jobs.work import do_job
from articles.models import Article
from dedup.detection.runs.scope import Scope
from dedup.models import DetectionRun, StoredReport
from dedup.reports import REPORTS, computing
from dedup.reports.base import Chart, File, Report, ReportError
from dedup.reports.columns import NUMBER, TEXT, Linked, Table, listed
from dedup.reports.drawing import alt
from tests.commands import called, printed
from tests.conftest import StoreArticle

pytestmark = pytest.mark.django_db

SVG = "{http://www.w3.org/2000/svg}"


class SlowReport(Report, name="slow", label="Slow", heavy_from=1, after_run=True):
    """Counts slowly."""

    def result(self, scope: Scope, options: Any) -> dict[str, int]:  # noqa: ARG002 - it has none
        return {"articles": Article.objects.count()}

    def summary(self, result: dict[str, int]) -> str:
        return f"{result['articles']} articles."

    def tables(self, result: dict[str, int]) -> list[Table]:
        row = (Linked("articles", "/articles/"), result["articles"] / 2)
        return [listed("all", "All", [row], ("what", "What", TEXT), ("half", "Half", NUMBER))]

    def charts(self, result: dict[str, int]) -> list[Chart]:
        values = [{"what": '<b>"&', "articles": result["articles"], "address": "/articles/?a=1&b=2"}]
        bars = alt.Chart(alt.Data(values=values)).mark_bar().encode(x="articles:Q", y="what:N", href="address:N")
        return [Chart("bars", "Articles <all>", "One bar.", bars), Chart("again", "Again", "Two.", bars.mark_point())]

    def files(self, result: dict[str, int]) -> list[File]:
        return [File("all.txt", "text/plain", "Text", f"{result['articles']}\n")]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, store: StoreArticle) -> SlowReport:
    report = SlowReport()
    monkeypatch.setitem(REPORTS, "slow", report)
    store()
    return report


def test_a_heavy_report_waits_for_a_worker_and_its_page_shows_what_it_counted(
    slow: SlowReport, editor_client: Client, visitor: Client, store: StoreArticle
) -> None:
    assert "has not been computed yet" in editor_client.get("/reports/slow/").content.decode()
    assert editor_client.get("/reports/slow.csv").status_code == 400
    assert visitor.post("/reports/slow/count/").status_code == 403
    for _ in range(2):
        assert editor_client.post("/reports/slow/count/").status_code == 302
    stored = StoredReport.objects.get()
    assert stored.job
    assert "No worker answers. The report waits for one." in editor_client.get("/reports/slow/").content.decode()
    assert "HX-Refresh" not in editor_client.get(f"/jobs/{stored.job_id}/state/").headers

    do_job(stored.job_id)
    assert editor_client.get(f"/jobs/{stored.job_id}/state/").headers["HX-Refresh"] == "true"
    page = editor_client.get("/reports/slow/").content.decode()
    assert '<p class="says" role="status">1 articles.</p>' in page
    assert '<a href="/articles/">articles</a>' in page
    assert ">0.50</td>" in page
    assert "Nothing has changed since." in page
    assert editor_client.get("/reports/slow/files/all.txt").content == b"1\n"

    store("Another one.")
    assert "Since then: 1 new or changed article." in editor_client.get("/reports/slow/").content.decode()
    assert "2 articles." in printed("slow")
    assert "2 articles." in editor_client.get("/reports/slow/").content.decode()


def test_a_small_archive_needs_no_worker(
    slow: SlowReport, editor_client: Client, store: StoreArticle, monkeypatch: Any
) -> None:
    monkeypatch.setattr(SlowReport, "heavy_from", 3)
    assert "1 articles." in editor_client.get("/reports/slow/").content.decode()
    store("Another one.")
    assert "2 articles." in editor_client.get("/reports/slow/").content.decode()
    store("A third one.")
    # Now it waits to be asked for.
    assert "Since then: 1 new or changed article." in editor_client.get("/reports/slow/").content.decode()
    assert editor_client.get("/reports/slow.csv?since=2026-03-01").status_code == 400


def test_a_chart_is_described_links_to_pages_and_shares_no_name_with_another(
    slow: SlowReport, editor_client: Client
) -> None:
    drawn = etree.fromstring(printed("slow", "--format", "svg"))
    assert (drawn.get("role"), drawn.get("aria-labelledby")) == ("group", "chart-bars-title")
    assert [drawn[0].text, drawn[1].text] == ["Articles <all>", "One bar."]
    links = [element.get("{http://www.w3.org/1999/xlink}href") for element in drawn.iter(f"{SVG}a")]
    assert links == ["/articles/?a=1&b=2"]
    assert '<b>"&' in [element.text for element in drawn.iter(f"{SVG}text")]
    other = etree.fromstring(printed("slow", "--format", "svg", "--chart", "again"))
    names = [[element.get("id") for element in one.iter() if element.get("id")] for one in (drawn, other)]
    assert not set(names[0]) & set(names[1])
    assert editor_client.get("/reports/slow.svg?chart=again").content.decode() + "\n" == printed(
        "slow", "--format", "svg", "--chart", "again"
    )
    assert editor_client.get("/reports/slow.svg?chart=none").status_code == 404
    with pytest.raises(CommandError, match="slow has no chart 'none'; it has bars, again"):
        printed("slow", "--format", "svg", "--chart", "none")


def test_an_upgrade_words_and_draws_the_same_numbers_again(slow: SlowReport, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1 articles." in printed("slow")
    monkeypatch.setattr(SlowReport, "summary", lambda *_: "One article.")
    assert "1 articles." in printed("slow")
    StoredReport.objects.update(shown={**StoredReport.objects.get().shown, "drawn_by": "an older version"})
    assert "One article." in printed("slow")


def test_what_this_version_cannot_read_is_computed_again(slow: SlowReport, editor_client: Client) -> None:
    assert "1 articles." in printed("slow")
    StoredReport.objects.update(result='["of an earlier version"]', shown=None)
    assert "has not been computed yet" in editor_client.get("/reports/slow/").content.decode()


def test_what_cannot_be_counted_says_why(
    slow: SlowReport, editor_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor_client.post("/reports/slow/count/?since=2026-03-01")
    stored = StoredReport.objects.get()
    monkeypatch.setattr(SlowReport, "result", lambda *_: (_ for _ in ()).throw(ReportError("choose another pass")))
    do_job(stored.job_id)
    page = editor_client.get("/reports/slow/?since=2026-03-01").content.decode()
    assert "It could not be computed: choose another pass" in page
    assert "Compute it" in page


def test_after_a_run_of_a_large_archive_reports_are_ready(
    slow: SlowReport, monkeypatch: pytest.MonkeyPatch, editor_client: Client
) -> None:
    called("find_duplicates", "--no-progress")
    assert not StoredReport.objects.exists()
    monkeypatch.setattr(computing, "LARGE", 1)
    monkeypatch.setattr(REPORTS["exact"], "after_run", True)
    monkeypatch.setattr(REPORTS["exact"], "result", lambda *_: 1 / 0)
    called("find_duplicates", "--no-progress")
    run = DetectionRun.objects.first()
    assert run is not None
    assert run.state == "done"
    assert StoredReport.objects.get(report="slow").run_id == run.pk
    assert StoredReport.objects.get(report="exact").error == "division by zero"
    assert "1 articles." in editor_client.get("/reports/slow/").content.decode()
