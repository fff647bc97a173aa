"""The test database, for the processes that a test starts."""

from urllib.parse import quote

from django.db import connection

# Any key of the length that production asks for.
TEST_KEY = "for one test alone, and as long as production needs"


def database_url() -> str:
    """Return a DATABASE_URL for the database that the test is connected to."""
    values = connection.settings_dict
    host = values["HOST"] or values["OPTIONS"].get("host", "")
    port = values["PORT"] or values["OPTIONS"].get("port", "")
    login = ":".join(quote(values[name], safe="") for name in ("USER", "PASSWORD") if values[name])
    # As parameters, because the folder of a Unix socket does not fit where a host stands.
    return f"postgres://{login}@/{values['NAME']}?host={quote(host, safe='')}&port={port}"


def child_environment() -> dict[str, str]:
    """Return what a process needs in its environment to work on the test database."""
    return {"DATABASE_URL": database_url(), "SECRET_KEY": TEST_KEY}
