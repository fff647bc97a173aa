"""What the documents say is what the code does."""

import re
import shutil
from pathlib import Path

from dedup.review.answers.batches import MOST_QUESTIONS
from tests.databases import run_python

CHECKOUT = Path(__file__).resolve().parents[2]


def test_the_tables_are_the_declared_ones(tmp_path) -> None:
    def write(*options: str) -> tuple[int, str]:
        done = run_python("-m", "script._written.docs", *options)
        return done.returncode, done.stderr

    assert write("--check") == (0, "")
    for folder in ("docs", "client"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    page = tmp_path / "docs" / "detection.md"
    page.write_text(page.read_text().replace("| trigram | prefix | 1000 ", "| trigram | prefix | 999 "))
    other = f"--checkout={tmp_path}"
    assert write("--check", other) == (1, "docs/detection.md differs from the code; run script/write-docs\n")
    assert write(other) == (0, "")
    assert page.read_text() == (CHECKOUT / "docs" / "detection.md").read_text()


def test_every_variable_that_is_read_is_in_the_settings_document() -> None:
    source = (CHECKOUT / "newsdedup_site" / "settings.py").read_text()
    read = set(re.findall(r'env(?:ironment)?\.\w+\("([A-Z_]+)"', source))
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (CHECKOUT / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert read <= documented
    assert documented - read == {"NEWSDEDUP_HOME", "PORT"}


def test_every_dependency_is_explained() -> None:
    project = (CHECKOUT / "pyproject.toml").read_text()
    required = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)[1]
    document = (CHECKOUT / "docs" / "dependencies.md").read_text()
    for name in re.findall(r'"([a-z0-9-]+)', required):
        assert re.search(rf"^\|[^|]*\b{name.removesuffix('5')}\b", document, re.MULTILINE), name


def test_the_bound_of_a_batch_is_the_documented_one() -> None:
    document = (CHECKOUT / "docs" / "reviewing.md").read_text()
    assert f"A batch has at most {MOST_QUESTIONS:,} questions." in document
