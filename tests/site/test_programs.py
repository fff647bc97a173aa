"""Every program, `python -m tests.NAME` or `benchmarks`, says that a package is missing or memory ran out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = ["benchmarks", *sorted(f"tests.{path.parent.name}" for path in CHECKOUT.glob("tests/*/__main__.py"))]
# What Python loads first: each package that requirements.txt does not list is missing, or takes all memory.
BARE = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if {missing}:
            raise {error}
        return None
sys.meta_path.insert(0, Missing())
"""


def listed(name: str) -> set[str]:
    """Return the packages of a list, as they are imported."""
    text = (CHECKOUT / name).read_text(encoding="utf-8")
    return {found.lower().replace("-", "_") for found in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


def run(program: str, folder: Path, error: str) -> subprocess.CompletedProcess[str]:
    missing = {*(listed("requirements-dev.txt") - listed("requirements.txt")), "pytest", "_pytest"}
    code = BARE.format(missing=f"name.partition('.')[0] in {missing}", error=error)
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "NEWSDEDUP_HOME": str(folder / "home")}
    command = [sys.executable, "-m", program, *(["--minutes", "0"] if program == "tests.fuzz" else [])]
    return subprocess.run(
        [*command, *([] if program == "tests.fuzz" else ["--help"])],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_programs_are_known() -> None:
    assert {f"tests.{name}" for name in ("crash", "fuzz", "load", "mutations", "upgrades")} <= set(PROGRAMS)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_says_which_package_it_needs(program: str, tmp_path: Path) -> None:
    ended = run(program, tmp_path, "ModuleNotFoundError(name=name)")
    if ended.returncode:
        [sentence] = ended.stderr.splitlines()
        assert re.search(rf"is not installed, which {program} needs\. Install it: pip install -r req", sentence)
    else:
        assert ended.stdout.startswith("usage: ")  # its help needs none


def test_a_program_says_that_memory_ran_out(tmp_path: Path) -> None:
    ended = run("tests.fuzz", tmp_path, "MemoryError")
    assert (ended.returncode, ended.stderr) == (
        1,
        "Memory ran out during tests.fuzz. Free some, or run it where there is more.\n",
    )
