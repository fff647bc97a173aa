"""Every command that the README names is there, and those for one's own articles are run in their order."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class

from articles.models import Article
from dedup.models import Cluster

CHECKOUT = Path(__file__).resolve().parents[2]
README = (CHECKOUT / "README.md").read_text()
LINES = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]
MANAGE = ".venv/bin/python manage.py "


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_the_readme_exists_and_takes_its_options(line: str) -> None:
    if not line.startswith(MANAGE):
        assert os.access(CHECKOUT / line, os.X_OK)
        return
    name, *arguments = shlex.split(line.removeprefix(MANAGE))
    command = load_command_class(get_commands()[name], name)
    command.create_parser("manage.py", name).parse_args(arguments)


def test_files_and_folders_that_the_readme_names_exist() -> None:
    for target in re.findall(r"\]\((?!http)([^)]+)\)", README):
        assert (CHECKOUT / target).exists(), target
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
    block = next(block for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "import_articles" in block)
    for line in block.splitlines():
        name, *arguments = shlex.split(line.removeprefix(MANAGE))
        if name in wanted:
            call_command(name, *[argument.removesuffix(".gz") for argument in arguments])
    assert Article.objects.count() == 2
    assert Cluster.objects.get().size == 2
    assert "Login: anna" in capsys.readouterr().out
