"""pg_dump and pg_restore: which of this machine fit a server, and how they get its address and password."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
from django.db import connection

from newsdedup_site.embedded.binaries import program_path

_DEBIAN = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


class Program(NamedTuple):
    """A program of PostgreSQL and its major version."""

    path: str
    version: int


def program_for(name: str, version: int) -> Program | None:
    """Return the oldest of a program of this machine that is of a major version or newer; None if there is none."""
    found = [Program(path, own) for path in _paths(name) if (own := _version(path)) >= version]
    return min(found, key=lambda program: program.version, default=None)


def _paths(name: str) -> Iterator[str]:
    if on_path := shutil.which(name):
        yield on_path
    yield from sorted(map(str, _DEBIAN.glob(f"*/bin/{name}")))
    if embedded := program_path(name):
        yield str(embedded)


def _version(path: str) -> int:
    try:
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    match = _VERSION.search(shown)
    return int(match[1]) if match else 0


def environment() -> dict[str, str]:
    """Return the environment of a program that connects to Django's database.

    The password is in no argument, which every user of the machine can list.
    """
    names = {option.keyword.decode(): option.envvar for option in psycopg.pq.Conninfo.get_defaults()}
    given = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    connection.ensure_connection()
    for keyword, value in connection.get_connection_params().items():
        variable = names.get(keyword)
        if variable and value not in (None, ""):
            given[variable.decode()] = str(value)
    return given | {"LC_ALL": "C.UTF-8"}


def database_name() -> str:
    """Return the name of Django's database."""
    return str(connection.get_connection_params().get("dbname", ""))
