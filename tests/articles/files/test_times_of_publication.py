"""Times of publication are imported from files and exported as they came."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from articles.models import Article
from tests.articles.rows import json_lines, row

pytestmark = pytest.mark.django_db

DATES = ("date", "published_at", "published_offset", "published_precision")
TIMES = [
    "",
    "2026-03-02T18:30+02:00",
    "2026-03-02T18:30:00+02:00",
    "2026-03-02T23:59:59-11:30",
    "2026-03-02T00:00+00:00",
    "2026-03-02T00:00:00",
    "2026-03-02T07:05",
    "2026-03-03T00:10+05:45",
    "1605-01-01T00:00:00+14:00",
]


def imported(folder: Path, *dates: str) -> str:
    """Import a file of articles with these dates; return what the command prints."""
    source, out = folder / "file.jsonl", io.StringIO()
    source.write_bytes(json_lines(*(row(number, date=date) for number, date in enumerate(dates))))
    call_command("import_articles", str(source), stdout=out)
    return out.getvalue()


def stored() -> list[tuple[str, str]]:
    return [(str(item_.date), str(item_.publication_time)) for item_ in Article.objects.order_by("pk")]


def test_a_file_that_is_imported_again_fills_in_the_times_that_were_left_out(tmp_path: Path) -> None:
    imported(tmp_path, "2026-03-02", "2026-03-02T07:10Z", "2026-03-02", "2026-03-02")
    revisions = dict(Article.objects.values_list("pk", "revision"))
    articles = list(Article.objects.order_by("pk"))
    Article.objects.filter(pk=articles[3].pk).update(extractor_version=1)  # it has its page

    imported(tmp_path, *["2026-03-02T18:30+02:00"] * 2, "2026-03-03T00:10Z", "2026-03-02T18:30+02:00")
    assert stored() == [
        ("2026-03-02", "2026-03-02T18:30+02:00"),
        ("2026-03-02", "2026-03-02T07:10+00:00"),
        ("2026-03-02", "None"),
        ("2026-03-02", "None"),
    ]
    raised = [item_.revision > revisions[item_.pk] for item_ in Article.objects.order_by("pk")]
    assert raised == [True, False, False, False]


def test_a_time_is_filled_in_within_one_file(tmp_path: Path) -> None:
    source = tmp_path / "file.jsonl"
    source.write_bytes(json_lines(row(1, date="2026-03-02"), row(1, date="2026-03-02T18:30Z")))
    call_command("import_articles", str(source))
    assert stored() == [("2026-03-02", "2026-03-02T18:30+00:00")]


def exported(path: Path) -> list[dict[str, str]]:
    call_command("export_articles", output=str(path))
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_is_exported_is_imported_and_exported_as_it_was(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    rows = [row(number, external_id=f"a{number}", published_at=time) for number, time in enumerate(TIMES)]
    source.write_bytes(json_lines(*rows))
    call_command("import_articles", str(source))
    first = exported(tmp_path / "first.jsonl")
    assert [each["published_at"] for each in first] == TIMES
    stored = list(Article.objects.values_list(*DATES))

    Article.objects.all().delete()
    call_command("import_articles", str(tmp_path / "first.jsonl"))
    again = exported(tmp_path / "again.jsonl")
    assert stored == list(Article.objects.values_list(*DATES))
    assert [each | {"id": 0} for each in again] == [each | {"id": 0} for each in first]
