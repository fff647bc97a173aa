"""The menu: the pages of daily work in a row, and the others in groups behind "More". Shows what the user may open."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django import template
from django.http import HttpRequest
from django.urls import reverse

from articles.loading import read_table
from newsdedup_site.access.addresses import has_right, rule_of

register = template.Library()


class Entry(NamedTuple):
    """A link of the menu, by the name of its address, and the other addresses that belong to it."""

    label: str
    name: str
    belonging: Sequence[str]


(_, ROW), *GROUPS = [
    (heading, [Entry(label, name, belonging) for label, (name, *belonging) in links.items()])
    for heading, links in read_table(Path(__file__).with_suffix(".toml")).items()
]


@register.simple_tag(takes_context=True)
def menu(context: dict[str, Any]) -> dict[str, Any]:
    """Return the `row` of items, the `groups` with a heading and items each, and whether the page is `inside` one."""
    request: HttpRequest = context["request"]
    groups = [(heading, list(_items(request, entries))) for heading, entries in GROUPS]
    inside = any(item["current"] for _, items in groups for item in items)
    return {"row": list(_items(request, ROW)), "groups": groups, "inside": inside}


def _items(request: HttpRequest, entries: Sequence[Entry]) -> Iterator[dict[str, str]]:
    """Yield the links as the user sees them; `current` is a value of aria-current, "true" inside its section."""
    shown = request.resolver_match.url_name if request.resolver_match else None
    for entry in entries:
        *namespaces, name = entry.name.split(":")
        rule = rule_of(namespaces, name)
        if rule and has_right(request.user, rule.right):
            current = "page" if shown == entry.name else "true" if shown in entry.belonging else ""
            yield {"label": entry.label, "address": reverse(entry.name), "current": current}
