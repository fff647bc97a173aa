"""What docs/, README and the guides name exists, and what a contributor is told to run is what CI runs."""

import json
import os
import re
import shlex
import struct
from argparse import ArgumentParser
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from django.contrib.staticfiles import finders
from django.core.management import call_command, get_commands, load_command_class
from django.test import Client
from django.urls import resolve

from articles.models import Article
from dedup.checks import MINIMUM_VERSION
from dedup.models import Cluster
from newsdedup_site import guides
from newsdedup_site.guides import GUIDES, Document, html_of
from newsdedup_site.keys import ACTIONS
from script._written.packages import PICTURE, _without_implied, draw
from tests.databases import CHECKOUT, run, run_python
from tests.factories import make_user

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


BLOCKS = [(page, block) for page, text in (*DOCS.items(), ("README.md", README)) for block in _BLOCK.findall(text)]


@pytest.mark.parametrize(
    ("page", "line"), [(page, line) for page, block in BLOCKS for line in block.splitlines() if _COMMAND.search(line)]
)
def test_a_command_to_copy_is_understood(page: str, line: str) -> None:
    found = _COMMAND.search(line)
    parser_of(found["name"]).parse_args(shlex.split(re.split(r" [<>|] ", found["arguments"])[0], comments=True))


@pytest.mark.parametrize("page", DOCS)
def test_commands_in_running_text_exist_and_know_their_options(page: str) -> None:
    for mention in _MENTION.finditer(DOCS[page]):
        options = re.findall(r"--[a-z][a-z-]*", mention["arguments"] or "")
        if mention["manage"] or (options and mention["name"] in get_commands()):
            known = {string for action in parser_of(mention["name"])._actions for string in action.option_strings}
            assert known.issuperset(options), mention[0]


MANAGE = ".venv/bin/python manage.py "
INSTALLED = ("python3 -m venv .venv", ".venv/bin/pip install '.[embedded,fast]'", ".venv/bin/newsdedup clean ")


def test_files_and_folders_that_the_readme_names_exist() -> None:
    for line in "".join(_BLOCK.findall(README)).splitlines():
        assert line.startswith((MANAGE, *INSTALLED)) or os.access(CHECKOUT / line, os.X_OK), line
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


DOCUMENTS = sorted(path for folder in (".", ".github", "docs") for path in CHECKOUT.glob(f"{folder}/*.md"))


def text(path: str) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def test_ci_runs_the_checks_and_the_tests_and_nothing_of_its_own_as_does_a_commit() -> None:
    assert text(".ci/run").splitlines()[-2:] == ["script/check", '"${server[@]}" script/test "$tests"']
    assert "\ntests=--all\n" in text(".ci/run")
    assert re.findall(r"\.venv/bin/(\S+)", text(".ci/run")) == []
    (repository,) = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local"
    assert [hook["entry"] for hook in repository["hooks"]] == ["script/check"]


def test_the_workflow_runs_ci_on_every_python_and_the_oldest_postgresql_that_are_supported() -> None:
    job = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["run"]
    matrix = job["strategy"]["matrix"]
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert runs[-1] == ".ci/run --postgresql ${{ matrix.postgresql }}"
    required = re.search(r'^requires-python = ">=3\.(\d+),<3\.(\d+)"', text("pyproject.toml"), re.MULTILINE)
    lowest, above = required.groups()
    assert matrix["python"] == [f"3.{minor}" for minor in range(int(lowest), int(above))]
    assert matrix["postgresql"] == ["embedded"]
    assert min([entry["postgresql"] for entry in matrix["include"]]) == MINIMUM_VERSION
    assert f"(PostgreSQL {MINIMUM_VERSION} or newer)" in text("docs/running.md")
    # Every night, also the tests that take long.
    job = yaml.safe_load(text(".github/workflows/nightly.yml"))["jobs"]["run"]
    assert job["strategy"]["matrix"]["tests"] == ["--all", "--soak"]
    assert job["steps"][-1]["run"] == ".ci/run ${{ matrix.tests }}"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["99", "true"], 1, "PostgreSQL 99 is not installed. On Debian and Ubuntu, run apt-get install postgresql-99;"),
        (["15"], 2, "usage: script/with-postgresql VERSION COMMAND..."),
        (["latest", "true"], 2, "usage: script/with-postgresql VERSION COMMAND..."),
    ],
)
def test_a_server_that_cannot_be_made_is_named(arguments: list[str], code: int, said: str) -> None:
    done = run(CHECKOUT / "script/with-postgresql", *arguments)
    assert done.returncode == code
    assert done.stderr.startswith(said)


