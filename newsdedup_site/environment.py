"""Values of the settings, read from environment variables; an empty variable counts as not set.

Each function raises ImproperlyConfigured for an invalid value. No message contains a DATABASE_URL:
startup messages are logged, and the URL contains a password.
"""

from __future__ import annotations

import ipaddress
import os
import re
import zoneinfo
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from articles.numbers import read_number

BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
MAIL_SCHEMES = ("smtp", "smtp+tls", "smtp+ssl")
# A key for signatures, by django.core.checks.security.base: how long, and of how many different characters, at least.
KEY_LENGTH, KEY_DIFFERENT, INSECURE = 50, 5, "django-insecure-"
MAKE_KEY = "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
_SITE = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")
SCHEMES = ("postgres", "postgresql", "psql", "pgsql")


def read_file(path: Path) -> None:
    """Set the variables of a file of NAME=VALUE lines; variables that are already set keep their values."""
    environ.Env.read_env(path)


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def required(name: str) -> str:
    value = text(name)
    if not value:
        raise ImproperlyConfigured(f"Set the environment variable {name}.")
    return value


def secret_key(name: str, default: str = "") -> str:
    """Return a key that nobody can guess, by the bounds of Django's check security.W009; it is in no message."""
    value = text(name, default)
    if not value:
        raise ImproperlyConfigured(f"Set the environment variable {name}. {MAKE_KEY}")
    if len(value) < KEY_LENGTH or len(set(value)) < KEY_DIFFERENT or value.startswith(INSECURE):
        raise ImproperlyConfigured(
            f"{name} is too easy to guess. Set one of at least {KEY_LENGTH} random characters that does not begin with "
            f"{INSECURE}. {MAKE_KEY}"
        )
    return value


def boolean(name: str, *, default: bool) -> bool:
    value = text(name, str(default)).lower()
    if value not in BOOLEANS:
        raise _wrong(name, f"neither true nor false. Set one of {', '.join(BOOLEANS)}.")
    return BOOLEANS[value]


def _wrong(name: str, what: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name}={text(name)} is {what}")


def share(name: str, *, default: float) -> float:
    """Return a share, 0..1, that is written as a number or as a percentage."""
    value = text(name)
    try:
        found = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1) if value else default
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise _wrong(name, "not a share. Set a number from 0 to 1, such as 0.05, or 5%.")
    return found


def number(name: str, *, default: int, least: int) -> int:
    """Return a whole number of at least `least`."""
    found = read_number(text(name, str(default)), least=least)
    if found is None:
        raise _wrong(name, f"not a whole number of {least} or more. Set one like {default}.")
    return found


def words(name: str, default: list[str]) -> list[str]:
    """Return the values of a comma-separated list."""
    return [word.strip() for word in text(name).split(",") if word.strip()] or default


def networks(name: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return the networks and single addresses of a comma-separated list."""
    try:
        return [ipaddress.ip_network(word) for word in words(name, default=[])]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} is invalid: {error}. Set addresses or networks like 10.1.0.0/16, separated by commas."
        ) from error


def time_zone(name: str, default: str) -> str:
    value = text(name, default)
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _wrong(name, "not a known time zone. Set one like Europe/London.") from error
    return value


def log_level(name: str, default: str) -> str:
    value = text(name, default).upper()
    if value not in LOG_LEVELS:
        raise _wrong(name, f"not a log level. Set one of {', '.join(LOG_LEVELS)}.")
    return value


def database(name: str) -> dict[str, Any]:
    """Return the entry for settings.DATABASES that a URL describes."""
    value = text(name)
    scheme, separator, _ = value.partition("://")
    if not separator or scheme not in SCHEMES:
        named = f" It begins with {scheme}://." if separator else ""
        raise ImproperlyConfigured(
            f"{name} must begin with postgres://: newsdedup needs PostgreSQL with pg_trgm.{named}"
        )
    try:
        entry = environ.Env.db_url_config(value)
    except ValueError:
        entry = None
    if entry is None or not _is_port(entry["PORT"]) or not _is_port(entry.get("OPTIONS", {}).get("port", "")):
        # Not chained: the original message may contain part of the password.
        raise ImproperlyConfigured(
            f"{name} is invalid: the port must be a number from 1 to 65535, and in the user name and the password "
            "/, ?, #, @, : and % must be written as %2F, %3F, %23, %40, %3A and %25."
        ) from None
    if not entry["NAME"] and "service" not in entry.get("OPTIONS", {}):
        raise ImproperlyConfigured(f"{name} names no database. Set it as postgres://user:password@host:port/name.")
    return entry


def email(name: str) -> dict[str, Any]:
    """Return the settings EMAIL_... that the URL of a mail server describes."""
    value = text(name)
    if value.partition("://")[0] not in MAIL_SCHEMES:
        # No part of the value is named: it contains a password.
        raise ImproperlyConfigured(
            f"{name} must begin with one of {', '.join(f'{scheme}://' for scheme in MAIL_SCHEMES)}."
        )
    try:
        entry: dict[str, Any] = environ.Env.email_url_config(value)
    except ValueError:
        entry = {}
    if not entry.get("EMAIL_HOST"):
        raise ImproperlyConfigured(
            f"{name} names no mail server. Set it as smtp+tls://user:password@host:587, with /, ?, #, @, : and % in "
            "the user name and the password written as %2F, %3F, %23, %40, %3A and %25."
        ) from None
    return entry


def mail_addresses(name: str) -> list[str]:
    """Return the e-mail addresses of a comma-separated list."""
    found = words(name, default=[])
    for address in found:
        try:
            validate_email(address)
        except ValidationError:
            raise ImproperlyConfigured(
                f"{name} has {address}, which is not a valid e-mail address. Set addresses like desk@paper.example, "
                "separated by commas."
            ) from None
    return found


def site(name: str) -> str:
    """Return the URL of a site without its last slash; empty if it is not set."""
    value = text(name).rstrip("/")
    if value and not _SITE.fullmatch(value):
        raise _wrong(name, "not the address of a site. Set it as https://dedup.example.org.")
    return value


def secret(name: str, *, least: int) -> str:
    """Return a secret of at least so many visible ASCII characters; empty if it is not set."""
    value = text(name)
    if value and not (len(value) >= least and value.isascii() and value.isprintable() and " " not in value):
        raise ImproperlyConfigured(
            f"{name} has {len(value)} characters; it must have {least} or more, in ASCII and without blanks. "
            "Make one with: openssl rand -hex 32"
        )
    return value


def _is_port(value: str | int) -> bool:
    """Return whether this is a port, or one for each of several hosts; empty means PostgreSQL's default."""
    ports = [port for port in str(value).split(",") if port]
    return all(read_number(port, least=1, most=65535) for port in ports)


# The options of every connection to a database: https://www.postgresql.org/docs/current/libpq-connect.html, section
# 34.1.2; settings of the server: https://www.postgresql.org/docs/current/runtime-config-connection.html.
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
