"""How script/check-image reads the Dockerfile; the script itself needs root, a network and minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.image import CHECKOUT, Image, ignored, instructions, is_ignored

PATTERNS = ignored((CHECKOUT / ".dockerignore").read_text())


def test_the_instructions_of_a_file_are_read_with_continued_lines_and_without_comments() -> None:
    text = "# first\nFROM debian\n\nRUN one \\\n    # between\n    && two\nUSER 10001:10001\n"
    assert list(instructions(text)) == [("FROM", "debian"), ("RUN", "one     && two"), ("USER", "10001:10001")]
    with pytest.raises(ValueError, match="Dockerfile: ADD is not known here"):
        list(instructions("ADD x y"))


def test_every_instruction_of_ours_is_known() -> None:
    names = [name for name, _ in instructions((CHECKOUT / "Dockerfile").read_text())]
    assert (names[0], names[-1], names.count("USER")) == ("FROM", "CMD", 1)


@pytest.mark.parametrize(
    ("path", "kept_out"),
    [
        (".env", True),
        (".git/config", True),
        (".venv/bin/python", True),
        ("var/crawl/queue", True),
        ("tests/image.py", True),
        ("dedup/__pycache__/apps.pyc", True),
        ("newsdedup.egg-info", True),
        ("dedup/apps.py", False),
        ("docs/var.md", False),
        (".env.example", False),
    ],
)
def test_secrets_and_waste_stay_out_of_the_image(path: str, kept_out: bool) -> None:
    assert is_ignored(path, PATTERNS) is kept_out


def test_files_are_copied_where_the_instruction_says_and_ignored_ones_are_not(tmp_path: Path) -> None:
    image = Image(tmp_path)
    image.do("WORKDIR", "/app")
    image.do("COPY", "manage.py LICENSE ./")
    image.do("COPY", "articles articles")
    assert {path.name for path in (tmp_path / "app").iterdir()} == {"manage.py", "LICENSE", "articles"}
    assert (tmp_path / "app" / "articles" / "apps.py").read_bytes() == (CHECKOUT / "articles/apps.py").read_bytes()
    assert not list(tmp_path.rglob("__pycache__"))
    with pytest.raises(ValueError, match=r"COPY tests: \.dockerignore keeps it out"):
        image.do("COPY", "tests tests")


def test_what_runs_in_the_image_has_its_user_and_no_capability(tmp_path: Path) -> None:
    image = Image(tmp_path)
    image.do("ENV", "A=1 B='two words'")
    assert (image.environment["A"], image.environment["B"]) == ("1", "two words")
    assert "--bounding-set=-all" not in image.inside(["id"])
    image.do("USER", "10001:10001")
    assert {"--reuid=10001", "--regid=10001", "--no-new-privs", "--bounding-set=-all"} < set(image.inside(["id"]))
