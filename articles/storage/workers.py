"""Worker processes that use the database of their parent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.db import connection


@contextmanager
def connected(database: str) -> Iterator[None]:
    """Direct all queries of a new process to the database with this name."""
    django.setup()
    connection.settings_dict["NAME"] = database
    yield
    connection.close()
