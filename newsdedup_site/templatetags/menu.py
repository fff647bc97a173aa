"""The menu: a bar of parts, some of which open, and tabs of pages that share an entry; what the user may open."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django import template
from django.http import HttpRequest
from django.urls import reverse

from articles.loading import read_table
from newsdedup_site.access.addresses import has_right, rule_of

register = template.Library()


class Page(NamedTuple):
    """A page, by the name of its address, the other addresses that belong to it, and the name of its group of tabs."""

    label: str
    name: str
    belonging: Sequence[str]
    group: str = ""


def _pages(label: str, named: Any) -> Iterator[Page]:
    """Yield the pages of an entry: one by its names, or several by their labels."""
    for own, names in (named if isinstance(named, dict) else {label: named}).items():
        if isinstance(names, dict):
            yield from (page._replace(group=own) for page in _pages(own, names))
        else:
            yield Page(own, names[0], names[1:])


# The pages of each entry, by the part of the bar and the label of the entry.
PARTS = {
    part: {label: list(_pages(label, named)) for label, named in entries.items()}
    for part, entries in read_table(Path(__file__).with_suffix(".toml")).items()
}


@register.simple_tag(takes_context=True)
def menu(context: dict[str, Any]) -> dict[str, Any]:
    """Return the `parts` of the bar, each with its entries, and the `tabs` of this page with their `label`."""
    request: HttpRequest = context["request"]
    parts: list[dict[str, Any]] = []
    shown: dict[str, Any] = {}
    for part, entries in PARTS.items():
        links = []
        for label, pages in entries.items():
            if own := list(tabs(request, pages)):
                # It leads to its first page, and is marked on all of them.
                current = own[0]["current"] or ("true" if any(tab["current"] for tab in own) else "")
                links.append({"label": label, "address": own[0]["address"], "current": current})
                if len(own) > 1 and any(tab["current"] == "page" for tab in own):
                    shown = {"tabs": own, "label": label}
        if links:
            opens = list(entries) != [part]
            parts.append({"label": part, "links": links, "opens": opens, "inside": any(x["current"] for x in links)})
    return {"parts": parts, **shown}


def tabs(request: HttpRequest, pages: Sequence[Page]) -> Iterator[dict[str, str]]:
    """Yield the pages as the user sees them; `current` is a value of aria-current, "true" on what belongs to one."""
    match = request.resolver_match
    shown = match.url_name if match else None
    for page in pages:
        *namespaces, name = page.name.split(":")
        rule = rule_of(namespaces, name)
        if rule and has_right(request.user, rule.right):
            current = "page" if shown == page.name else "true" if shown in page.belonging else ""
            yield {"label": page.label, "address": reverse(page.name), "current": current, "group": page.group}
