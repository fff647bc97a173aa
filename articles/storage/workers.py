"""Worker processes that use the database of their parent."""

from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.db import connection

from articles.processes import Pool


def database_pool(workers: int) -> Pool:
    """Return a pool of so many processes that use the database of this one."""
    return Pool(workers, connected, connection.settings_dict["NAME"])


@contextmanager
def connected(database: str) -> Iterator[None]:
    """Direct all queries of a new process to the database with this name."""
    django.setup()
    connection.settings_dict["NAME"] = database
    yield
    connection.close()
