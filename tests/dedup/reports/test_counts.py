"""The reports on duplicates, of a small archive that was counted by hand."""

import csv
import datetime
import io
from typing import Any

import networkx
import pytest
import time_machine
from django.test import Client
from lxml import etree

from articles.models import Article, Newspaper
from dedup.declarations import make_config
from dedup.detection.runs.scope import Scope
from dedup.models import ArticleShingles, Decision, Pair, SecondReading
from dedup.reports import REPORTS
from dedup.reports.columns import Linked, Table
from dedup.reports.drawing import time_axis
from dedup.reports.formats import Shown, presented
from dedup.reports.network import Network, NetworkReport, Node, places
from dedup.reports.quality import QualityReport, paces
from dedup.reports.sources import Together
from dedup.review.answers.decisions import decide_pair, undo
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_user

pytestmark = pytest.mark.django_db

NEW = {"overview", "sources", "network", "passes", "quality", "terms"}


def shown(name: str, scope: Scope | None = None, **options: Any) -> Shown:
    report = REPORTS[name]
    return presented(report, report.result(scope or Scope(), make_config(report.options_class, options)))


def rows(table: Table) -> list[list[Any]]:
    return [[cell.text if isinstance(cell, Linked) else cell for cell in row] for row in table.rows]


@pytest.fixture
def archive(store: StoreArticle) -> dict[str, Article]:
    """Store nine articles of three newspapers, six of them in two clusters."""
    ferry = "The ferry sails again."
    stored = {
        "h1": store(ferry, date="2026-03-02"),
        "i1": store(ferry, newspaper="Inland Courier", date="2026-03-02"),
        "i2": store(f"{ferry} It rains.", newspaper="Inland Courier", date="2026-03-03"),
        "h2": store(ferry, date="2026-03-04"),
        "s1": store("The market is open.", newspaper="Selby Gazette", date="2026-04-01"),
        "i3": store("The market is open.", newspaper="Inland Courier", date="2026-04-01"),
        "s2": store("A storm.", newspaper="Selby Gazette", date="2026-04-05"),
        "h3": store("A calm.", date="2026-04-06"),
        "h4": store("渡轮又开了", date="2026-04-07"),
    }
    h1, i1, i2, h2, s1, i3, s2, h3, _ = stored.values()
    make_cluster(h1, i1, i2, h2)
    make_cluster(s1, i3)
    make_pair(i1, i2, exact=1.0, trigram=0.7)
    make_pair(s2, h3, verdict="similar", sentence=0.6)
    return stored


def test_sources_counts_whose_duplicates_they_are_and_of_which_day(archive: dict[str, Article]) -> None:
    newspapers, pairs = shown("sources").tables

    assert rows(newspapers) == [
        ["Inland Courier", 3, 3, 1.0, 0, 0, 2, 1],
        ["Harbour Post", 4, 1, 0.25, 0, 1, 0, 0],
        ["Selby Gazette", 2, 0, 0.0, 0, 0, 0, 0],
    ]
    assert rows(pairs) == [
        ["Harbour Post", "Inland Courier", 1, 4, 0, 0, 1],
        ["Harbour Post", "Harbour Post", 1, 1, None, None, None],
        ["Inland Courier", "Inland Courier", 1, 1, None, None, None],
        ["Inland Courier", "Selby Gazette", 1, 1, 0, 0, 1],
    ]
    assert shown("sources").summary == (
        "4 of 9 articles (44.44%) are duplicates: 1 of an article of the same newspaper and 3 of another one's.\n2 "
        "of 3 newspapers have duplicates, and 2 combinations of two newspapers share a cluster."
    )
    # An article counts by its own day, even if the one that represents its cluster does not count.
    later, [first, *_, last] = (table.rows for table in shown("sources", Scope(datetime.date(2026, 3, 3))).tables)
    assert [row[1:4] for row in later] == [(2, 2, 1.0), (3, 1, 1 / 3), (2, 0, 0.0)]
    assert last[2:4] == (1, 1)
    # Of the articles from then on, the one of the Courier is a day earlier.
    assert first[2:] == (1, 1, 0, 1, 0)
    inland = Scope(newspaper_ids=(archive["i1"].newspaper_id,))
    assert [rows(table) for table in shown("sources", inland).tables] == [
        [["Inland Courier", 3, 3, 1.0, 0, 0, 2, 1]],
        [["Inland Courier", "Inland Courier", 1, 1, None, None, None]],
    ]


