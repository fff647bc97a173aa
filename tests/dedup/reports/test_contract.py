"""What every report promises, whichever it is."""

import csv
import dataclasses
import datetime
import io
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from articles.models import Article, Newspaper
from dedup.declarations import ConfigError, make_config, settings_of
from dedup.detection.passes import PASSES
from dedup.detection.runs.profiles import configs_of, default_profile
from dedup.detection.runs.scope import Scope
from dedup.models import Pair
from dedup.reports import REPORTS
from dedup.reports.base import Report
from dedup.reports.columns import Linked, Table
from dedup.reports.formats import as_csv
from dedup.rows.columns import Column, ColumnType
from tests.commands import printed, refused
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_collection, make_pair

pytestmark = pytest.mark.django_db

EVERY_REPORT = pytest.mark.parametrize("report", [pytest.param(report, id=name) for name, report in REPORTS.items()])
TYPES = {
    ColumnType.TEXT: (str, Linked),
    ColumnType.COUNT: (int,),
    ColumnType.SHARE: (float,),
    ColumnType.NUMBER: (float, int),
    ColumnType.DAY: (datetime.date,),
}


def numbers_in(value: Any) -> Iterator[int | float]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(inner)
    elif isinstance(value, int | float):
        yield value


@pytest.fixture
def some_articles(store: StoreArticle) -> None:
    """Store two newspapers with articles of their own, and shared ones of which every two are a pair."""
    shared = []
    for day in ("2026-03-02", "2026-03-04"):
        for paper in ("Harbour Post", "Inland Courier"):
            text = "The northern breakwater will close for six weeks."
            shared.append(store(text, newspaper=paper, date=day, headline="Closed"))
            store(newspaper=paper, date=day)
    for first, second in itertools.combinations(shared, 2):
        make_pair(first, second, exact=1.0)


@EVERY_REPORT
@pytest.mark.parametrize("stored", [False, True])
def test_rows_have_a_cell_of_the_right_type_for_each_column(report: Report, stored: bool, request: Any) -> None:
    if stored:
        request.getfixturevalue("some_articles")
    result = report.result(Scope(), report.options_class())
    tables = report.tables(result)

    # The page begins with one sentence; the methods paragraph of a paper has several.
    sentence = report.summary(result).splitlines()[0]
    assert sentence.endswith(".")
    assert report.name == "methods" or not re.search(r"[.!?] [A-Z]", sentence)
    assert len({table.name for table in tables}) == len(tables) > 0
    for table in tables:
        assert len({column.name for column in table.columns}) == len(table.columns)
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                assert cell is None or type(cell) in TYPES[column.type]
                assert column.type is not ColumnType.SHARE or cell is None or 0 <= cell <= 1


@EVERY_REPORT
def test_text_csv_json_and_the_page_agree_and_nothing_changes(
    report: Report, some_articles: None, editor_client: Client
) -> None:
    before = [list(rows.objects.order_by("pk").values()) for rows in (Article, Pair)]
    result = report.result(Scope(), report.options_class())
    tables = report.tables(result)
    text = printed(report.name)
    rows = list(csv.DictReader(io.StringIO(printed(report.name, "--format", "csv"))))
    page = editor_client.get(f"/reports/{report.name}/").content.decode()

    assert " ".join(report.summary(result).split()) in " ".join(text.split())
    assert len(rows) == sum(len(table.rows) for table in tables)
    assert text.count("\n") > len(rows)
    counted = set(numbers_in(json.loads(printed(report.name, "--format", "json"))))
    for row in rows:
        table = next((table for table in tables if table.name == row.get("table")), tables[0])
        cells = [row[column.name] for column in table.columns]
        assert cells in [["" if cell is None else str(cell) for cell in row] for row in table.rows]
        counts = {
            int(row[column.name]) for column in table.columns if column.type is ColumnType.COUNT and row[column.name]
        }
        assert counts <= counted
    for table in tables:
        for written in table.written():
            assert " ".join(cell for _, cell in written if cell) in " ".join(text.split())
            assert all(f">{escape(cell)}</" in page for _, cell in written)
    for form, end in (("csv", ""), ("json", "\n")):
        sent = editor_client.get(f"/reports/{report.name}.{form}").content.decode()
        assert sent + end == printed(report.name, "--format", form)
    assert [list(rows.objects.order_by("pk").values()) for rows in (Article, Pair)] == before


@EVERY_REPORT
def test_the_scope_is_obeyed(report: Report, some_articles: None) -> None:
    scopes = Scope(since=datetime.date(2030, 1, 1)), Scope(newspaper_ids=())
    late, of_none = (report.result(scope, report.options_class()) for scope in scopes)
    assert report.tables(late) == report.tables(of_none)


