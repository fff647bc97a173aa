"""Which settings the pages and the worker refuse to start with, in sentences that name the environment variable.

A trial is the embedded server, with pages for this machine alone: it needs none of this. Everything else is production,
where the checks of `manage.py check --deploy` are errors: Django's own, and those of this module.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured

# Whether subdomains take part in HSTS is for the owner of the domain to say: HSTS_SUBDOMAINS, HSTS_PRELOAD.
BY_CHOICE: list[str] = ["security.W005", "security.W021"]
# What only TLS can fulfil: HSTS, the redirect to https, and cookies that never travel unencrypted.
OF_TLS: list[str] = [f"security.W{number}" for number in ("004", "008", "010", "011", "012", "016")]
_DEBUG = ("newsdedup_site.E013", "security.W018")
# What the lists of browsers ask for: https://hstspreload.org/#submission-requirements
_PRELOAD_SECONDS = 31_536_000

logger = logging.getLogger(__name__)


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
    found = [
        check for check in run_checks(tags=[Tags.security], include_deployment_checks=True) if not check.is_silenced()
    ]
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
