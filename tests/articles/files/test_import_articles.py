"""The command import_articles: its files, options, output and exit statuses."""

import gzip
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from articles.files.cells import csv_text
from articles.models import Article, ArticleURL, Newspaper
from articles.storage import ingest
from articles.storage.preparing import Prepared
from tests.articles.rows import json_lines, row
from tests.commands import called, refused


def run(*arguments: object) -> tuple[str, str]:
    return called("import_articles", *arguments)


def summary(said: tuple[str, str]) -> str:
    return said[0].splitlines()[-1]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "A.CSV.GZ"])
def test_each_kind_of_file_is_stored_and_the_second_time_known(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    rows = [row(number) for number in range(25)]
    cells = csv_text([row(), *(article.values() for article in rows)])
    data = cells.encode() if "csv" in name.lower() else json_lines(*rows)
    path.write_bytes(gzip.compress(data) if name.lower().endswith(".gz") else data)

    first, again = run(path, "--batch-size=10"), run(path, "--batch-size=10")
    assert summary(first) == "25 articles read: 25 stored, 0 already known, 0 rejected."
    assert summary(again) == "25 articles read: 0 stored, 25 already known, 0 rejected."
    assert (first[1], again[1]) == ("", "")
    stored = Article.objects.get(url="https://harbourpost.example/7")
    assert (stored.headline, str(stored.date)) == ("Ferry number 7", "2026-03-02")
    assert stored.newspaper.name == "Harbour Post"
    assert list(stored.urls.values_list("kind", flat=True)) == ["import"]
    assert Article.objects.count() == ArticleURL.objects.count() == 25


@pytest.mark.django_db
def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json_lines(row(1), row(2)))))
    assert summary(run("-", "--format=jsonl")) == "2 articles read: 2 stored, 0 already known, 0 rejected."


@pytest.mark.django_db
def test_after_many_articles_the_statistics_are_refreshed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MANY", 37)
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(*(row(number) for number in range(37))))
    run(path)
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples::int FROM pg_class WHERE relname = 'articles_article'")
        assert cursor.fetchone() == (37,)


