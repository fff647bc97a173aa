"""System checks: every address has a rule, every rule an address, and the middleware that enforces them is on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.urls import URLPattern, URLResolver, get_resolver

from newsdedup_site.access.addresses import ADDRESSES, rule_of

TABLE = "newsdedup_site/access/addresses.py"
MIDDLEWARE = "newsdedup_site.access.middleware.RightsMiddleware"


@dataclass(frozen=True)
class Address:
    """A URL pattern, the namespaces it is in, and its route as urls.py has it, from the root on."""

    namespaces: tuple[str, ...]
    pattern: URLPattern
    route: str

    @property
    def name(self) -> str:
        return ":".join([*self.namespaces, self.pattern.name or ""])


def walk(resolver: URLResolver, namespaces: tuple[str, ...] = ()) -> Iterator[Address]:
    """Yield every address below a resolver."""
    for pattern in resolver.url_patterns:
        route = str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield Address(namespaces, pattern, route)
        else:
            for below in walk(pattern, (*namespaces, pattern.namespace) if pattern.namespace else namespaces):
                yield replace(below, route=route + below.route)


@register(Tags.urls)
def check_addresses(**_kwargs: Any) -> list[CheckMessage]:
    """Report addresses without a rule, names that two addresses share, rules without an address, no middleware."""
    found = list(walk(get_resolver()))
    names = Counter(address.name for address in found)
    errors: list[CheckMessage] = [
        Error(
            f"The address /{address.route} has no rule.",
            hint=f"Give its pattern a name, and the name a line in {TABLE}.",
            id="newsdedup_site.E001",
        )
        for address in found
        if rule_of(address.namespaces, address.pattern.name) is None
    ]
    errors += [
        Error(
            f"{names[name]} addresses have the name {name!r}, so one rule would hold for all of them.",
            hint="Give each its own name.",
            id="newsdedup_site.E002",
        )
        for name in ADDRESSES
        if names[name] > 1
    ]
    errors += [
        Error(f"{TABLE} has a rule for {name!r}, which no address has.", hint="Remove it.", id="newsdedup_site.E003")
        for name in ADDRESSES
        if name not in names
    ]
    return errors + _check_middleware()


def _check_middleware() -> list[CheckMessage]:
    if MIDDLEWARE in settings.MIDDLEWARE:
        return []
    return [Error("Nothing enforces the rules of the addresses.", hint=f"Add {MIDDLEWARE}.", id="newsdedup_site.E004")]
