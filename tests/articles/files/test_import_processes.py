"""The command import_articles in its own processes: killed, run twice in parallel, on a terminal."""

from __future__ import annotations

import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import Count

from articles.files import importing
from articles.files.importing import Store, import_rows
from articles.files.records import find_rows
from articles.models import Article, ArticleURL, HeadlineVariant, Newspaper
from articles.storage import preparing
from articles.storage.ingest import Again, Stored, store_prepared
from articles.storage.preparing import Forms, Prepared
from tests.articles.rows import json_lines, row
from tests.databases import child_environment

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, **child_environment(), "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings"}


KILLED_IN_THIRD_BATCH = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from articles.files import importing
from articles.storage import ingest

importing.FEW_ROWS = 20
write, calls = ingest._write, iter(range(1, 99))

def write_and_die(prepared):
    written = write(prepared)
    if next(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return written

ingest._write = write_and_die
call_command("import_articles", *sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_killed_import_is_repaired_by_running_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], environment: dict[str, str]
) -> None:
    path, rejects = tmp_path / "a.jsonl.gz", tmp_path / "rejects.jsonl"
    rows = [row(number) if number % 10 else row(number, content="") for number in range(100)]
    path.write_bytes(gzip.compress(json_lines(*rows)))
    options = [str(path), "--batch-size=10", f"--rejects={rejects}"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_IN_THIRD_BATCH, *options, "--workers=2"],
        check=False, cwd=CHECKOUT, env=environment,
    )  # fmt: skip

    assert killed.returncode == -signal.SIGKILL
    assert Article.objects.count() == 18
    assert [json.loads(line)["line"] for line in rejects.read_text().splitlines()] == [1, 11]
    call_command("import_articles", *options)
    assert capsys.readouterr().out.endswith("100 articles read: 72 stored, 18 already known, 10 rejected.\n")
    assert (
        Article.objects.values("url").distinct().count() == Article.objects.count() == ArticleURL.objects.count() == 90
    )
    assert len(rejects.read_text().splitlines()) == 10


def tables() -> list[list[tuple[object, ...]]]:
    """Return the rows of all tables without the times of storing; articles are counted from 1."""
    rows = [
        Newspaper.objects.order_by("pk").values_list("name", "host"),
        Article.objects.order_by("pk").values_list(
            "newspaper__name", "external_id", "date", "published_at", "headline", "url", "content", "extra_columns",
            "normalized_title", "normalized_text", "text_digest", "language", "byline", "agency", "dateline",
            "date_source",
        ),
        ArticleURL.objects.order_by("pk").values_list("article__url", "url", "key", "normalized_url", "kind"),
        HeadlineVariant.objects.order_by("pk").values_list("article__url", "headline", "day", "url"),
    ]  # fmt: skip
    return [list(found_row) for found_row in rows]


def mixed_rows() -> Iterator[dict[str, object]]:
    """Yield rows of several newspapers, some without a name, some invalid, some twice."""
    for number in range(120):
        host = ("harbourpost.example", "www.skerry.example", "m.tide.example")[number % 3]
        url = f"https://{host}/2026/the-ferry-sails-{number % 100}?sid={number % 7}"
        text = f"Ferry {number} sails to the island \\ again.\n\tIt’s late. " * 3
        lead = "VESTBY, March 3 (Reuters) - " if number % 4 else ""
        changes = {
            "url": url if number % 11 else f"https://www.google.com/url?url={url}",
            "newspaper": ("Harbour Post", "Skerry Times", "")[number % 3],
            "headline": f"Ferry {number} sails | {'Harbour Post' if number % 3 == 0 else 'News'}",
            "content": "" if number % 13 == 0 else f"{lead}{text}",
            "published_at": f"2026-03-02T10:{number % 60:02}:00Z" if number % 5 == 0 else None,
            "rubric": "Sport" if number % 2 else None,
        }
        yield row(number, **changes)


@pytest.mark.django_db(transaction=True)
def test_worker_processes_give_the_rows_ids_and_rejects_of_one_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rejects = tmp_path / "a.jsonl", tmp_path / "rejects.jsonl"
    path.write_bytes(json_lines(*mixed_rows()))
    found = []
    for workers, few in ((1, 1_000), (2, 0)):
        monkeypatch.setattr(importing, "FEW_ROWS", few)
        # Twice: the second time all are known.
        options = ["--batch-size=20", f"--rejects={rejects}", f"--workers={workers}"]
        call_command("import_articles", str(path), str(path), *options)
        ids = list(Article.objects.order_by("pk").values_list("pk", flat=True))
        assert ids == list(range(ids[0], ids[0] + len(ids)))
        found.append((capsys.readouterr().out.splitlines()[-1], rejects.read_bytes(), tables()))
        Article.objects.all().delete()
        Newspaper.objects.all().delete()
    assert found[0] == found[1]
    assert found[0][0].endswith(" 20 rejected.")


