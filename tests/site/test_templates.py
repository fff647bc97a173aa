"""The templates of an area use what is theirs and what every page has, and nothing of another area."""

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
OF_EVERY_PAGE = {"django_htmx", "humanize", "keys", "layout", "menu", "static"}


@pytest.mark.parametrize("area", ["accounts", "crawlers", "layout"])
def test_general_pages_use_nothing_of_the_review(area: str) -> None:
    for template in (TEMPLATES / area).iterdir():
        text = template.read_text()
        loaded = {name for names in re.findall(r"{% load ([^%]+) %}", text) for name in names.split()}
        folders = set(re.findall(r'{% (?:include|extends) "([a-z]+)/', text))
        assert loaded <= OF_EVERY_PAGE, template.name
        assert folders <= {"layout", area}, template.name


def test_a_table_says_its_time_zone_once() -> None:
    rows = [
        (str(path.relative_to(TEMPLATES)), cell)
        for path in TEMPLATES.rglob("*.html")
        for cell in re.findall(r"<td[^>]*>{% include \"articles/_published.html\" [^%]+%}", path.read_text())
    ]
    assert len(rows) >= 3
    assert [row for row in rows if "zone=zone" not in row[1]] == []
