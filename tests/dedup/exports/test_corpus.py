"""`manage.py export_corpus`: the files, what leaves and why, and what programs read of them."""

import csv
import datetime
import gzip
import hashlib
import importlib.util
import json
import math
import os
import re
import shlex
import signal
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from articles.files.cells import unguarded
from articles.files.whole_files import whole_file
from articles.models import Article, Newspaper
from dedup.detection.verdicts.same_as import RULES
from dedup.forms.base import ReportForm
from dedup.models import Cluster, Decision
from dedup.reports import REPORTS
from dedup.review.answers.decisions import keep_article
from dedup.review.queries.stories import listed_stories
from dedup.rows.corpus import writing
from dedup.rows.corpus.writing import CORPUS_NAMES, REMOVED_NAMES
from tests.commands import called
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_run

pytestmark = pytest.mark.django_db


def export(target: Path, *options: str, policy: str = "one-per-cluster") -> str:
    """Export, and return what the command says: what it warns of, and the counts."""
    counts, warnings = called("export_corpus", "--policy", policy, "--output", target, "--no-progress", *options)
    return warnings + counts


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def exported(folder: Path, *options: str, policy: str = "one-per-cluster") -> tuple[dict[str, int], dict[str, Any]]:
    """Export, and return the ids of the articles that stay by headline, and why each other headline went."""
    export(folder / "c.jsonl", *options, policy=policy)
    stay = {row["headline"]: row["id"] for row in read(folder / "c.jsonl")}
    return stay, {row["headline"]: (row["reason"], row["represented_by"]) for row in read(folder / "c.removed.jsonl")}


def counts_of_the_report(*options: str) -> dict[str, Counter[str]]:
    """Return how many articles the report says that each policy removes, by reason."""
    printed, _ = called("report", "policies", "--format", "json", *options)
    return {row["policy"]: Counter(row["by_reason"]) for row in json.loads(printed)["policies"]}


@pytest.fixture
def archive(store: StoreArticle) -> dict[str, Article]:
    """Three newspapers: a confirmed-like cluster of four over two days, a proposed one of two, and one alone."""
    stored = {
        "first": store(headline="first", newspaper="Harbour Post", date="2026-03-02", time="2026-03-02T18:30+02:00"),
        "again": store(headline="again", newspaper="Harbour Post", date="2026-03-02", time="2026-03-02T19:30+02:00"),
        "other": store(headline="other", newspaper="Inland Courier", date="2026-03-02", external_id="x-3"),
        "later": store(headline="later", newspaper="Harbour Post", date="2026-03-05"),
        "two a": store(headline="two a", newspaper="Inland Courier", date="2026-03-06"),
        "two b": store(headline="two b", newspaper="Valley Sun", date="2026-03-07"),
        "alone": store(headline="alone", newspaper="Valley Sun", date="2026-03-07"),
    }
    make_cluster(*(stored[name] for name in ("first", "again", "other", "later")))
    make_cluster(stored["two a"], stored["two b"])
    return stored


def test_each_policy(archive: dict[str, Article], tmp_path: Path) -> None:
    ids = {name: article.pk for name, article in archive.items()}
    expected = {
        "keep-all": {},
        "one-per-cluster": {
            "again": ("same newspaper, same day", ids["first"]),
            "other": ("other newspaper", ids["first"]),
            "later": ("same newspaper, later day", ids["first"]),
            "two b": ("other newspaper", ids["two a"]),
        },
        "keep-syndication": {
            "again": ("same newspaper, same day", ids["first"]),
            "later": ("same newspaper, later day", ids["first"]),
        },
        "drop-all-copies": {name: ("has copies", None) for name in ids if name != "alone"},
    }
    report = counts_of_the_report()
    for policy, gone in expected.items():
        stay, removed = exported(tmp_path, policy=policy)
        assert report[policy] == Counter(reason for reason, _ in removed.values())
        assert removed == gone
        assert stay == {name: pk for name, pk in ids.items() if name not in gone}
    # A policy looks only at the articles that were chosen.
    assert set(exported(tmp_path, "--newspaper", "Inland Courier", policy="drop-all-copies")[0]) == {"other", "two a"}
    stay, removed = exported(tmp_path, "--since", "2026-03-05", "--until", "2026-03-06")
    assert (set(stay), removed) == ({"later", "two a"}, {})
    # Of the confirmed clusters only: the proposed one is none.
    Cluster.objects.filter(kept=archive["first"]).update(state="confirmed")
    stay, _ = exported(tmp_path, "--clusters", "confirmed")
    assert set(stay) == {"first", "two a", "two b", "alone"}
    assert counts_of_the_report("--confirmed")["one-per-cluster"].total() == 3
    assert counts_of_the_report("--newspaper", "Valley Sun")["drop-all-copies"] == {}