@pytest.mark.django_db(transaction=True)
def test_a_newspaper_that_changes_while_batches_wait_counts_as_it_is_when_they_are_stored() -> None:
    batches = iter(range(3))

    def changed(batch: Sequence[Prepared], again: Again) -> list[Stored]:
        if next(batches) == 1:
            Newspaper.objects.update(title_affixes=["News"], kept_url_parameters=["sid"])
        return store_prepared(batch, again)

    rows = (row(n, url=f"https://a.example/story-{5000 + n}?sid=1", headline=f"Ferry {n} | News") for n in range(6))
    found = find_rows(io.BytesIO(json_lines(*rows)), "jsonl")
    list(import_rows(found, batch_size=2, store=changed))
    titles = Article.objects.order_by("pk").values_list("normalized_title", flat=True)
    assert list(titles) == ["ferry 0 news", "ferry 1 news", "ferry 2", "ferry 3", "ferry 4", "ferry 5"]
    forms = ArticleURL.objects.order_by("pk").values_list("normalized_url", flat=True)
    assert [form.endswith("?sid=1") for form in forms] == [False, False, True, True, True, True]


@pytest.mark.django_db
def test_of_a_known_row_only_its_url_time_and_headline_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://harbourpost.example/1"
    store_rows(row())
    with monkeypatch.context() as patched:
        patched.setattr(Forms, "of", None)
        patched.setattr(preparing, "detect_languages", lambda texts: pytest.fail("read") if texts else [])
        wrapped = f"https://www.google.com/url?url={url}"
        again = row(url=wrapped, headline="Ferry sails late", published_at="2026-03-02T10:30:00Z", content="Other.")
        [stored] = store_rows(again)
    article = Article.objects.get()
    assert (stored.outcome, stored.headline) == ("known", "kept")
    assert (article.content, str(article.publication_time)) == (str(row()["content"]), "2026-03-02T10:30:00+00:00")
    assert set(article.urls.values_list("url", flat=True)) == {url, wrapped}
    assert HeadlineVariant.objects.get().headline == "Ferry sails late"


@pytest.mark.django_db
def test_a_known_article_that_vanishes_before_its_row_is_stored_is_stored_whole() -> None:
    def vanish(batch: Sequence[Prepared], again: Again) -> list[Stored]:
        assert [prepared.is_known for prepared in batch] == [True, False]
        Article.objects.all().delete()
        return store_prepared(batch, again)

    store_rows(row())
    before = Article.objects.values_list("headline", "content", "normalized_title", "text_digest").get()
    assert [stored.outcome for stored in store_rows(row(), row(2), store=vanish)] == ["created", "created"]
    assert Article.objects.values_list("headline", "content", "normalized_title", "text_digest").first() == before


def store_rows(*rows: object, store: Store = store_prepared) -> list[Stored]:
    found = find_rows(io.BytesIO(json_lines(*rows)), "jsonl")
    [batch] = import_rows(found, batch_size=10, store=store)
    return [stored for _, stored in batch]


def lines_for_both(rows: int) -> Iterator[bytes]:
    for number in range(rows):
        yield json_lines(row(number, content=f"Ferry {number}. " * 200))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_imports_of_the_same_rows_at_the_same_time_store_each_once(environment: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "import_articles", "-", "--format=jsonl", "--batch-size=20"]
    processes = [
        subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False
        )
        for _ in range(2)
    ]
    # 900 kB through pipes of 64 kB, line by line to both: each must keep reading while the other does.
    for line in lines_for_both(300):
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(line)
    printed = [process.communicate(timeout=120)[0].decode() for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    counts = [
        [int(number.split()[0]) for number in text.splitlines()[-1].partition(": ")[2].split(", ")] for text in printed
    ]
    assert [sum(counted) for counted in zip(*counts, strict=True)] == [300, 300, 0]
    assert Article.objects.count() == 300
    assert not Article.objects.values("url").annotate(copies=Count("id")).filter(copies__gt=1).exists()


def run_on_a_terminal(command: list[str], environment: dict[str, str]) -> str:
    """Run a command whose standard error is a terminal, and return what it printed there."""
    ours, theirs = pty.openpty()
    try:
        subprocess.run(command, check=True, cwd=CHECKOUT, env=environment, stderr=theirs, stdout=subprocess.DEVNULL)
        os.write(theirs, b"|end")
        return os.read(ours, 65_536).decode().removesuffix("|end")
    finally:
        os.close(theirs)
        os.close(ours)


@pytest.mark.django_db(transaction=True)
def test_progress_is_shown_only_on_a_terminal(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(*(row(number) for number in range(30))))
    command = [sys.executable, "manage.py", "import_articles", str(path), "--dry-run"]
    environment |= {"COLUMNS": "200", "TERM": "xterm"}

    assert "30 articles, " in run_on_a_terminal(command, environment)
    assert run_on_a_terminal([*command, "--no-progress"], environment) == ""
    piped = subprocess.run(command, check=True, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    assert piped.stderr == ""
    assert piped.stdout.endswith("30 articles read: 30 stored, 0 already known, 0 rejected.\n")


def test_the_exit_status_is_2_for_wrong_usage_and_1_for_a_missing_file(tmp_path: Path) -> None:
    def status(*arguments: str) -> int:
        command = [sys.executable, "manage.py", "import_articles", *arguments]
        return subprocess.run(command, check=False, cwd=CHECKOUT, capture_output=True).returncode

    (tmp_path / "a.xml").touch()
    assert [status(), status(str(tmp_path / "a.xml")), status(str(tmp_path / "a.csv"))] == [2, 2, 1]
