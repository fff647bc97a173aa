"""The addresses of the site and what each reads: from the URL configuration, the code of the views, and the pages."""

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from django.apps import apps
from django.forms import BaseForm
from django.test import Client
from django.urls import Resolver404, resolve
from django_filters import FilterSet
from lxml import html

from tests.addresses import Address, addresses, pages

_READS = re.compile(r"\.(?:GET|POST|FILES)(?:\.get|\.getlist)?\s*[\[(]\s*\"([^\"]+)\"")
_USUAL = ("page", "sort", "q", "next", "back", "ahead", "csrfmiddlewaretoken", "format")


@dataclass
class Target:
    """An address, the parameters that it may read, and values that pages offer for them."""

    address: Address
    parameters: set[str] = field(default_factory=set)
    offered: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    known: list[dict[str, Any]] = field(default_factory=list)  # values of its route that a page links to

    @property
    def name(self) -> str:
        return self.address.name


def targets() -> dict[str, Target]:
    """Return every address of the URL configuration by its name, with the parameters that its code reads."""
    found = {}
    for address in addresses():
        target = Target(address)
        target.parameters |= {*_USUAL, *_read_by(address.view)}
        found[target.name] = target
    return found


def _read_by(view: Any) -> Iterator[str]:
    """Yield the parameters that the module of a view names, and the fields of the forms and filters that it uses."""
    module = sys.modules.get(inspect.unwrap(view).__module__)
    if module is None or not module.__name__.startswith(("dedup", "crawlers", "newsdedup_site", "articles")):
        return
    yield from _READS.findall(inspect.getsource(module))
    for value in vars(module).values():
        if inspect.isclass(value) and issubclass(value, BaseForm | FilterSet):
            yield from getattr(value, "base_fields", None) or getattr(value, "base_filters", None) or ()


def learn_from_pages(found: dict[str, Target], client: Client) -> int:
    """Read each kind of page, and add what links and forms name; return the number of pages read."""
    shown = [page for start in ("/", "/admin/") for page in pages(client, start)]
    for read in shown:
        document = html.document_fromstring(read.text)
        for link in document.xpath("//*[not(self::link)]/@*[name() = 'href' or name() = 'hx-get' or name() = 'src']"):
            if link.startswith(("/", "?")):
                _add(found, urljoin(read.path, link))
        for form in document.forms:
            _add(found, form.get("action") or read.path, _fields(form))
    return len(shown)


def _fields(form: html.FormElement) -> dict[str, set[str]]:
    """Return the names that a form sends, with the values that it offers for them."""
    fields: dict[str, set[str]] = defaultdict(set)
    parts = ".//input | .//select | .//textarea | .//button | .//option"
    for part in [*form.xpath(parts), *form.xpath("//*[@form = $name]", name=form.get("id", ""))]:
        if name := part.get("name") or part.xpath("string(ancestor::select/@name)"):
            fields[name].add(part.get("value", ""))
    return fields


def _add(found: dict[str, Target], url: str, fields: dict[str, set[str]] | None = None) -> None:
    """Add what a URL of this site names to its address."""
    parts = urlsplit(url)
    try:
        match = resolve(parts.path)
    except Resolver404:
        return
    target = found.get(":".join([*match.namespaces, match.url_name or ""]))
    if target is None:
        return
    if match.kwargs not in target.known and len(target.known) < 20:
        target.known.append(match.kwargs)
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        target.offered[name].add(value)
    for name, values in (fields or {}).items():
        target.parameters.add(name)
        target.offered[name] |= values


# Whose rows the places of a route name, where that is not a model of this name.
_MODELS = {
    "export": "corpusexport", "group": "densegroup", "import": "fileimport", "merge": "newspapermerge",
    "person": "user", "reading": "secondreading", "request": "runrequest", "rule": "profilerule", "run": "detectionrun",
    "sample": "validationsample", "view": "savedview",
}  # fmt: skip


def stored_numbers(place: str) -> list[str]:
    """Return the numbers of some rows that a place of a route can name, by the name of the place; empty without any."""
    name = place.removesuffix("_id")
    wanted = {_MODELS.get(name, name)} if name != "number" else {"pair", "cluster", "articlerevision"}
    found = [model for model in apps.get_models() if model._meta.model_name in wanted]
    return [str(pk) for model in found for pk in model._default_manager.order_by("pk").values_list("pk", flat=True)[:3]]


_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Whose end tags may be left out: no fault where it ends with its parent.
_OPTIONAL = {"li", "dt", "dd", "p", "option", "optgroup", "tr", "td", "th", "tbody", "thead", "tfoot", "rt", "rp"}


class PageReader(HTMLParser):
    """The faults of a page's HTML: tags that do not match, ids that come twice."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self._open: list[str] = []
        self._ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if len(values) < len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice")
        if (number := values.get("id")) is not None:
            if number in self._ids or not number:
                self.faults.append(f"the id {number!r} comes twice or is empty")
            self._ids.add(number)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open[-1] != tag and self._open[-1] in _OPTIONAL:
            self._open.pop()
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.faults.append(f"</{tag}> ends nothing; open are {self._open[-3:]}")

    def close(self) -> None:
        super().close()
        left = [name for name in self._open if name not in _OPTIONAL]
        if left:
            self.faults.append(f"{left} are never closed")
