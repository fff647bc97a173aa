"""The commands that docs/ names exist and take the options given there; its links lead somewhere."""

import re
import shlex
from argparse import ArgumentParser
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

FOLDER = Path(__file__).resolve().parents[2] / "docs"
DOCS = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.md"))}
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"\bmanage\.py (?P<name>\w+)(?P<arguments>.*)")
# In running text, with or without manage.py before it; values there are placeholders.
_MENTION = re.compile(r"`(?P<manage>manage\.py )?(?P<name>[a-z]\w+)(?P<arguments> [^`\n]*)?`")
_LINK = re.compile(r"\]\((?!https?:)(?P<page>[^)#]*)(?:#(?P<anchor>[^)]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@cache
def parser_of(name: str) -> ArgumentParser:
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


def commands_in_blocks() -> list[tuple[str, str]]:
    """Return page and line of every command to copy."""
    blocks = [(page, block) for page, text in DOCS.items() for block in _BLOCK.findall(text)]
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


@pytest.mark.parametrize("page", DOCS)
def test_links_lead_to_a_page_and_its_heading(page: str) -> None:
    for link in _LINK.finditer(DOCS[page]):
        target = link["page"] or page
        if link["anchor"]:
            assert link["anchor"] in {slug(heading) for heading in _HEADING.findall(DOCS[target])}, link[0]
        else:
            assert (FOLDER / target).exists(), link[0]


def slug(heading: str) -> str:
    """Return the anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
