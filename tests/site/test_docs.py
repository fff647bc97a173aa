"""What docs/ and README name exists: commands with their options, pages, files. Templates use what is theirs."""

import json
import os
import re
import shlex
from argparse import ArgumentParser
from functools import cache

import pytest
from django.core.management import call_command, get_commands, load_command_class

from articles.models import Article
from dedup.models import Cluster
from tests.databases import CHECKOUT

FOLDER = CHECKOUT / "docs"
README = (CHECKOUT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.md"))}
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"\bmanage\.py (?P<name>\w+)(?P<arguments>.*)")
# In running text, with or without manage.py before it; values there are placeholders.
_MENTION = re.compile(r"`(?P<manage>manage\.py )?(?P<name>[a-z]\w+)(?P<arguments> [^`\n]*)?`")


@cache
def parser_of(name: str) -> ArgumentParser:
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


def commands_in_blocks() -> list[tuple[str, str]]:
    """Return page and line of every command to copy."""
    blocks = [(page, block) for page, text in (*DOCS.items(), ("README.md", README)) for block in _BLOCK.findall(text)]
    return [(page, line) for page, block in blocks for line in block.splitlines() if _COMMAND.search(line)]


@pytest.mark.parametrize(("page", "line"), commands_in_blocks())
def test_a_command_to_copy_is_understood(page: str, line: str) -> None:
    found = _COMMAND.search(line)
    arguments = re.split(r" [<>|] ", found["arguments"])[0]
    parser_of(found["name"]).parse_args(shlex.split(arguments, comments=True))


@pytest.mark.parametrize("page", DOCS)
def test_commands_in_running_text_exist_and_know_their_options(page: str) -> None:
    for mention in _MENTION.finditer(DOCS[page]):
        options = re.findall(r"--[a-z][a-z-]*", mention["arguments"] or "")
        if mention["manage"] or (options and mention["name"] in get_commands()):
            known = {string for action in parser_of(mention["name"])._actions for string in action.option_strings}
            assert known.issuperset(options), mention[0]


MANAGE = ".venv/bin/python manage.py "


def test_files_and_folders_that_the_readme_names_exist() -> None:
    for line in "".join(_BLOCK.findall(README)).splitlines():
        assert line.startswith(MANAGE) or os.access(CHECKOUT / line, os.X_OK), line
    for folder in re.findall(r"^\| `([a-z_]+/)`", README, re.MULTILINE):
        assert (CHECKOUT / folder).is_dir(), folder


@pytest.mark.django_db
def test_following_the_readme_finds_the_duplicates_of_ones_own_articles(tmp_path, monkeypatch, capsys) -> None:
    rows = [
        {
            "date": "2026-03-02",
            "headline": "Ferry timetable",
            "url": f"https://{paper}.example/2026/03/02/ferry-timetable-changes",
            "content": "The ferry sails at noon on weekdays until the end of May.",
            "newspaper": paper,
        }
        for paper in ("harbourpost", "inlandcourier")
    ]
    (tmp_path / "articles.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    wanted = ("import_articles", "find_duplicates", "make_editor")
    block = next(block for block in _BLOCK.findall(README) if "import_articles" in block)
    for line in block.splitlines():
        name, *arguments = shlex.split(line.removeprefix(MANAGE))
        if name in wanted:
            call_command(name, *[argument.removesuffix(".gz") for argument in arguments])
    assert Article.objects.count() == 2
    assert Cluster.objects.get().size == 2
    assert "Login: anna" in capsys.readouterr().out


TEMPLATES = CHECKOUT / "templates"
OF_EVERY_PAGE = {"django_htmx", "humanize", "jobs", "keys", "layout", "menu", "static"}


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
