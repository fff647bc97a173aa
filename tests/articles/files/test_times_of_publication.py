"""Times of publication are imported from files and exported as they came."""

from __future__ import annotations

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
