"""Scripts and programs: what they make again, name with the remedy, need, and put into the image."""

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.databases import run, run_python
from tests.image import CHECKOUT, Image, ignored, instructions, is_ignored

OF_SCRIPTS = {"PATH": "/usr/bin:/bin", "PYTHON": sys.executable}


def virtual_environment(folder: Path) -> subprocess.CompletedProcess[str]:
    script = f". '{CHECKOUT}/script/_environment'; virtual_environment"
    return run("sh", "-euc", script, cwd=folder, **OF_SCRIPTS)


@pytest.mark.slow
def test_an_environment_killed_before_pip_was_there_is_made_anew_and_then_kept(tmp_path: Path) -> None:
    assert run_python("-m", "venv", "--without-pip", ".venv", cwd=tmp_path).returncode == 0
    (tmp_path / ".venv" / "installed-requirements.txt").touch()
    made = virtual_environment(tmp_path)
    assert made.returncode == 0
    assert made.stderr.startswith("Making .venv with Python 3.")
    assert not (tmp_path / ".venv" / "installed-requirements.txt").exists()
    assert run(".venv/bin/python", "-m", "pip", "--version", cwd=tmp_path).returncode == 0
    assert virtual_environment(tmp_path).stderr == ""


def demo(folder: Path, port: str) -> subprocess.CompletedProcess[str]:
    # The copy has nothing to install, so the script also fails if it accepts the port.
    shutil.copytree(CHECKOUT / "script", folder / "script")
    return run("script/demo", cwd=folder, **OF_SCRIPTS, PORT=port)


def test_a_taken_port_is_named_with_the_remedy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = demo(tmp_path, str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Port {port} cannot be used: Address already in use. Choose another one: PORT=9000 script/demo\n"
    )
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("port", ["http", "70000"])
def test_what_is_no_port_is_refused(tmp_path: Path, port: str) -> None:
    done = demo(tmp_path, port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Port {port} cannot be used: ")


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
    text = (CHECKOUT / name).read_text(encoding="utf-8")
    return {found.lower().replace("-", "_") for found in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


def run_bare(program: str, folder: Path, error: str) -> subprocess.CompletedProcess[str]:
    missing = {*(listed("requirements-dev.txt") - listed("requirements.txt")), "pytest", "_pytest"}
    code = BARE.format(missing=f"name.partition('.')[0] in {missing}", error=error)
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    options = ["--minutes", "0"] if program == "tests.fuzz" else ["--help"]
    return run_python("-m", program, *options, PYTHONPATH=str(folder), NEWSDEDUP_HOME=str(folder / "home"))


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_says_which_package_it_needs(program: str, tmp_path: Path) -> None:
    ended = run_bare(program, tmp_path, "ModuleNotFoundError(name=name)")
    if ended.returncode:
        [sentence] = ended.stderr.splitlines()
        assert re.search(rf"is not installed, which {program} needs\. Install it: pip install -r req", sentence)
    else:
        assert ended.stdout.startswith("usage: ")  # its help needs none


def test_a_program_says_that_memory_ran_out(tmp_path: Path) -> None:
    assert {f"tests.{name}" for name in ("crash", "fuzz", "load", "mutations", "upgrades")} <= set(PROGRAMS)
    ended = run_bare("tests.fuzz", tmp_path, "MemoryError")
    assert ended.returncode == 1
    assert ended.stderr == "Memory ran out during tests.fuzz. Free some, or run it where there is more.\n"


PATTERNS = ignored((CHECKOUT / ".dockerignore").read_text())


def test_the_instructions_of_a_file_are_read_with_continued_lines_and_without_comments() -> None:
    text = "# first\nFROM debian\n\nRUN one \\\n    # between\n    && two\nUSER 10001:10001\n"
    assert list(instructions(text)) == [("FROM", "debian"), ("RUN", "one     && two"), ("USER", "10001:10001")]
    with pytest.raises(ValueError, match="Dockerfile: ADD is not known here"):
        list(instructions("ADD x y"))
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