@pytest.mark.django_db
def test_the_table_names_each_file_and_their_sum(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(json_lines(row(1), row(2), {"no": "url"}))
    (tmp_path / "two.jsonl").write_bytes(json_lines(row(2), row(3)))
    out, _ = run(tmp_path / "one.jsonl", tmp_path / "two.jsonl")

    cells = [line.split() for line in out.splitlines()]
    assert ["file", "read", "stored", "known", "rejected", "seconds", "articles/s"] in cells
    assert [cell[:5] for cell in cells if cell and cell[0] in {"one.jsonl", "two.jsonl", "all"}] == [
        ["one.jsonl", "3", "2", "0", "1"],
        ["two.jsonl", "2", "1", "1", "0"],
        ["all", "5", "3", "1", "1"],
    ]
    assert summary((out, "")) == "5 articles read: 3 stored, 1 already known, 1 rejected."


@pytest.mark.django_db
def test_other_headlines_of_known_articles_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MAX_HEADLINE_VARIANTS", 1)
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(row(1), *(row(1, headline=headline) for headline in ("Second", "Third"))))
    assert summary(run(path)) == (
        "3 articles read: 1 stored, 2 already known (1 with another headline, "
        "1 with one that is not kept, because they have 100 others), 0 rejected."
    )
    assert summary(run(path)) == (
        "3 articles read: 0 stored, 3 already known (1 with one that is not kept, because they have 100 others), "
        "0 rejected."
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "data"),
    [
        *((f"empty.{kind}", b"") for kind in ("jsonl", "csv", "csv.gz")),
        *(("a.csv", data) for data in (b"\n \r\n", b"date,headline,url,content\n", b"\xef\xbb\xbf")),
    ],
)
def test_a_file_without_rows_is_not_an_error(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert summary(run(tmp_path / name)) == "0 articles read: 0 stored, 0 already known, 0 rejected."


BAD_ROWS = {
    2: (json_lines(row(2, url="")), "url .*missing"),
    3: (json_lines(row(3, date="12/11/2025")), r"date '12/11/2025' .*ambiguous.*\(2024-04-03\)"),
    4: (json_lines(row(4, content=" ")), "content .*empty"),
    5: (json_lines(row(5, content="a\0b")), "content .*NUL.* 2;"),
    6: (json_lines(row(6, content="x" * 5_000_000)), "content .*5,000,000.*1,000,000"),
    7: (json_lines(row(7, headline="\ud800")), "headline .*surrogate.*UTF-8"),
    8: (json_lines(row(8, content=["x"])), "content .*array"),
    9: (b"\xff\n", "byte 1 of line 9 .*UTF-8"),
    10: (b"{x}\n", "line .*JSON.* 2;"),
}


@pytest.mark.django_db
def test_bad_rows_are_listed_and_the_others_are_stored(tmp_path: Path) -> None:
    path, rejects = tmp_path / "a.jsonl", tmp_path / "rejects.jsonl"
    path.write_bytes(json_lines(row(1)) + b"".join(line for line, _ in BAD_ROWS.values()) + json_lines(row(9)))
    said = run(path, "--rejects", rejects, "--batch-size=3")

    assert summary(said) == "11 articles read: 2 stored, 0 already known, 9 rejected."
    entries = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [entry["line"] for entry in entries] == list(BAD_ROWS)
    for entry in entries:
        assert re.match(BAD_ROWS[entry["line"]][1], entry["reason"]), entry["reason"]
    assert {entry["file"] for entry in entries} == {str(path)}
    assert all(len(entry["raw"]) <= 500 for entry in entries)
    assert entries[0]["raw"] == json.dumps(row(2, url=""))
    assert "line 2" not in said[1]
    assert re.search("^ +1  content .*NUL.*…$", said[1], re.MULTILINE)
    assert re.search("^ +1  byte … of line … .*UTF-8$", said[1], re.MULTILINE)
    assert set(Article.objects.values_list("headline", flat=True)) == {"Ferry number 1", "Ferry number 9"}


@pytest.mark.django_db
def test_without_a_rejects_file_the_first_rejects_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    bad = [row(number, headline="h" * (3_000 + number)) for number in range(6)]
    path.write_bytes(json_lines(*bad, row(9, content="")))
    _, err = run(path)

    lines = err.splitlines()
    for number, line in enumerate(lines[:5]):
        assert re.fullmatch(rf"{path}, line {number + 1}: headline .*3,00{number}.*2,000", line)
    assert re.search("2 more.*--rejects", lines[5])
    assert [line.split()[:2] for line in lines[7:]] == [["6", "headline"], ["1", "content"]]


@pytest.mark.django_db
@pytest.mark.parametrize("kept_bytes", [-8, -40, 3_000])
def test_a_broken_end_of_gzip_keeps_the_rows_before_it(tmp_path: Path, kept_bytes: int) -> None:
    path, rejects = tmp_path / "a.jsonl.gz", tmp_path / "rejects.jsonl"
    # Digits of a power do not compress well, so that most rows lie before the break.
    rows = [row(number, content=str(7**number)) for number in range(200)]
    path.write_bytes(gzip.compress(json_lines(*rows))[:kept_bytes])
    said = run(path, "--rejects", rejects)

    [entry] = [json.loads(line) for line in rejects.read_text().splitlines()]
    stored = Article.objects.count()
    assert 0 < stored <= 200
    assert entry["line"] == stored + 1
    assert re.search(r"gzip.*Compressed file ended before the end-of-stream marker.*;", entry["reason"])
    assert summary(said) == f"{stored + 1} articles read: {stored} stored, 0 already known, 1 rejected."


@pytest.mark.django_db
def test_a_newspaper_comes_from_the_row_then_the_option_then_the_host(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    alert = "https://www.google.com/url?rct=j&sa=t&url=https://skerrytimes.example/sport/regatta.html&ct=ga"
    agency = row(3, newspaper=" Tide \n Agency ", url="https://tide.example/3")
    path.write_bytes(json_lines(row(1, newspaper=None), row(2, newspaper="", url=alert), agency))
    run(path)
    path.write_bytes(json_lines(row(4, newspaper=None), row(5)))
    run(path, "--newspaper", "  Island  News ")
    assert [article.newspaper.name for article in Article.objects.order_by("id")] == [
        *("harbourpost.example", "skerrytimes.example", "Tide Agency"),
        *("Island News", "Harbour Post"),
    ]


@pytest.mark.django_db
def test_a_dry_run_reports_the_same_and_stores_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(row(1)))
    run(path)
    path.write_bytes(json_lines(row(1), row(2), row(3), row(2, content="later"), row(4, content="")))

    dry = summary(run(path, "--dry-run", "--batch-size=2"))
    assert Article.objects.count() == Newspaper.objects.count() == 1
    assert dry == "Dry run, nothing was stored: 5 articles read: 2 stored, 2 already known, 1 rejected."
    assert summary(run(path)) == dry.removeprefix("Dry run, nothing was stored: ")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["a.txt"], 2, r"a\.txt.*\.jsonl.*\.jsonl\.gz.*\.csv.*\.csv\.gz"),
        (["-"], 2, '"-" .*--format jsonl.*csv'),
        (["-", "-", "--format=csv"], 2, '"-" .*once'),
        (["a.csv", "--rejects=./a.csv"], 2, "--rejects ./a.csv .*overwrite"),
        (["nowhere.csv"], 1, "nowhere.csv.*No such file or directory; .*path"),
        (["nowhere.txt"], 1, "nowhere.txt.*No such file or directory; .*path"),
        (["."], 2, ""),
        (["folder.csv"], 1, "folder.csv.*Is a directory; .*path"),
        (["headline.csv"], 1, "headline.csv.*content, text, description, summary.*date, headline, url; .*"),
        (["plain.jsonl.gz"], 1, "plain.jsonl.gz.*Not a gzipped file.*; rename"),
        (["good.jsonl", "--rejects=missing/r.jsonl"], 1, ""),
    ],
)
def test_invalid_arguments_are_refused_before_anything_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "a.txt").touch()
    (tmp_path / "headline.csv").write_text("date,headline,url\n2026-03-02,Ferry,https://a.example/1\n")
    (tmp_path / "plain.jsonl.gz").write_text("{}\n")
    (tmp_path / "good.jsonl").write_bytes(json_lines(row()))
    first = [] if "-" in arguments else ["good.jsonl"]
    # Without a database: the test has none.
    assert re.search(message, refused("import_articles", *first, *arguments, status=status))