def test_network_joins_newspapers_and_its_links_lead_to_what_was_counted(
    archive: dict[str, Article], editor_client: Client
) -> None:
    newspapers, edges = shown("network").tables
    assert rows(newspapers) == [
        ["Inland Courier", 3, 3, 1.0, 2, 5],
        ["Harbour Post", 4, 1, 0.25, 1, 4],
        ["Selby Gazette", 2, 0, 0.0, 1, 1],
    ]
    assert rows(edges) == [["Harbour Post", "Inland Courier", 1, 4], ["Inland Courier", "Selby Gazette", 1, 1]]
    assert rows(shown("network", least=2).tables[1]) == rows(edges)[:1]
    assert shown("network", least=5).summary == "No two newspapers share 5 pairs of articles of one cluster."

    circle, line = newspapers.rows[0][0], edges.rows[0][0]
    assert isinstance(circle, Linked)
    assert isinstance(line, Linked)
    listed = editor_client.get(circle.address).context["page"].rows
    assert {article.pk for article in listed} == {archive[name].pk for name in ("i1", "i2", "i3")}
    pairs = {(row.pair.left_id, row.pair.right_id) for row in editor_client.get(line.address).context["rows"]}
    assert pairs == {(archive["h1"].pk, archive[name].pk) for name in ("i1", "i2")}

    page = editor_client.get("/reports/network/", {"least": "2"}).content.decode()
    assert '<input type="range" name="least" value="2" class="form-range" min="1" max="1000"' in page
    assert page.count(circle.address.replace("&", "&amp;")) == 3  # the circle, its name, and the table
    assert "<title>Harbour Post and Inland Courier: 4 pairs</title>" in page
    drawing = editor_client.get("/reports/network.svg", {"least": "2"}).content.decode()
    assert drawing in page
    assert drawing == shown("network", least=2).pictures[0].svg


def test_passes_overlap_and_each_finds_some_alone(archive: dict[str, Article]) -> None:
    passes, pairs, duplicates = shown("passes").tables

    assert rows(passes) == [
        ["Same text", 1, 0, 1, 0, 2, 0],
        ["Similar text", 5, 4, 5, 4, 4, 2],
        ["Shared sentences", 1, 1, 0, 0, 0, 0],
    ]
    assert rows(pairs) == [["Same text", 1, 1, 0], ["Similar text", 1, 5, 0], ["Shared sentences", 0, 0, 1]]
    assert rows(duplicates) == [["Same text", 2, 2, 0], ["Similar text", 2, 4, 0], ["Shared sentences", 0, 0, 0]]
    assert rows(shown("passes", Scope(datetime.date(2026, 4, 1))).tables[0])[0][:5] == ["Similar text", 1, 1, 1, 1]


def test_overview_has_shares_and_sizes(archive: dict[str, Article]) -> None:
    for name, count in (("h1", 2), ("i1", 5)):
        article = archive[name]
        made = {"date": article.date, "revision": article.revision, "shingles": bytes(4 * count)}
        ArticleShingles.objects.create(article=article, newspaper=article.newspaper, **made)
    found = shown("overview")
    months, newspapers, sizes, histogram = map(rows, found.tables)

    assert months == [["2026-03", 4, 3, 0.75], ["2026-04", 5, 1, 0.2]]
    assert newspapers == [["Inland Courier", 3, 3, 1.0], ["Harbour Post", 4, 1, 0.25], ["Selby Gazette", 2, 0, 0.0]]
    # 22, 22, 32, 22, 19, 19, 8, 7 and 5 characters; a run has made shingles of two articles, two and five of them.
    assert sizes == [
        ["characters", 9, pytest.approx(156 / 9), 5, 5, 8, 19, 22, 32, 32],
        ["word shingles", 2, 3.5, 2, 2, 2, 2, 5, 5, 5],
    ]
    assert [row[1:] for row in histogram[:4]] == [[4, 7, 2], [8, 15, 1], [16, 31, 5], [32, 63, 1]]
    assert [row[1:] for row in histogram[4:]] == [[2, 3, 1], [4, 7, 1]]
    assert found.summary.startswith("4 of 9 articles (44.44%) are duplicates.\nHalf of the texts have at most 19 ")


