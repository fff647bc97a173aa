"""Values of the settings, read from environment variables, and which of them the pages and the worker refuse.

An empty variable counts as not set. Each function that reads one raises ImproperlyConfigured for an invalid value. No
message contains a DATABASE_URL: startup messages are logged, and the URL contains a password.
"""

import ipaddress
import logging
import os
import re
import zoneinfo
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
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

logger = logging.getLogger(__name__)


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
        schemes = ", ".join(f"{scheme}://" for scheme in MAIL_SCHEMES)
        raise ImproperlyConfigured(f"{name} must begin with one of {schemes}.")
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


# ---- what production refuses ----

# A trial is the embedded server, with pages for this machine alone: it needs none of this. Everything else is
# production, where the checks of `manage.py check --deploy` are errors: Django's own, and those below.
# Whether subdomains take part in HSTS is for the owner of the domain to say: HSTS_SUBDOMAINS, HSTS_PRELOAD.
BY_CHOICE: list[str] = ["security.W005", "security.W021"]
# What only TLS can fulfil: HSTS, the redirect to https, and cookies that never travel unencrypted.
OF_TLS: list[str] = [f"security.W{number}" for number in ("004", "008", "010", "011", "012", "016")]
_DEBUG = ("newsdedup_site.E013", "security.W018")
# What the lists of browsers ask for: https://hstspreload.org/#submission-requirements
_PRELOAD_SECONDS = 31_536_000


def is_local(host: str) -> bool:
    """Return whether a host name, as in ALLOWED_HOSTS, means this machine; `.localhost` does too (RFC 6761, 6.3)."""
    name = host.strip("[]").lower()
    if name.rpartition(".")[2] == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def hosts_elsewhere(hosts: Iterable[str], origins: Iterable[str]) -> list[str]:
    """Return the names of ALLOWED_HOSTS, and of the origins in CSRF_TRUSTED_ORIGINS, that other machines use."""
    return [host for host in (*hosts, *(urlsplit(origin).hostname or "" for origin in origins)) if not is_local(host)]


def refuse_insecure(*, serving: bool) -> None:
    """Return if the pages may be served, or the worker may run; raise ImproperlyConfigured, with one line, if not.

    Needs no database and no loaded apps. `DEBUG` is accepted where nothing is `serving` and no other machine uses the
    pages: that is somebody who develops with a database of their own.
    """
    if settings.TRIAL:
        return
    checks = run_checks(tags=[Tags.security], include_deployment_checks=True)
    found = [check for check in checks if not check.is_silenced()]
    if not serving and not settings.SERVES_OTHERS:
        found = [message for message in found if message.id not in _DEBUG]
    # Django's messages about the same fault name settings that nobody has set by hand.
    found = [message for message in found if (message.id or "").startswith("newsdedup_site.")] or found
    if found:
        sentences = [f"{message.msg} {message.hint or ''}".strip() for message in found]
        raise ImproperlyConfigured(f"newsdedup does not start with these settings: {' '.join(sentences)}")
    if settings.PLAIN_HTTP:
        logger.warning("PLAIN_HTTP=true: passwords and sessions cross the network unencrypted.")


@register(Tags.security, deploy=True)
def check_variables(**_kwargs: Any) -> list[CheckMessage]:
    """Report what the environment variables allow and production must not."""
    faults = [*_about_hosts(), *_about_hsts()]
    return [Error(fault, hint=hint, id=f"newsdedup_site.{number}") for fault, hint, number in faults]


def _about_hosts() -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong, what helps, and the number of the check."""
    if "*" in settings.ALLOWED_HOSTS:
        fault = "ALLOWED_HOSTS=* serves the pages under any name that a visitor sends, also in links."
        yield fault, "Name the hosts, such as ALLOWED_HOSTS=dedup.example.org.", "E010"
    if settings.BEHIND_TLS_PROXY and settings.PLAIN_HTTP:
        fault = "BEHIND_TLS_PROXY=true and PLAIN_HTTP=true contradict each other."
        yield fault, "Remove PLAIN_HTTP if a proxy ends TLS.", "E011"
    elsewhere = hosts_elsewhere(settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS)
    if elsewhere and not (settings.BEHIND_TLS_PROXY or settings.PLAIN_HTTP):
        fault = f"The pages answer to {elsewhere[0]}, so passwords and sessions would cross the network unencrypted."
        hint = "Set BEHIND_TLS_PROXY=true behind a proxy that ends TLS, or PLAIN_HTTP=true if you accept that."
        yield fault, hint, "E012"
    if settings.DEBUG:
        yield "DEBUG=true shows source code and settings to visitors.", "Set DEBUG=false.", "E013"


def _about_hsts() -> Iterator[tuple[str, str, str]]:
    subdomains, preload = settings.SECURE_HSTS_INCLUDE_SUBDOMAINS, settings.SECURE_HSTS_PRELOAD
    for name, on in (("HSTS_SUBDOMAINS", subdomains), ("HSTS_PRELOAD", preload)):
        if on and not settings.BEHIND_TLS_PROXY:
            yield f"{name}=true does nothing without TLS.", "Set BEHIND_TLS_PROXY=true too.", "E014"
    enough = subdomains and settings.SECURE_HSTS_SECONDS >= _PRELOAD_SECONDS
    if preload and settings.BEHIND_TLS_PROXY and not enough:
        given = f"HSTS_SECONDS={settings.SECURE_HSTS_SECONDS} and HSTS_SUBDOMAINS={str(subdomains).lower()}"
        fault = f"HSTS_PRELOAD=true with {given} is not accepted by browsers."
        yield fault, f"Set HSTS_SUBDOMAINS=true and HSTS_SECONDS to {_PRELOAD_SECONDS} or more.", "E015"
