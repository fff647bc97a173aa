"""What a contributor is told to run is what CI runs, and what the documents name exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from dedup.checks import MINIMUM_VERSION
from tests.databases import CHECKOUT
from tests.packages_picture import PICTURE, _without_implied, draw

DOCUMENTS = sorted(path for folder in (".", ".github", "docs") for path in CHECKOUT.glob(f"{folder}/*.md"))


def text(path: str) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def test_ci_runs_the_checks_and_the_tests_and_nothing_of_its_own() -> None:
    assert text(".ci/run").splitlines()[-2:] == ["script/check", '"${server[@]}" script/test "$tests"']
    assert "\ntests=--all\n" in text(".ci/run")
    assert re.findall(r"\.venv/bin/(\S+)", text(".ci/run")) == []


def test_the_oldest_postgresql_of_the_workflow_is_the_oldest_that_is_supported() -> None:
    matrix = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["run"]["strategy"]["matrix"]
    assert matrix["postgresql"] == ["embedded"]
    tested = [entry["postgresql"] for entry in matrix["include"]]
    assert min(tested) == MINIMUM_VERSION
    assert f"(PostgreSQL {MINIMUM_VERSION} or newer)" in text("docs/running.md")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["99", "true"], 1, "PostgreSQL 99 is not installed. On Debian and Ubuntu, run apt-get install postgresql-99;"),
        (["15"], 2, "usage: script/with-postgresql VERSION COMMAND..."),
        (["latest", "true"], 2, "usage: script/with-postgresql VERSION COMMAND..."),
    ],
)
def test_a_server_that_cannot_be_made_is_named(arguments: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [CHECKOUT / "script/with-postgresql", *arguments], check=False, capture_output=True, text=True
    )
    assert done.returncode == code
    assert done.stderr.startswith(said)


def test_a_command_gets_a_server_of_its_own_and_the_server_goes_with_it() -> None:
    versions = sorted(Path("/usr/lib/postgresql").glob("[0-9]*"))
    if not versions:
        pytest.skip("no PostgreSQL of the system: on Debian, apt-get install postgresql")
    show = 'psql "$DATABASE_URL" -Atc "SHOW server_version_num" -c "SHOW lc_ctype"'
    ask = f'echo "$DATABASE_URL"; {show}; exit 7'
    version = versions[-1].name
    done = subprocess.run(
        [CHECKOUT / "script/with-postgresql", version, "bash", "-c", ask], check=False, capture_output=True, text=True
    )
    url, number, locale = done.stdout.split()
    assert (done.returncode, int(number) // 10_000, locale) == (7, int(version), "C.UTF-8")
    assert not Path(unquote(re.search("host=([^&]*)", url)[1])).exists()


def test_every_night_all_tests_run_and_those_that_take_long() -> None:
    job = yaml.safe_load(text(".github/workflows/nightly.yml"))["jobs"]["run"]
    assert job["strategy"]["matrix"]["tests"] == ["--all", "--soak"]
    assert job["steps"][-1]["run"] == ".ci/run ${{ matrix.tests }}"


@pytest.mark.parametrize(("named", "layer"), [("tests/load/test_load.py", "--all"), ("tests/study", "--soak")])
def test_the_list_of_layers_says_with_which_option_a_test_runs_first(named: str, layer: str) -> None:
    command = [sys.executable, "-m", "pytest", "--layers", "-q", named]
    listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    [below] = re.findall(rf"## {layer}: (\d+) tests\n- {named}", listed)
    assert int(below) >= 1


def test_a_commit_runs_the_checks_of_ci() -> None:
    (repository,) = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local"
    assert [hook["entry"] for hook in repository["hooks"]] == ["script/check"]


def test_the_workflow_runs_ci_on_every_python_that_is_supported() -> None:
    job = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["run"]
    assert [step["run"] for step in job["steps"] if "run" in step][
        -1
    ] == ".ci/run --postgresql ${{ matrix.postgresql }}"
    required = re.search(r'^requires-python = ">=3\.(\d+),<3\.(\d+)"', text("pyproject.toml"), re.MULTILINE)
    lowest, above = required.groups()
    assert job["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in range(int(lowest), int(above))]


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
