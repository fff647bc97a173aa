"""The options of every database connection: its name, and how soon either side notices that the other is gone.

Parameters of libpq: https://www.postgresql.org/docs/current/libpq-connect.html, section 34.1.2; settings of the server:
https://www.postgresql.org/docs/current/runtime-config-connection.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

# How often the server checks, during a statement, whether the client is still there. A killed client leaves no lock
# behind for longer; without the check, its locks would be held until the statement ends.
CHECK_SECONDS = 1
# How long one attempt to connect may take, for each address of the server.
CONNECT_SECONDS = 5
# Over TCP: a side that does not answer is asked after IDLE seconds, then COUNT times every INTERVAL seconds.
_IDLE, _INTERVAL, _COUNT = 10, 5, 3

_SERVER = {
    "client_connection_check_interval": f"{CHECK_SECONDS}s",
    "tcp_keepalives_idle": _IDLE,
    "tcp_keepalives_interval": _INTERVAL,
    "tcp_keepalives_count": _COUNT,
}
_CLIENT = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": _IDLE,
    "keepalives_interval": _INTERVAL,
    "keepalives_count": _COUNT,
    "tcp_user_timeout": (_IDLE + _INTERVAL * _COUNT) * 1000,
}
_PAGES = ("runserver", "gunicorn")


def with_options(entry: dict[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """Return an entry of settings.DATABASES with these options; options that it has keep their values."""
    own = entry.get("OPTIONS", {})
    server = " ".join([*(f"-c {name}={value}" for name, value in _SERVER.items()), str(own.get("options", ""))])
    named = {"application_name": application_name(arguments)}
    return entry | {"OPTIONS": _CLIENT | named | own | {"options": server.strip()}}


def application_name(arguments: Sequence[str]) -> str:
    """Return the name under which PostgreSQL lists a process, by its command line: `newsdedup find_duplicates`."""
    program = Path(arguments[0] if arguments else "")
    name = program.parent.name if program.name == "__main__.py" else program.name
    if name in ("manage.py", "django-admin", "django") and len(arguments) > 1:
        name = arguments[1]
    # PostgreSQL cuts names after 63 bytes.
    return f"newsdedup {'pages' if name in _PAGES else name}".strip()[:63]
