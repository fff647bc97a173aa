"""`python -m newsdedup_site.healthcheck`: exit 0 while the pages on this machine answer at /healthz.

`python -m newsdedup_site.healthcheck worker`: exit 0 while a worker on this machine gives signs of life. Neither loads
Django, which would take seconds each time.
"""

import os
import socket
import sys
import urllib.error
import urllib.request

import psycopg

ADDRESS = "http://127.0.0.1:8000/healthz"
TIMEOUT_SECONDS = 4
# A worker signs every five seconds; dedup/detection/runs/requests.py says when it counts as gone.
GONE_SECONDS = 30
_SIGNED = """
SELECT EXISTS (
    SELECT FROM dedup_worker WHERE starts_with(name, %(machine)s) AND seen_at > now() - %(gone)s * interval '1 second'
)
"""


def healthy(address: str, headers: dict[str, str]) -> bool:
    """Return whether the URL answers with status 200."""
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - a constant address, or a test's
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def signed(database: str, machine: str) -> bool:
    """Return whether a worker of a machine has given a sign of life; also False if the database does not answer."""
    try:
        with psycopg.connect(database, connect_timeout=TIMEOUT_SECONDS) as connection:
            row = connection.execute(_SIGNED, {"machine": f"{machine[:40]}-", "gone": GONE_SECONDS}).fetchone()
    except psycopg.Error:
        return False
    return bool(row and row[0])


def main() -> int:
    """Ask for the worker, or as the proxy would: with an allowed host, and marked as TLS."""
    if sys.argv[1:] == ["worker"]:
        return 0 if signed(os.environ["DATABASE_URL"], socket.gethostname()) else 1
    hosts = [host.strip().lstrip(".") for host in os.environ.get("ALLOWED_HOSTS", "").split(",")]
    host = next((host for host in hosts if host not in ("", "*")), "localhost")
    return 0 if healthy(ADDRESS, {"Host": host, "X-Forwarded-Proto": "https"}) else 1


if __name__ == "__main__":
    sys.exit(main())
