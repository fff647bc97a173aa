"""`newsdedup clean`: what it takes files for, what it writes, what it leaves behind, and what a wheel of it can do."""

import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import psutil
import pyarrow
import pytest
from pyarrow import parquet

import newsdedup
from articles.files.records import UnreadableFileError
from newsdedup_site.cleaning.inputs import Input, JsonLines, chosen_columns, kind_of_input

CHECKOUT = Path(newsdedup.__file__).parents[1]
FERRY = "The ferry to Selby stopped on Monday because its engine failed, and will not sail before the end of the week."
ROWS: list[dict[str, Any]] = [
    {"Titel": "Ferry stops", "text": f"{FERRY} The company asks passengers to take the bus.", "paper": "Coast"},
    {"Titel": "Ferry stops", "text": f"{FERRY} The company asks passengers to take the bus.", "paper": "Harbour"},
    {
        "Titel": "A new bridge",
        "text": "The council of Carrack has voted for a bridge over the river.",
        "paper": "Coast",
    },
]
for place, row in enumerate(ROWS):
    row |= {
        "link": f"https://{row['paper'].lower()}.example/{place}",
        "time": 1_767_571_200_000 + place,
        "topic": "sea",
    }
COLUMNS = "headline=Titel,newspaper=paper"


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    path = tmp_path / "articles.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ROWS[0])
        writer.writeheader()
        writer.writerows(ROWS)
    return path