def test_a_named_pipe_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    os.mkfifo(path)
    assert re.match(f'{path} .*"-".*--format jsonl', refused("import_articles", path, status=1))


@pytest.mark.parametrize("link", [Path.hardlink_to, Path.symlink_to])
def test_rejects_never_overwrite_a_file_to_import(tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    path, rejects = tmp_path / "a.jsonl", tmp_path / "rejects.jsonl"
    path.write_bytes(json_lines(row()))
    link(rejects, path)
    assert re.search("--rejects .*overwrite", refused("import_articles", path, f"--rejects={rejects}", "--dry-run"))
    assert path.read_bytes() == json_lines(row())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--batch-size=0", "--batch-size: '0'.* 1 .*5,000"),
        ("--batch-size=many", "--batch-size: 'many'.* 1 .*5,000"),
        ("--batch-size=5001", "--batch-size: '5001'.* 1 .*5,000"),
        ("--newspaper= ", "--newspaper: .* 0 .*1 .*200"),
        (f"--newspaper={'n' * 201}", "--newspaper: .* 201 .*1 .*200"),
    ],
)
def test_an_option_out_of_range_is_refused(option: str, message: str) -> None:
    assert re.search(message, refused("import_articles", "a.jsonl", option, status=1))


def break_in_third_batch(monkeypatch: pytest.MonkeyPatch, error: BaseException, rejects: Path | None = None) -> None:
    """Have the writing of the third batch raise after its rows were sent; earlier rejects are in their file by then."""
    write, calls = ingest._write, iter(range(1, 9))

    def _write(prepared: dict[int, tuple[Prepared, int]]) -> dict[int, ingest.Stored]:
        written = write(prepared)
        if next(calls) == 3:
            assert rejects is None or rejects.read_text().count("\n") == 1
            raise error
        return written

    monkeypatch.setattr(ingest, "_write", _write)


@pytest.mark.django_db
def test_an_interrupted_import_keeps_and_reports_what_is_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rejects = tmp_path / "a.jsonl", tmp_path / "r.jsonl"
    path.write_bytes(json_lines(*(row(number) if number != 4 else row(url="") for number in range(50))))
    break_in_third_batch(monkeypatch, KeyboardInterrupt(), rejects)
    with pytest.raises(SystemExit) as stop:
        call_command("import_articles", str(path), "--batch-size=10", "--rejects", str(rejects))

    said = capsys.readouterr()
    assert stop.value.code == 130
    assert said.out.splitlines()[-1] == "20 articles read: 19 stored, 0 already known, 1 rejected."
    assert said.err.splitlines()[-1] == "Interrupted. Run the same command again to resume."
    assert Article.objects.count() == 19
    assert [json.loads(line)["line"] for line in rejects.read_text().splitlines()] == [5]


@pytest.mark.django_db
def test_a_lost_database_is_an_error_and_stored_rows_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(*(row(number) for number in range(50))))
    break_in_third_batch(monkeypatch, OperationalError("the connection is closed\n"))
    with pytest.raises(CommandError) as broken:
        call_command("import_articles", str(path), "--batch-size=10")

    assert re.search("the connection is closed.*kept.*run the same command again", str(broken.value))
    assert broken.value.returncode == 1
    assert capsys.readouterr().out.splitlines()[-1] == "20 articles read: 20 stored, 0 already known, 0 rejected."
