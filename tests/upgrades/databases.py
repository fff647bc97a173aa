"""Databases of their own on the server of a URL, and processes on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

CHECKOUT = Path(__file__).resolve().parents[2]


@contextmanager
def own_database(server: str, name: str) -> Iterator[str]:
    """Make an empty database on the server of this URL; yield its URL, and remove it in the end."""
    with psycopg.connect(server, autocommit=True) as connection:
        identifier = sql.Identifier(name)
        drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(identifier)
        connection.execute(drop)
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(identifier))
        try:
            yield server.replace(f"/{connection.info.dbname}?", f"/{name}?")
        finally:
            connection.execute(drop)


def start(url: str, *arguments: str) -> subprocess.Popen[str]:
    """Start Python with these arguments on a database."""
    values = {"DATABASE_URL": url, "SECRET_KEY": "upgrades" * 10, "SERVE_COLLECTED_STATIC": "false"}
    values |= {"DJANGO_SETTINGS_MODULE": "newsdedup_site.settings", "PYTHONPATH": str(CHECKOUT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], cwd=CHECKOUT, env=os.environ | values, **pipes)  # type: ignore[call-overload]


def use(url: str, name: str) -> dict[str, Any]:
    """Return what tests.upgrades.trying says of a database that has been restored, or is empty."""
    process = start(url, "-m", "tests.upgrades.trying", name)
    out, errors = process.communicate()
    if process.returncode:
        return {"faults": [f"exit code {process.returncode}: {errors[-3000:]}"], "pairs": []}
    found: dict[str, Any] = json.loads(out)
    return found