@EVERY_REPORT
def test_a_report_says_what_it_is_and_the_range_of_every_option_is_kept(report: Report) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*", report.name)
    assert report.label
    assert report.help.endswith(".")
    for name, (field, declared) in settings_of(report.options_class).items():
        assert declared.help.endswith(".")
        assert declared.unit
        assert declared.source
        if isinstance(field.default, bool):
            assert field.default is False
            continue
        if declared.choices or declared.offers:
            with pytest.raises(ConfigError, match=f"{name} is 'none of them'; it must be one of"):
                make_config(report.options_class, {name: "none of them"})
            continue
        for value in (type(field.default)(declared.minimum - 1), type(field.default)(declared.maximum + 1)):
            with pytest.raises(ConfigError, match=f"{name} is .*; it must be from"):
                make_config(report.options_class, {name: value})


@EVERY_REPORT
def test_a_report_counts_a_pass_by_default_that_is_part_of_runs(report: Report) -> None:
    options = report.options_class()
    named = {value for name, value in dataclasses.asdict(options).items() if value in PASSES}
    used = configs_of(default_profile().settings)
    assert {name for name in named if not used[name].enabled} == set()
    # With its own defaults, no report refuses to count.
    report.check(options)


def test_an_option_has_one_type_in_all_reports() -> None:
    types: dict[str, set[type]] = {}
    for report in REPORTS.values():
        for name, (field, _) in settings_of(report.options_class).items():
            types.setdefault(name, set()).add(type(field.default))
    assert all(len(type_) == 1 for type_ in types.values())


@pytest.fixture
def papers(store: StoreArticle) -> None:
    """Store two newspapers, one of whose names a spreadsheet would run, that share a cluster."""
    make_cluster(store(newspaper="=HYPERLINK(1)"), store(newspaper="Harbour Post"))
    make_collection("owner", "Coast Media", *Newspaper.objects.all())


def test_tables_with_different_columns_share_a_file_and_no_cell_is_a_formula(papers: None) -> None:
    head, *rows = printed("sources", "--format", "csv").splitlines()
    assert head.startswith('"table","newspaper","articles","duplicates","share",')
    assert head.endswith('"left","right","clusters","shared_pairs","left_first","right_first","same_day"')
    assert """"newspapers","'=HYPERLINK(1)",1,0,0.0,0,0,0,0,"","","","","","",\"\"""" in rows
    assert rows[-1] == """"pairs","","","","","","","","","'=HYPERLINK(1)","Harbour Post",1,1,0,0,1"""
    names = {row["name"] for row in json.loads(printed("sources", "--format", "json"))["newspapers"]}
    assert names == {"=HYPERLINK(1)", "Harbour Post"}


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_gets_an_apostrophe_and_a_negative_number_does_not(begin: str) -> None:
    columns = (Column("text", "Text"), Column("change", "Change", ColumnType.COUNT))
    rows = csv.reader(io.StringIO(as_csv([Table("one", "One", columns, ((f"{begin}1", -1),))])))
    assert list(rows) == [["text", "change"], [f"'{begin}1", "-1"]]


def test_options_come_from_the_command_line_and_from_the_address(papers: None, editor_client: Client) -> None:
    two, none = "2 newspapers share at least a pair", "No two newspapers share 2 pairs of articles of one cluster."
    assert printed("network").startswith(two)
    assert printed("network", "--least", "2").startswith(none)
    page = editor_client.get("/reports/network/", {"least": "2"})
    assert page.context["summary"] == none
    assert "/reports/network.csv?least=2" in page.content.decode()
    assert editor_client.get("/reports/network/", {"least": ""}).context["summary"].startswith(two)
    [owner] = editor_client.get("/reports/newspapers.json?by_owner=on").json()
    assert [owner] == json.loads(printed("newspapers", "--by-owner", "--format=json"))
    assert owner["name"] == "Coast Media"


def test_a_value_out_of_range_is_refused_with_the_bound(editor_client: Client) -> None:
    message = "network: least is 0; it must be from 1 to 1000 (pairs)"
    assert refused("report", "network", "--least", "0").startswith(message)
    page = editor_client.get("/reports/network/", {"least": "0"})
    assert page.status_code == 400
    assert "greater than or equal to 1" in page.content.decode()
    answer = editor_client.get("/reports/network.csv", {"least": "1001"})
    bound = "least: Ensure this value is less than or equal to 1000.\n"
    assert (answer.status_code, answer.content.decode()) == (400, bound)


def test_what_a_report_does_not_have_is_refused() -> None:
    no_option = "exact: there is no setting 'least'; the settings are none"
    assert refused("report", "exact", "--least", "2").startswith(no_option)
    no_file = "network counts stored articles; it reads no file"
    assert refused("report", "network", "rows.jsonl").startswith(no_file)
    not_chosen = "--since applies to stored articles only; a file is always counted whole"
    assert refused("report", "exact", "rows.jsonl", "--since", "2026-03-02").startswith(not_chosen)