def test_terms_counts_the_words_of_every_script_with_and_without_duplicates(archive: dict[str, Article]) -> None:
    found = shown("terms")
    # All texts have 35 words, those that are not duplicates 17.
    counts = {row[0]: row[1:3] for row in rows(found.tables[0])}
    assert counts["ferry"] == [4, 1]
    assert counts["渡"] == [1, 1]
    assert counts["the"] == [6, 2]
    before, after = 200_000 / 35, 200_000 / 17
    assert rows(found.tables[0])[0] == ["a", 2, 2, *map(pytest.approx, (before, after, after - before))]
    assert "without them, the archive has 17 words instead of 35 (51.43% less)" in found.summary
    assert "the" not in {row[0] for row in rows(shown("terms", without_stop_words=True).tables[0])}


def test_terms_counts_the_same_if_few_words_fit_into_memory(
    archive: dict[str, Article], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shown("terms")
    monkeypatch.setattr("dedup.reports.terms.MOST_HELD", 2)
    assert shown("terms") == whole


def test_quality_counts_decisions_paces_agreement_and_precision(archive: dict[str, Article]) -> None:
    ella, vera = make_user("ella", "Editors"), make_user("vera", "Editors")
    pairs = list(Pair.objects.order_by("pk"))
    with time_machine.travel("2026-05-04T09:00:00+00:00", tick=False) as clock:
        for pair, kind in zip(pairs, ("confirm", "confirm", "confirm", "reject", "version", "template"), strict=True):
            made = decide_pair(pair.pk, kind, user=ella)
            clock.shift(60)
        clock.shift(3600)
        undo(made.pk, user=vera)
    for pair in pairs[:2]:
        first = Decision.objects.get(pair=pair)
        SecondReading.objects.create(
            pair=pair, decision=first, first_kind="confirm", user=vera, kind="reject", blind=True
        )
    found = shown("quality")
    decisions, pace, agreement, by_pass, by_newspaper, by_both = map(rows, found.tables)

    assert decisions == [[datetime.date(2026, 5, 4), "ella", 6, 6, 0, 0, 1]]
    # Five answers in four minutes; the sixth was undone.
    assert pace[0] == ["ella", 5, 1, pytest.approx(4 / 60), pytest.approx(60.0)]
    assert pace[1][:2] == ["vera", 2]
    assert agreement == [["all pairs", 2, 0, 0.0, None, None, None], ["duplicate", 2, 0, 0.0, None, None, None]]
    assert [row[:4] for row in by_pass] == [["Similar text", 4, 3, 0.75], ["any pass", 4, 3, 0.75]]
    counts = [("Harbour Post", 3, 3), ("Inland Courier", 3, 2), ("Selby Gazette", 1, 0)]
    assert [tuple(row[:3]) for row in by_newspaper] == counts
    assert [row[1:] for row in by_both] == by_newspaper
    assert found.summary == (
        "1 editor made 6 decisions; 1 of them was undone.\n3 of 4 decided pairs (75.00%) are duplicates."
    )
    april = QualityReport().result(Scope(datetime.date(2026, 4, 1)), None)
    assert [(day.decisions, day.undone) for day in april.days] == [(2, 1)]
    # What other decisions imply is no decision, and a template is not a duplicate.
    Pair.objects.filter(pk=pairs[0].pk).update(implied=True)
    Pair.objects.filter(pk=pairs[1].pk).update(state="template")
    [whole] = [part for part in QualityReport().result(Scope(), None).precision if part.newspaper == part.pass_name]
    assert (whole.decided, whole.confirmed) == (3, 1)


def test_a_long_pause_ends_a_sitting_and_few_answers_have_no_pace() -> None:
    begin = datetime.datetime(2026, 5, 4, 9, tzinfo=datetime.UTC)
    minutes = [0, 10, 20, 60, 65, 70]
    answers = [("ella", begin + datetime.timedelta(minutes=minute)) for minute in minutes] + [("vera", begin)]
    ella, vera = paces(answers)
    assert (ella.answers, ella.sittings, ella.hours, ella.an_hour) == (6, 2, 0.5, 8.0)
    assert (vera.answers, vera.sittings, vera.hours, vera.an_hour) == (1, 1, 0.0, None)


def test_a_page_leaves_out_the_end_of_a_long_table_and_says_so(
    archive: dict[str, Article], editor_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dedup.reports.columns.MOST_SHOWN", 3)
    page = editor_client.get("/reports/sources/").content.decode()
    assert page.count("more row") == 1
    assert "1 more row: the CSV file has all." in page
    assert editor_client.get("/reports/sources.csv").content.decode().count("\n") == 1 + 3 + 4


HOSTILE = (
    '<script>alert("x")</script>',
    "=cmd|' /C calc'!A0",
    "صحيفة الميناء\u202e",
    "\x01 & 'quoted' \" " + "long " * 30,
)


def test_hostile_names_do_no_harm_in_svg_graphml_and_csv(store: StoreArticle, editor_client: Client) -> None:
    make_cluster(*(store("The ferry.", newspaper=name, date="2026-03-02") for name in HOSTILE))
    names = set(Newspaper.objects.values_list("name", flat=True))
    for report in NEW:
        for picture in shown(report).pictures:
            root = etree.fromstring(picture.svg.encode())
            assert not root.findall(".//{*}script")
            assert all(href.startswith("/") for href in root.xpath("//@*[local-name() = 'href']"))
    graphml, edges = shown("network").files
    graph = networkx.parse_graphml(graphml.text)
    labels = {node["label"] for _, node in graph.nodes(data=True)}
    assert labels == {name.replace("\x01", "\ufffd") for name in names}
    assert {edge["weight"] for *_, edge in graph.edges(data=True)} == {1}
    read = list(csv.DictReader(io.StringIO(edges.text)))
    assert len(read) == 6
    assert {row["Source"] for row in read} | {row["Target"] for row in read} == {
        f"'{name}" if name.startswith("=") else name for name in names
    }
    for report in ("sources", "network"):
        page = editor_client.get(f"/reports/{report}/").content.decode()
        assert "<script>alert" not in page
        assert 'dir="auto"' in page


@pytest.mark.parametrize("articles", [0, 1, 2])
def test_an_archive_without_clusters_or_runs_says_so(store: StoreArticle, articles: int) -> None:
    stored = [store() for _ in range(articles)]
    if articles == 2:
        make_cluster(*stored)  # of one newspaper
    says = {name: shown(name).summary for name in NEW}
    joined = "No two newspapers share a pair of articles of one cluster."
    assert says["network"] == joined
    assert says["quality"] == "Nobody has decided anything here."
    if articles < 2:
        assert says["passes"] == "No pass has proposed a pair here."
    if not articles:
        assert {says[name] for name in ("overview", "sources", "terms")} == {"There are no articles to count."}
    assert all(not shown(name).pictures for name in NEW) or articles
    assert NetworkReport().files(NetworkReport().result(Scope(), NetworkReport.options_class()))[0].text.startswith("<")


def test_groups_that_no_line_joins_are_drawn_apart_and_inside() -> None:
    groups = [range(1, 7), range(7, 10), range(10, 12), range(12, 14)]
    nodes = [Node(f"Paper {number}", number, 5, 1, 1, 1) for group in groups for number in group]
    edges = [
        Together(f"Paper {one}", f"Paper {one + 1}", one, one + 1, 1, 1, 0, 0, 1)
        for group in groups
        for one in group[:-1]
    ]
    at = places(Network(1, nodes, edges))
    assert set(at) == {node.newspaper_id for node in nodes}
    assert all(0 <= place <= 1 for both in at.values() for place in both)
    boxes = [
        [(min(axis), max(axis)) for axis in zip(*(at[number] for number in group), strict=True)] for group in groups
    ]
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert any(a[1] < b[0] or b[1] < a[0] for a, b in zip(one, other, strict=True))


def test_a_single_day_is_not_a_bar_as_wide_as_the_drawing() -> None:
    day = datetime.date(2026, 3, 2)
    scale, axis = time_axis("day", day, day)
    assert scale.to_dict()["domain"] == ["2026-02-27", "2026-03-06"]
    assert axis.to_dict()["tickCount"] == {"interval": "day", "step": 1}
    scale, axis = time_axis("month", day, datetime.date(2027, 3, 1))
    assert scale.to_dict()["domain"] == ["2026-03-02", "2027-03-31"]
    assert axis.to_dict()["tickCount"] == 8
