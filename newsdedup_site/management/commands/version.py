"""`manage.py version`: the versions to quote in a bug report."""

from __future__ import annotations

import importlib.metadata
import platform
import tomllib
from typing import Any

import django
from django.conf import settings
from django.db import DatabaseError, connection

from articles.management.base import ProjectCommand
from newsdedup_site.embedded import EmbeddedServerError


class Command(ProjectCommand):
    help = "Prints the versions of newsdedup, Python, Django and PostgreSQL."
    requires_system_checks = []

    def handle(self, **_options: Any) -> None:
        self.stdout.write(f"newsdedup {newsdedup_version()}")
        self.stdout.write(f"Python {platform.python_version()}")
        self.stdout.write(f"Django {django.get_version()}")
        self.stdout.write(f"PostgreSQL {_postgresql_version() or 'unknown: the database is not reachable'}")


def newsdedup_version() -> str:
    """Return the installed version, or the checkout's if newsdedup is not installed."""
    try:
        return importlib.metadata.version("newsdedup")
    except importlib.metadata.PackageNotFoundError:
        project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())
        return str(project["project"]["version"])


def _postgresql_version() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            return str(cursor.fetchone()[0])
    except (DatabaseError, EmbeddedServerError):
        return None
