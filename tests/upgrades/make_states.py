"""Make the dump of a release, by its own code: this checkout.

    script/with-postgresql 15 .venv/bin/python -m tests.upgrades.make_states NAME

The server must be of the oldest supported version, so that newer ones can restore the dump. Everything that a state
contains is invented (trying.py).
"""

import argparse
import gzip
import os
import subprocess
import tempfile
from pathlib import Path

from tests.databases import own_database, start
from tests.upgrades.states import FOLDER, MIGRATE, shell

FILL = "from tests.upgrades.trying import fill_database, write_articles; write_articles({0!r}); fill_database({0!r})"


def make_state(path: Path, server: str) -> None:
    """Make the state in a database of its own on a server, and dump it."""
    with own_database("state", server=server) as url, tempfile.TemporaryDirectory() as folder:
        for arguments in (MIGRATE, shell(FILL.format(f"{folder}/articles.jsonl"))):
            made = start(url, *arguments)
            out, errors = made.communicate()
            if made.returncode:
                raise SystemExit(f"{arguments[1]} failed: {out}{errors}")
        dump = subprocess.run(["pg_dump", "--no-owner", "--no-privileges", url], check=True, capture_output=True).stdout
    # Without a time, so that the same dump is the same file.
    path.write_bytes(gzip.compress(b"\n".join(useful_lines(dump)), compresslevel=9, mtime=0))
    print(path.name, path.stat().st_size, "bytes", flush=True)


def useful_lines(dump: bytes) -> list[bytes]:
    """Return the lines of a dump without comments, blank lines and commands of psql."""
    kept, rows = [], False
    for line in dump.split(b"\n"):
        if rows or (line and not line.startswith((b"--", b"\\"))):
            kept.append(line)
        rows = line.endswith(b" FROM stdin;") or (rows and line != rb"\.")
    return [*kept, b""]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.upgrades.make_states", description=__doc__)
    parser.add_argument("name", help="as in tests/upgrades/states.py")
    make_state(FOLDER / f"{parser.parse_args().name}.sql.gz", os.environ["DATABASE_URL"])
