"""Make the dumps of earlier states, each by the code of its commit.

    script/with-postgresql 15 .venv/bin/python -m tests.upgrades.make_states [NAME...]

The server must be of the oldest supported version, so that newer ones can restore the dumps. Everything that a state
contains is invented (corpus.py, fill.py).
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import psycopg

from tests.upgrades.corpus import write_articles
from tests.upgrades.states import STATES, State

CHECKOUT = Path(__file__).resolve().parents[2]
FILL = Path(__file__).with_name("fill.py")

# A checkout that is installed for development finds modules that the earlier version lacks; here it must not.
LAUNCH = """
import runpy, sys
sys.meta_path[:] = [each for each in sys.meta_path if "__editable__" not in getattr(each, "__module__", "")]
del sys.argv[0]
sys.path.insert(0, "")
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def make_state(state: State, url: str) -> None:
    """Make one state in a database of its own on the server of `url`, and dump it."""
    database = f"state_{state.name}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {database}")
        server.execute(f"CREATE DATABASE {database}")
    own = url.replace("/newsdedup?", f"/{database}?")
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", state.commit], cwd=CHECKOUT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        write_articles(Path(folder, "articles.jsonl"))
        environment = os.environ | {
            "DATABASE_URL": own,
            "PYTHONPATH": folder,
            "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings",
            "NEWSDEDUP_HOME": folder,
        }
        for arguments in (["manage.py", "migrate", "--verbosity", "0"], [str(FILL), "articles.jsonl"]):
            subprocess.run([sys.executable, "-c", LAUNCH, *arguments], cwd=folder, env=environment, check=True)
    dump = subprocess.run(["pg_dump", "--no-owner", "--no-privileges", own], check=True, capture_output=True).stdout
    # Without a time, so that the same dump is the same file.
    state.path.write_bytes(gzip.compress(b"\n".join(useful_lines(dump)), compresslevel=9, mtime=0))
    print(state.name, state.path.stat().st_size, "bytes", flush=True)


def useful_lines(dump: bytes) -> list[bytes]:
    """Return the lines of a dump without comments, blank lines and commands of psql."""
    kept, rows = [], False
    for line in dump.split(b"\n"):
        if rows or (line and not line.startswith((b"--", b"\\"))):
            kept.append(line)
        rows = line.endswith(b" FROM stdin;") or (rows and line != rb"\.")
    return [*kept, b""]


def main(names: list[str]) -> None:
    """Make the named states, or all."""
    url = os.environ["DATABASE_URL"]
    for state in STATES:
        if not names or state.name in names:
            print("==", state.name, state.commit, flush=True)
            make_state(state, url)


if __name__ == "__main__":
    main(sys.argv[1:])