def test_a_command_gets_a_server_of_its_own_and_the_server_goes_with_it() -> None:
    versions = sorted(Path("/usr/lib/postgresql").glob("[0-9]*"))
    if not versions:
        pytest.skip("no PostgreSQL of the system: on Debian, apt-get install postgresql")
    show = 'psql "$DATABASE_URL" -Atc "SHOW server_version_num" -c "SHOW lc_ctype"'
    ask = f'echo "$DATABASE_URL"; {show}; exit 7'
    version = versions[-1].name
    done = run(CHECKOUT / "script/with-postgresql", version, "bash", "-c", ask)
    url, number, locale = done.stdout.split()
    assert (done.returncode, int(number) // 10_000, locale) == (7, int(version), "C.UTF-8")
    assert not Path(unquote(re.search("host=([^&]*)", url)[1])).exists()


@pytest.mark.parametrize(
    ("named", "layer"), [("tests/load/test_load.py", "--all"), ("tests/dedup/test_study.py", "--soak")]
)
def test_the_list_of_layers_says_with_which_option_a_test_runs_first(named: str, layer: str) -> None:
    listed = run_python("-m", "pytest", "--layers", "-q", named, **os.environ)
    [below] = re.findall(rf"## {layer}: (\d+) tests\n- {named}", listed.stdout)
    assert int(below) >= 1


@pytest.mark.parametrize("script", sorted((CHECKOUT / "script").glob("[a-z]*")), ids=lambda path: path.name)
def test_every_script_can_be_run_and_is_explained(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert f"`script/{script.name}" in text("docs/contributing.md")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("name", ["architecture", "contributing", "glossary"])
def test_every_file_and_folder_that_is_named_exists(name: str) -> None:
    folders = "articles|crawlers|dedup|docs|newsdedup_site|script|templates|tests"
    named = re.findall(rf"`((?:{folders})/[\w./-]*)`", text(f"docs/{name}.md"))
    assert [path for path in named if not (CHECKOUT / path).exists()] == []


def test_the_picture_of_the_packages_is_up_to_date() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(), "the packages have changed: run script/draw-packages"
    edges = {("views", "review"), ("review", "models"), ("views", "models"), ("models", "types"), ("views", "types")}
    assert _without_implied(edges) == {("views", "review"), ("review", "models"), ("models", "types")}


LARGEST = 150_000  # bytes of a picture


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>|{[%{].*?[%}]}", " ", text).split()).lower()


@pytest.mark.django_db
def test_every_page_is_shown_with_links_and_pictures_that_lead_somewhere(client: Client) -> None:
    client.force_login(make_user("vera", "viewer"))
    names = {path.stem for path in FOLDER.glob("*.md")}
    pages = {name: client.get(f"/help/{name}/").content.decode() for name in names}
    anchors = {name: set(re.findall(r' id="([^"]+)"', page)) for name, page in pages.items()}
    for name, page in pages.items():
        article = re.search(r'<article class="guide">.*</article>', page, re.DOTALL)[0]
        assert not re.search(r" style=|<!--|\]\(", article), name
        for target, anchor in re.findall(r'<a href="(?:/help/([\w-]+)/)?(?:#([^"]*))?"', article):
            assert not anchor or anchor in anchors[target or name], (name, anchor)
        for linked, source in re.findall(r'(?:<a href="/static/([^"]+)">)?<img src="/static/([^"]+)"', article):
            assert linked == source
            assert finders.find(source), source
    assert html_of("editors") in client.get("/help/").content.decode()
    assert client.get("/help/nothing/").status_code == 404


def test_a_link_out_of_the_folder_becomes_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# A\n\n[safe](../SECURITY.md), [here](#a), [there](https://news.example/)<b>\n\n<!-- note -->\n"
    monkeypatch.setattr(guides, "documents", lambda: {"a": Document("a", "A", text)})
    assert html_of.__wrapped__("a") == (
        '<h1 id="a">A</h1>\n<p><span>safe</span>, <a href="#a">here</a>, '
        '<a href="https://news.example/" rel="noopener noreferrer external">there</a></p>\n'
    )


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_names_buttons_keys_and_addresses_that_exist(name: str) -> None:
    guide = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    sources = [*CHECKOUT.glob("templates/**/*.html"), *CHECKOUT.glob("dedup/**/*.py")]
    sources += CHECKOUT.glob("newsdedup_site/**/*.py")
    product = words(" ".join(path.read_text(encoding="utf-8") for path in sources))
    named = [words(text) for text in re.findall(r"\*\*(.+?)\*\*", guide, re.DOTALL)]
    assert [label for label in named if label not in product] == []
    for key, label in re.findall(r"^\| `(\w)` \| ([^|]+) \|", guide, re.MULTILINE):
        assert any((action.key, action.label) == (key, label) for action in ACTIONS.values()), key
    assert set(re.findall(r"`([a-zA-Z?])`", guide)) <= {action.key for action in ACTIONS.values()}
    for address in re.findall(r"`(/[\w/]+/)`", guide):
        assert resolve(address)


def test_every_picture_is_used_has_the_same_size_and_is_small() -> None:
    used = "".join(path.read_text(encoding="utf-8") for path in [CHECKOUT / "README.md", *FOLDER.glob("*.md")])
    for picture in (FOLDER / "pictures").iterdir():
        data = picture.read_bytes()
        assert f"pictures/{picture.name})" in used, picture.name
        assert struct.unpack(">II", data[16:24]) == (1280, 800), picture.name
        assert len(data) < LARGEST, picture.name
