"""Every address of the site, by its URL configuration and by the links of its pages: the one walker of all tests."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from django.test import Client
from django.urls import Resolver404, get_resolver, resolve
from lxml import html

from newsdedup_site.access.addresses import Rule, rule_of, walk

_PLACE = re.compile(r"<(?:(\w+):)?(\w+)>")
# A regular expression of the admin: a place whose first alternative is the first word of it.
_OFFERED = re.compile(r"\^?\(\?P<(\w+)>(\w*)[^)]*\)")
# Values that no row has, by the converter of their place.
SAMPLES = {"int": "987654321", "path": "987654321", "str": "987654321", "slug": "exact"}
SAMPLES |= {"uuid": "6f1c0f4e-3a52-4d43-9b6e-0d7f5e2a9c11"}
# So many pages are read of one address: each may show a row in another state. Reports have names, and all are read.
MOST_ALIKE = 3
MOST_QUERIES = 2


@dataclass(frozen=True)
class Address:
    """An address: its name, its route, in which each place is `<converter:name>`, its view and its rule."""

    name: str
    route: str
    view: Callable[..., Any]
    rule: Rule | None
    namespaces: tuple[str, ...]
    offered: dict[str, str]

    def places(self) -> list[tuple[str, str]]:
        """Return the converter and the name of each place."""
        return [(kind or "str", name) for kind, name in _PLACE.findall(self.route)]

    def url(self, **values: str) -> str:
        """Return its path with these values, escaped already, by converter or name; with SAMPLES for the others."""
        known = SAMPLES | self.offered | values
        return "/" + _PLACE.sub(lambda found: known.get(found[2]) or known[found[1] or "str"], self.route)


def addresses() -> Iterator[Address]:
    """Yield every address of the URL configuration."""
    for found in walk(get_resolver()):
        offered = {name: first or "nothing-here" for name, first in _OFFERED.findall(found.route)}
        route = _OFFERED.sub(r"<str:\1>", found.route).removesuffix("$")
        rule = rule_of(found.namespaces, found.pattern.name)
        yield Address(found.name or found.route, route, found.pattern.callback, rule, found.namespaces, offered)


def name_of(url: str) -> str:
    """Return the name of the address of this site that a URL leads to; empty if it leads elsewhere."""
    try:
        return str(resolve(urlsplit(url).path).view_name)
    except Resolver404:
        return ""


class Shown(NamedTuple):
    """A page that a link leads to: the link, the path that it ends at, and its text."""

    url: str
    path: str
    text: str


def pages(client: Client, start: str) -> Iterator[Shown]:
    """Yield the pages that links lead to, some of each kind."""
    waiting, seen, alike = deque([start]), {start}, Counter[Any]()
    while waiting:
        url = waiting.popleft()
        answer = client.get(url, follow=True)
        if not answer.get("Content-Type", "").startswith("text/html"):
            continue
        shown = Shown(url, answer.request["PATH_INFO"], answer.content.decode())
        yield shown
        for element, _, link, _ in html.document_fromstring(shown.text).iterlinks():
            found = urljoin(shown.path, link).partition("#")[0] if element.tag == "a" else ""
            if found in seen or not found.startswith("/"):
                continue
            seen.add(found)
            name, query = name_of(found), urlsplit(found).query
            kind = (name, bool(query), "" if query or re.search(r"\d", found) else found)
            alike[kind] += 1
            if name and alike[kind] <= (1 if name.startswith("admin:") else MOST_QUERIES if query else MOST_ALIKE):
                waiting.append(found)
