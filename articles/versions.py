"""The versions in use, for bug reports, for papers, and for files that are exported."""

import importlib.metadata
import platform
import tomllib

import django
from django.conf import settings
from django.db import connection


def versions() -> dict[str, str]:
    """Return the versions of newsdedup, Python, Django and PostgreSQL, by name. Raises DatabaseError."""
    return local_versions() | {"PostgreSQL": postgresql_version()}


def local_versions() -> dict[str, str]:
    """Return those that need no database."""
    return {"newsdedup": newsdedup_version(), "Python": platform.python_version(), "Django": django.get_version()}


def newsdedup_version() -> str:
    """Return the installed version, or the checkout's if newsdedup is not installed."""
    try:
        return importlib.metadata.version("newsdedup")
    except importlib.metadata.PackageNotFoundError:
        project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())
        return str(project["project"]["version"])


def postgresql_version() -> str:
    """Return the version of the server. Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return str(cursor.fetchone()[0])
