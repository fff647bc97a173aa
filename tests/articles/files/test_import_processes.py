"""The command import_articles with worker processes, with batches that wait, and on a terminal."""

import io
import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from django.core.management import call_command

from articles.files import importing
from articles.files.importing import Store, import_rows
from articles.models import Article, ArticleURL, HeadlineVariant, Newspaper
from articles.storage import preparing
from articles.storage.ingest import ForPaper, Stored, store_prepared
from articles.storage.preparing import Forms, Prepared
from tests.articles.rows import json_lines, row
from tests.articles.storage.test_ingest_one_by_one import tables
from tests.databases import CHECKOUT, child_environment, run


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
        found.append((capsys.readouterr().out.splitlines()[-1], rejects.read_bytes(), tables(ids[0])))
        Article.objects.all().delete()
        Newspaper.objects.all().delete()
    assert found[0] == found[1]
    assert found[0][0].endswith(" 20 rejected.")


@pytest.mark.django_db(transaction=True)
def test_a_newspaper_that_changes_while_batches_wait_counts_as_it_is_when_they_are_stored() -> None:
    batches = iter(range(3))

    def changed(batch: Sequence[Prepared], again: ForPaper) -> list[Stored]:
        if next(batches) == 1:
            Newspaper.objects.update(title_affixes=["News"], kept_url_parameters=["sid"])
        return store_prepared(batch, again)

    rows = (row(n, url=f"https://a.example/story-{5000 + n}?sid=1", headline=f"Ferry {n} | News") for n in range(6))
    list(import_rows(io.BytesIO(json_lines(*rows)), "jsonl", batch_size=2, store=changed))
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
    def vanish(batch: Sequence[Prepared], again: ForPaper) -> list[Stored]:
        assert [prepared.is_known for prepared in batch] == [True, False]
        Article.objects.all().delete()
        return store_prepared(batch, again)

    store_rows(row())
    before = Article.objects.values_list("headline", "content", "normalized_title", "text_digest").get()
    assert [stored.outcome for stored in store_rows(row(), row(2), store=vanish)] == ["created", "created"]
    assert Article.objects.values_list("headline", "content", "normalized_title", "text_digest").first() == before


def store_rows(*rows: object, store: Store = store_prepared) -> list[Stored]:
    [batch] = import_rows(io.BytesIO(json_lines(*rows)), "jsonl", batch_size=10, store=store)
    return [stored for _, stored in batch]


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
def test_progress_is_shown_only_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(*(row(number) for number in range(30))))
    command = [sys.executable, "manage.py", "import_articles", str(path), "--dry-run"]
    environment = os.environ | child_environment() | {"COLUMNS": "200", "TERM": "xterm"}

    assert "30 articles, " in run_on_a_terminal(command, environment)
    assert run_on_a_terminal([*command, "--no-progress"], environment) == ""
    piped = run(*command, **environment)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout.endswith("30 articles read: 30 stored, 0 already known, 0 rejected.\n")
