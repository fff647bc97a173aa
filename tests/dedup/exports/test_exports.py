"""Exports: every row of a list, with its filter, for spreadsheets and for programs."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dedup.answers import Answer
from dedup.detection.clustering.questions import update_questions
from dedup.models import Cluster, Decision, Pair
from dedup.review.answers import decisions
from dedup.rows import files
from dedup.rows.exporting import EXPORTS, WRITTEN
from newsdedup import program as manage
from tests.commands import called, refused
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_user

pytestmark = pytest.mark.django_db


def exported(name: str, *options: str) -> list[dict[str, Any]]:
    output, _ = called("export", name, *options)
    return read_csv(output) if "--format=csv" in options else [json.loads(line) for line in output.splitlines()]


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def sent(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


@pytest.fixture
def decided(store: StoreArticle) -> list[Pair]:
    """Three articles, whose third pair follows from the first two, and a pair that nobody has decided."""
    first, second, third = (
        store(newspaper=f"Paper {n}", headline=f"=SUM({n})", external_id=f"x-{n}") for n in (1, 2, 3)
    )
    other = store(newspaper="Paper 4")
    pairs = [
        make_pair(first, second, trigram=0.9, url=1.0),
        make_pair(second, third, trigram=0.8),
        make_pair(first, third, trigram=0.7),
        make_pair(third, other, verdict="template", trigram=0.6),
    ]
    anna = make_user("anna", "editor")
    for pair in pairs[:2]:
        decisions.decide_pair(pair.pk, Answer.CONFIRM, user=anna, seen=0, note="+1")
    mistaken = decisions.decide_pair(pairs[3].pk, Answer.REJECT, user=anna, seen=0)
    decisions.undo(mistaken.pk, user=anna)
    return pairs


def test_pairs_say_what_was_decided_and_by_whom(decided: list[Pair]) -> None:
    rows = exported("pairs")
    assert [list(row) for row in rows] == [list(EXPORTS["pairs"].columns)] * 4
    assert [row["pair"] for row in rows] == [pair.pk for pair in decided]
    assert [(row["state"], row["implied"], row["decided_by"]) for row in rows] == [
        ("confirmed", False, "anna"),
        ("confirmed", False, "anna"),
        ("confirmed", True, None),
        ("undecided", False, None),
    ]
    assert rows[0]["decision"] == Decision.objects.order_by("pk").first().pk
    assert rows[0]["scores"] == {"trigram": 0.9, "url": 1.0}
    shown = [rows[0][name] for name in ("left_newspaper", "right_external_id", "left_date")]
    assert shown == ["Paper 1", "x-2", "2026-03-02"]


def test_the_filter_of_the_page_is_that_of_the_file_and_of_the_command(client: Client, store, decided) -> None:
    client.force_login(make_user("vera", "viewer"))
    query = "verdict=any&state=confirmed&q=SUM(1)"
    page = client.get(f"/queue/?{query}").content.decode()
    address = query.replace("(", "%28").replace(")", "%29").replace("&", "&amp;")
    assert f'href="/exports/pairs.csv?{address}&amp;tab=pairs"' in page
    rows = read_csv(sent(client, f"/exports/pairs.csv?{query}"))
    assert [row["pair"] for row in rows] == [str(decided[0].pk), str(decided[2].pk)]
    # No spreadsheet runs a headline.
    assert (rows[0]["left_headline"], rows[0]["implied"], rows[1]["decided_by"]) == ("'=SUM(1)", "false", "")
    assert exported("pairs", f"--filter={query}", "--format=csv") == rows
    # What the address leaves out has the page's meaning there, and none in the command.
    assert sent(client, "/exports/pairs.jsonl") == ""
    alike = make_pair(decided[3].right, store(), trigram=0.9)
    update_questions(None)
    assert sent(client, "/exports/pairs.jsonl?tab=informative").startswith(f'{{"pair": {alike.pk},')
    assert len(exported("pairs", "--filter=verdict=template")) == 1
    assert client.get("/exports/prices.csv").status_code == 404


def test_clusters_and_decisions(store: StoreArticle, decided: list[Pair], tmp_path: Path) -> None:
    alike = make_cluster(store(), store())
    rows = exported("clusters")
    of_all = dict(Cluster.objects.values_list("pk", "size"))
    assert len(rows) == sum(of_all.values())
    assert {row["cluster"]: row["size"] for row in rows} == of_all
    assert [row["kept"] for row in rows if row["cluster"] == alike.pk] == [True, False]
    assert {row["cluster"] for row in exported("clusters", "--filter=state=confirmed")} == set(of_all) - {alike.pk}

    target = tmp_path / "decisions.csv"
    exported("decisions", f"--output={target}")
    rows = read_csv(target.read_text())
    assert [(row["kind"], bool(row["undone_by"]), row["note"]) for row in rows] == [
        ("confirm", False, "'+1"), ("confirm", False, "'+1"), ("reject", True, ""), ("undo", False, "")
    ]  # fmt: skip
    assert rows[2]["undone_by"] == rows[3]["decision"]
    assert rows[3]["undoes"] == rows[2]["decision"]
    left, right = decided[3].left_id, decided[3].right_id
    assert (rows[2]["left_article"], rows[2]["articles"]) == (str(left), json.dumps([left, right]))


def test_rows_are_read_in_batches(decided: list[Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 2)
    with CaptureQueriesContext(connection) as queries:
        assert len(list(EXPORTS["pairs"].rows(Pair.objects.all()))) == 4
    # One for all pairs; for each of two batches, the scores, and the decisions of those that have one.
    assert len([query for query in queries if query["sql"].startswith(("SELECT", "\nSELECT", "DECLARE"))]) == 4


@pytest.mark.parametrize("name", [*WRITTEN, "validation"])
def test_the_old_name_of_an_export_is_the_new_one_and_says_so(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["manage.py", f"export_{name}", "--format=csv"]
    assert manage.with_new_name(given) == ["manage.py", "export", name, "--format=csv"]
    assert capsys.readouterr().err == (
        f"export_{name} is now called: export {name}. The old name goes with the next release.\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("pairs", "--sample=spring"), "are those of export validation"),
        (("validation", "--filter=state=any"), "--filter is no option of export validation"),
        (("pairs", "--filter=verdit=x"), "no field 'verdit'; its fields are verdict"),
        (("pairs", "--filter=verdict=x"), "verdict=x: Select a"),
    ],
)
def test_what_an_export_does_not_have_is_refused(options: tuple[str, ...], said: str) -> None:
    assert said in refused("export", *options)
    with pytest.raises(CommandError, match="invalid choice: 'prices'"):
        called("export", "prices")