@pytest.fixture
def home() -> Iterator[Path]:
    """Yield a folder that the user of the embedded server may enter."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o711)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def read(path: Path, columns: str = "") -> tuple[Input, list[dict[str, Any]], list[str]]:
    source, faults = Input(path, chosen_columns(columns)), list[str]()
    stream = JsonLines(source.rows(), faults)
    return source, [json.loads(line) for line in iter(stream.readline, b"")], faults


def clean(*arguments: object, program: tuple[str, ...] = (sys.executable, "-m", "newsdedup"), **options: Any) -> Any:
    command = [*program, "clean", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=options.pop("cwd", CHECKOUT))


def test_columns_are_found_by_name_or_chosen(csv_file: Path) -> None:
    source, rows, faults = read(csv_file, COLUMNS)
    assert source.uses == {
        "Titel": "headline",
        "text": "content",
        "paper": "newspaper",
        "link": "url",
        "time": "date",
        "topic": "",
    }
    assert (source.notes, faults) == ([], [])
    assert (rows[0]["headline"], rows[0]["time"], rows[0]["topic"]) == (
        "Ferry stops",
        "1767571200000",
        "sea",
    )


def test_parquet_gives_the_same_rows_as_csv(csv_file: Path) -> None:
    path = csv_file.with_suffix(".parquet")
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    assert read(path, COLUMNS)[1] == [row | {"time": int(row["time"])} for row in read(csv_file, COLUMNS)[1]]


def test_rows_without_addresses_and_texts_get_some(tmp_path: Path) -> None:
    path = tmp_path / "my titles.jsonl"
    path.write_text('{"title": "One", "date": "2026-01-05"}\nnonsense\n{"title": "Two", "date": "2026-01-06"}\n')
    source, rows, faults = read(path)
    assert [(row["url"], row["content"]) for row in rows] == [
        ("https://my-titles-jsonl.invalid/1", "One"),
        ("https://my-titles-jsonl.invalid/3", "Two"),
    ]
    assert len(source.notes) == 2
    assert faults == ["line is not JSON: Expecting value at character 1; write one object per line"]


def test_a_folder_of_pages_gives_their_articles(tmp_path: Path) -> None:
    paragraphs = "".join(f"<p>{FERRY} Passengers of boat {number} wait.</p>" for number in range(4))
    head = '<meta property="article:published_time" content="2026-01-05T08:00:00Z"><title>Ferry stops</title>'
    (tmp_path / "a.html").write_text(f"<html><head>{head}</head><body><article>{paragraphs}</article></body></html>")
    (tmp_path / "b.htm").write_text("<p>Nothing.")
    _, rows, faults = read(tmp_path)
    assert [(row["url"], row["date"][:10], row["file"]) for row in rows] == [
        ("https://pages.invalid/a.html", "2026-01-05", "a.html")
    ]
    assert [fault.partition(":")[0] for fault in faults] == ["b.htm"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "title,text\na,b\n", "has no column for the day of publication"),
        ("a.csv", "title,date,text\na,2026-01-05,b\n", "has no column Titel; it has title, date, text"),
        ("a.parquet", "nonsense", "a.parquet cannot be read"),
        ("a.txt", "", "its kind is unknown"),
        ("missing.csv", None, "there is no such file"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(UnreadableFileError, match=re.escape(said)):
        _ = kind_of_input(path) and read(path, "headline=Titel" if "Titel" in said else "")


@pytest.mark.slow
def test_a_file_is_cleaned_and_reviewed_and_cleaned_again(csv_file: Path, home: Path) -> None:
    project, output = home / "project", csv_file.with_name("clean.csv")
    options = (csv_file, "--columns", COLUMNS, "--output", output)
    done = clean(*options, "--keep", project, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["read"]["created"], told["corpus"]["kept"], told["corpus"]["total_removed"]) == (3, 2, 1)
    files = (output, output.with_name("clean.removed.csv"))
    kept, removed = (list(csv.DictReader(path.read_text().splitlines())) for path in files)
    assert {row["topic"] for row in kept} == {"sea"}
    assert [row["newspaper"] for row in kept] + [row["newspaper"] for row in removed] == ["Coast", "Coast", "Harbour"]
    report = output.with_suffix(".html").read_text()
    assert not re.search(r"(src|srcset)=|@import|<link|<script|url\(", report)
    assert "Ferry stops" in report
    # A decision changes what the next call writes.
    decide = (
        "from django.contrib.auth.models import User; from dedup.models import Pair;"
        "from dedup.review.answers.decisions import decide_pair;"
        "decide_pair(Pair.objects.get().pk, 'reject', user=User.objects.create(username='mara'))"
    )
    shell = [sys.executable, "-m", "newsdedup", "--project", str(project), "shell", "-v", "0", "-c", decide]
    subprocess.run(shell, check=True, cwd=CHECKOUT)
    assert json.loads(clean(*options, "--keep", project, "--json").stdout)["corpus"]["kept"] == 3
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "newsdedup", "serve", str(project), "--port", port]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == f"The queue is at http://127.0.0.1:{port}/queue/ (Ctrl+C ends it).\n"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/login/") as answer:
            assert answer.status == 200
        worker = psutil.Process(server.pid).children()[0]
        server.terminate()
    assert not worker.is_running()


@pytest.mark.slow
def test_a_killed_call_leaves_no_folder(csv_file: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob("newsdedup-*/temporary"))
    command = [sys.executable, "-m", "newsdedup", "clean", str(csv_file), "--columns", COLUMNS]
    process = subprocess.Popen(
        [*command, "-o", str(csv_file.with_name("x.csv"))], cwd=CHECKOUT, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    made: set[Path] = set()
    while not any((path.parent / "data" / "postmaster.pid").exists() for path in made):
        assert time.monotonic() < deadline
        made = set(Path(tempfile.gettempdir()).glob("newsdedup-*/temporary")) - before
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while any(path.parent.exists() for path in made):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert not csv_file.with_name("x.csv").exists()


@pytest.mark.slow
def test_an_installed_wheel_cleans_frames_and_files(tmp_path: Path) -> None:
    source = tmp_path / "source"
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listing, check=True, capture_output=True, text=True, cwd=CHECKOUT).stdout.splitlines()
    for name in files:
        if not name.startswith(("tests/", "benchmarks/")) and (CHECKOUT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, source / name)
    build = "import setuptools.build_meta as build; print(build.build_wheel('..'))"
    subprocess.run([sys.executable, "-c", build], check=True, capture_output=True, cwd=source)
    [wheel] = tmp_path.glob("*.whl")
    place = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(place)
    shutil.rmtree(source)
    frame = pandas.DataFrame(ROWS)
    program = (
        "import sys, pandas, newsdedup; frame = pandas.read_json(sys.argv[1]);"
        "found = newsdedup.clean(frame, columns={'headline': 'Titel', 'newspaper': 'paper'});"
        "print(newsdedup.__file__); print(found.kept.index.tolist(), found.removed, len(found.report) > 1000)"
    )
    frame.to_json(tmp_path / "frame.json")
    command = [sys.executable, "-P", "-c", program, str(tmp_path / "frame.json")]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=place, env={**os.environ, "PYTHONPATH": str(place)}
    )
    assert done.stdout.splitlines() == [
        str(place / "newsdedup" / "__init__.py"),
        "[0, 2] [{'row': 1, 'copy_of': 0, 'reason': 'other newspaper'}] True",
    ], done.stderr