def test_the_kept_article_has_the_text_that_an_editor_chose(
    archive: dict[str, Article], editor: User, tmp_path: Path
) -> None:
    whole = {"content": "The whole text.", "normalized_text": "the whole text", "agency": "Meridian Wire"}
    Article.objects.filter(pk=archive["later"].pk).update(**whole)
    first, later = archive["first"], archive["later"].pk
    keep_article(Cluster.objects.get(kept=first).pk, later, user=editor, kind=Decision.Kind.KEEP_TEXT)
    for options, said in (
        ([], ("The whole text.", "Meridian Wire", later)),
        (["--until", "2026-03-04"], (first.content, "", first.pk)),
    ):
        export(tmp_path / "c.jsonl", *options)
        row = read(tmp_path / "c.jsonl")[0]
        names = ("id", "url", "content", "agency", "text_article")
        assert [row[name] for name in names] == [first.pk, first.url, *said]
    assert called("report", "terms")[0].count("whole") == 1
    assert listed_stories().get(pk=first.pk).beginning == "The whole text."


def test_rows_say_where_an_article_belongs(archive: dict[str, Article], tmp_path: Path) -> None:
    said = export(tmp_path / "c.jsonl", policy="keep-all")
    assert said.startswith("Articles: 7. Kept: 7. Removed: 0.\nWritten: ")
    by_headline = {row["headline"]: row for row in read(tmp_path / "c.jsonl")}
    cluster = Cluster.objects.get(kept=archive["first"])
    added = CORPUS_NAMES[-7:]
    assert list(by_headline["other"]) == list(CORPUS_NAMES)
    papers = ["Harbour Post", "Inland Courier"]
    kept = archive["first"].pk
    facts = [cluster.pk, "proposed", kept, 3, papers, "2026-03-02T18:30+02:00", archive["other"].pk]
    assert [by_headline["other"][name] for name in added] == facts
    alone = archive["alone"].pk
    facts = [None, None, alone, 0, ["Valley Sun"], "2026-03-07", alone]
    assert [by_headline["alone"][name] for name in added] == facts

    export(tmp_path / "c.csv")
    with (tmp_path / "c.removed.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["headline"] for row in rows] == ["again", "other", "later", "two b"]
    assert tuple(rows[1]) == REMOVED_NAMES
    assert rows[1] == {
        "article": str(archive["other"].pk), "external_id": "x-3", "url": archive["other"].url,
        "newspaper": "Inland Courier", "date": "2026-03-02", "headline": "other", "cluster": str(cluster.pk),
        "reason": "other newspaper", "represented_by": str(kept), "represented_by_external_id": "",
        "represented_by_url": archive["first"].url, "represented_by_newspaper": "Harbour Post",
        "represented_by_date": "2026-03-02",
    }  # fmt: skip


def test_the_description_and_the_same_bytes(archive: dict[str, Article], tmp_path: Path) -> None:
    make_run(counts={"articles": 7, "passes": {"trigram": {"pairs": 5}}})
    (tmp_path / "again").mkdir()
    for name in ("c.jsonl.gz", "c.csv", "c.parquet"):
        export(tmp_path / name, policy="keep-syndication")
        export(tmp_path / "again" / name, policy="keep-syndication")
        first, second = (
            {path.name: path.read_bytes() for path in folder.glob("c.*")} for folder in (tmp_path, tmp_path / "again")
        )
        assert {name: first[name] for name in second} == second
    export(tmp_path / "c.jsonl.gz", policy="keep-syndication")
    described = json.loads((tmp_path / "c.json").read_text())
    assert described["policy"]["name"] == "keep-syndication"
    assert described["counts"] == {
        "articles": 7, "kept": 5, "removed": 2, "other_corpus": {},
        "removed_by_reason": {"same newspaper, later day": 1, "same newspaper, same day": 1},
    }  # fmt: skip
    for file in described["files"]:
        data = (tmp_path / file["name"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (file["sha256"], file["bytes"])
        assert len(gzip.decompress(data).splitlines()) == file["rows"]
    assert [column["name"] for column in described["columns"]["corpus"]] == list(CORPUS_NAMES)
    assert [column["name"] for column in described["columns"]["removed"]] == list(REMOVED_NAMES)
    assert described["run"]["config"]["trigram"]["threshold"] == 0.6
    assert described["clusters"] == {
        "same_as": "cropped", "same_as_rule": RULES["cropped"],
        "proposed": 2, "confirmed": 0, "keep_rule": "earliest", "last_decision": None,
    }  # fmt: skip
    versions = "".join(f"{name} {version}\n" for name, version in described["versions"].items())
    assert called("version")[0] == versions


def read_with_pandas(path: Path) -> list[dict[str, Any]]:
    readers = {
        ".parquet": pd.read_parquet,
        ".csv": partial(pd.read_csv, dtype=str, keep_default_na=False),
        ".jsonl": partial(pd.read_json, lines=True, dtype=False),
    }
    return readers[path.suffix](path).astype(object).to_dict("records")


def read_with_duckdb(path: Path) -> list[dict[str, Any]]:
    readers = {
        ".parquet": "read_parquet(?)",
        ".csv": "read_csv(?, all_varchar = true, header = true, quote = '\"', escape = '\"')",
        ".jsonl": "read_json(?, format = 'newline_delimited')",
    }
    with duckdb.connect() as base:
        found = base.execute(f"SELECT * FROM {readers[path.suffix]}", [str(path)])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def same(value: Any) -> str:
    """Return one spelling of a value, however a format or a program has it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=same)
    return unguarded(str(value))


HOSTILE = (
    '=HYPERLINK("http://evil.example")', "@SUM(1)", "-2+3", "two\nlines\r\nand, \"quotes\"", "ends with a return\r",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd", "\U0001f6a2 ship \ufeff mark", "'already quoted", "NULL",
    "\u0085 \u2028 breaks",
)  # fmt: skip


def test_three_formats_hold_the_same_rows_for_pandas_and_duckdb(store: StoreArticle, tmp_path: Path) -> None:
    extra = {
        0: '{"topic": "=1+1", "Cluster": 1, "cluster": "mine"}',
        1: '{"topic": "\\u0000 and \\ud800", "year": 1999}',
    }
    stored = []
    for number, hostile in enumerate(HOSTILE):
        text = f"{hostile} number {number}"
        details = {"byline": text.replace("\r", " ").replace("\n", " "), "paywalled": bool(number % 2)}
        names = {"headline": text, "newspaper": "=Paper", "external_id": f"-{number}"}
        stored.append(store(text, **names, **details, extra_columns=extra.get(number, "")))
    make_cluster(*stored[:3])
    for ending in ("jsonl", "csv", "parquet"):
        export(tmp_path / f"c.{ending}", policy="keep-syndication")
    for name, expected, articles in (("c", CORPUS_NAMES, 8), ("c.removed", REMOVED_NAMES, 2)):
        paths = [tmp_path / f"{name}.{ending}" for ending in ("jsonl", "csv", "parquet")]
        frames = [reader(path) for path in paths for reader in (read_with_pandas, read_with_duckdb)]
        # What JSON lines leave out is empty in a table; extra columns come last.
        assert all(list(row)[: len(expected)] == list(expected) for frame in frames for row in frame)
        lists = [[[same(row[column]) for column in expected] for row in frame] for frame in frames]
        assert all(rows == lists[0] for rows in lists)
        assert len(lists[0]) == articles
    extra_names = pd.read_parquet(tmp_path / "c.parquet").columns[len(CORPUS_NAMES) :]
    assert list(extra_names) == ["topic", "Cluster.2", "extra.cluster"]


def test_the_examples_of_the_documentation_run(
    archive: dict[str, Article], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(__file__).parents[3] / "docs" / "corpus.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    export(Path("corpus.parquet"))
    [for_pandas] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(for_pandas, {})  # noqa: S102 - our own text
    assert re.search(r"^other newspaper +2$", capsys.readouterr().out, re.MULTILINE)
    [for_duckdb] = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    with duckdb.connect() as base:
        found = base.execute(for_duckdb).fetchall()
    assert sorted(found) == [("Inland Courier", "Harbour Post", 1), ("Valley Sun", "Inland Courier", 1)]


def test_against_another_corpus(archive: dict[str, Article], store: StoreArticle, tmp_path: Path) -> None:
    ids = {name: article.pk for name, article in archive.items()}
    for name in ("a.jsonl", "a.csv.gz", "a.parquet"):
        export(tmp_path / name, policy="keep-all")
        said = export(tmp_path / "c.jsonl", "--against", str(tmp_path / name), policy="keep-all")
        assert f"Kept: 0. Removed: 7.\n  also in {name}: 7\n" in said
        assert (tmp_path / "c.jsonl").read_text() == ""
    # A copy of what the other corpus has goes too, even if that is outside the chosen articles.
    others = tmp_path / "others.csv"
    others.write_text(f"URL,note\n{archive['first'].url}#top,x\nhttps://elsewhere.example/1,y\n", encoding="utf-8")
    stay, removed = exported(tmp_path, "--against", str(others), "--newspaper", "Inland Courier")
    assert (set(stay), removed) == ({"two a"}, {"other": ("also in others.csv", ids["first"])})
    for name, text in (("external.jsonl", '{"external_id": "x-3"}'), ("ids.csv", f"article\n{ids['other']}\n")):
        (tmp_path / name).write_text(text)
        _, removed = exported(tmp_path, "--against", str(tmp_path / name), policy="keep-all")
        assert removed == dict.fromkeys(("first", "again", "other", "later"), (f"also in {name}", ids["other"]))
    described = json.loads((tmp_path / "c.json").read_text())
    assert described["options"]["against"] == "ids.csv"
    assert described["counts"]["other_corpus"] == {"rows": 1, "rows_without_an_article_here": 0}

    run = make_run(scope={"since": None, "until": "2026-03-06", "newspapers": None}, started_at=timezone.now())
    store(headline="new", newspaper="Harbour Post", date="2026-03-02")
    stay, removed = exported(tmp_path, "--against", str(run.pk))
    assert set(stay) == {"new", "alone"}
    assert removed["two b"] == (f"also in run {run.pk}", ids["two a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "c.txt"], r"--output: c.txt must end in .jsonl, .jsonl.gz, .csv, .csv.gz or .parquet\."),
        (["--output", "c.parquet.gz"], r"--output: c.parquet.gz must end in"),
        (["--output", "c.csv", "--format", "jsonl"], "the format jsonl contradicts c.csv; leave the format out"),
        (["--output", "no/c.csv"], "no does not exist or is not a folder; create it first"),
        (["--output", "c.csv", "--against", "77"], "there is no run 77; the latest are none; write ./77 for a file"),
        (["--output", "c.csv", "--against", "b.csv"], "there is no file b.csv, and it is not the number of a run"),
        (["--output", "c.csv", "--against", "bad.csv"], "it has no column url, external_id or id; rename or add one"),
        (["--output", "c.csv", "--against", "bad.parquet"], "bad.parquet cannot be read as Parquet"),
    ],
)
def test_errors_say_what_to_do(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("name\nx\n")
    (tmp_path / "bad.parquet").write_text("name\nx\n")
    with pytest.raises(CommandError, match=message):
        called("export_corpus", "--policy", "keep-all", *options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "bad.parquet"]


def test_without_articles_clusters_runs_or_pyarrow(
    store: StoreArticle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("c.jsonl", "c.csv", "c.parquet"):
        said = export(tmp_path / name)
        assert said.startswith("There are no clusters, so no article has copies; find_duplicates finds them.")
        assert "Articles: 0. Kept: 0. Removed: 0." in said
    assert list(pd.read_parquet(tmp_path / "c.parquet").columns) == list(CORPUS_NAMES)
    assert json.loads((tmp_path / "c.json").read_text())["run"] is None
    store(headline="one")
    said = export(tmp_path / "corpus", "--format", "csv", policy="drop-all-copies")
    assert "Articles: 1. Kept: 1." in said
    assert (tmp_path / "corpus.csv").exists()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(CommandError, match=r"pip install 'newsdedup\[parquet\]', or use .csv or .jsonl"):
        export(tmp_path / "d.parquet")


def test_articles_with_nothing_but_boilerplate_leave(tmp_path: Path, store: StoreArticle) -> None:
    notice = "Subscribe to our newsletter for more stories like this one."
    bodies = [f"{words} came to the quay this week." for words in ("A barge", "Two seals", "The mayor", "Our editor")]
    # Of its copies, the one that has a text of its own stays.
    empty, full = store(notice, headline="empty"), store(f"{bodies[0]}\n\n{notice}", headline="full")
    for body in bodies[1:]:
        store(f"{body}\n\n{notice}")
    make_cluster(empty, full)
    stay, removed = exported(tmp_path, "--boilerplate", "topic")
    assert removed == {"empty": ("nothing but boilerplate", None)}
    assert len(stay) == 4
    assert all(notice not in row["content"] for row in read(tmp_path / "c.jsonl"))


def test_memory_and_queries_are_bounded(
    archive: dict[str, Article], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CaptureQueriesContext(connection) as one:
        export(tmp_path / "c.jsonl")
    monkeypatch.setattr(writing, "_ARTICLES_AT_ONCE", 2)
    with CaptureQueriesContext(connection) as four:
        export(tmp_path / "c.jsonl")
    # One query more for each further batch.
    assert len(four) == len(one) + 3


def test_a_killed_export_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "c.jsonl.gz"
    child = os.fork()
    if child == 0:
        with whole_file(target) as file:
            file.write("half a line")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_the_page_gives_the_command_and_small_files(
    archive: dict[str, Article], visitor: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = Newspaper.objects.get(name="Harbour Post")
    query = f"?policy=one-per-cluster&since=2026-03-02&newspapers={paper.pk}&format=csv.gz"
    with CaptureQueriesContext(connection) as queries:
        page = visitor.get(f"/exports/{query}")
    assert len(queries) <= 11
    options = "--policy one-per-cluster --since 2026-03-02 --output corpus.csv.gz '--newspaper=Harbour Post'"
    command = f"export_corpus {options}"
    assert page.context["form"].command == f"manage.py {command}"
    assert "3 articles of these days and newspapers" in page.content.decode()
    assert page.context["report_query"] == f"?since=2026-03-02&newspapers={paper.pk}"
    assert ReportForm(QueryDict(page.context["report_query"][1:]), report=REPORTS["policies"]).is_valid()

    monkeypatch.chdir(tmp_path)
    called(*shlex.split(command), "--no-progress")
    for content, name in (("articles", "corpus"), ("removed", "corpus.removed")):
        sent = visitor.get(f"/exports/corpus/{content}.csv{query}")
        assert sent["Content-Disposition"] == f'attachment; filename="{name}.csv"'
        assert b"".join(sent.streaming_content) == gzip.decompress((tmp_path / f"{name}.csv.gz").read_bytes())
    lines = b"".join(visitor.get("/exports/corpus/articles.jsonl").streaming_content).splitlines()
    assert [json.loads(line)["headline"] for line in lines] == ["first", "other", "two a", "two b", "alone"]

    assert visitor.get("/exports/corpus/prices.csv").status_code == 404
    assert visitor.get("/exports/?policy=best").status_code == 400
    monkeypatch.setattr("dedup.views.files.MAX_DOWNLOADED", 6)
    for asked, said in (
        ("", "These are more than 6 articles, too many to be sent at once."),
        ("?boilerplate=topic&until=2026-03-02", "Boilerplate is not removed at once"),
    ):
        assert said in visitor.get(f"/exports/{asked}").content.decode()
        refused = visitor.get(f"/exports/corpus/articles.csv{asked}")
        assert refused.status_code == 400
        assert "or use: manage.py export_corpus --policy keep-syndication " in refused.content.decode()
