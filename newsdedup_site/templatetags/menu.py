"""The menu: the pages of daily work in a row, and the others in groups behind "More". Shows what the user may open."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django import template
from django.http import HttpRequest
from django.urls import reverse

from newsdedup_site.access.addresses import has_right, rule_of

register = template.Library()


class Entry(NamedTuple):
    """A link of the menu, by the name of its address, and the other addresses that belong to it."""

    label: str
    name: str
    belonging: tuple[str, ...] = ()


ROW = (
    Entry("Queue", "queue", ("pair", "pair_why", "cluster_card")),
    Entry("Clusters", "clusters", ("cluster", "cluster_preview", "cluster_lineage")),
    Entry("Series", "series_list", ("series",)),
    Entry("Articles", "articles", ("article", "article_revision")),
    Entry("History", "history"),
)
GROUPS = (
    (
        "Reviewing",
        (
            Entry("Batches", "batches", ("batch_new", "batch")),
            Entry("Disagreements", "disagreements", ("changed_answers",)),
            Entry(
                "Validation",
                "validation_samples",
                ("validation_new", "validation_sample", "validation_pair", "validation_disagreements"),
            ),
            Entry("Learning", "learning"),
            Entry("Saved views", "saved_views"),
        ),
    ),
    (
        "Finding",
        (
            Entry("Check a text", "check", ("check_fetch",)),
            Entry("Compare two articles", "compare"),
            Entry("Dense groups", "groups", ("group",)),
            Entry("Boilerplate", "boilerplate_list", ("boilerplate",)),
            Entry("Stories", "stories", ("story", "stories_feed_address")),
            Entry("Reports", "reports", ("report",)),
            Entry("Exports", "exports", ("corpus_export",)),
        ),
    ),
    (
        "Running",
        (
            Entry("Runs", "runs", ("run", "run_new")),
            Entry("Jobs", "jobs", ("job",)),
            Entry("Profiles", "profiles", ("profile", "profile_new", "profile_rule", "profile_rule_new")),
            Entry(
                "Crawls",
                "crawls",
                (
                    "newspaper_crawls",
                    "newspaper_add",
                    "newspaper_merge",
                    "newspaper_merges",
                    "newspaper_pages",
                    "crawl_log",
                    "extraction_rule",
                    "trial",
                ),
            ),
            Entry("Imports", "imports", ("import_new", "import")),
            Entry("Alarms", "alarms"),
            Entry("Removals", "removals", ("newspaper_remove", "article_remove", "article_withhold")),
            Entry("People", "people", ("person", "person_invite", "person_link", "people_changes")),
            Entry("Tokens", "tokens", ("token_new",)),
            Entry("Webhooks", "webhooks", ("webhook", "webhook_new")),
            Entry("Settings", "admin:index"),
        ),
    ),
)


@register.simple_tag(takes_context=True)
def menu(context: dict[str, Any]) -> dict[str, Any]:
    """Return the `row` of items, the `groups` with a heading and items each, and whether the page is `inside` one."""
    request: HttpRequest = context["request"]
    groups = [(heading, list(_items(request, entries))) for heading, entries in GROUPS]
    inside = any(item["current"] for _, items in groups for item in items)
    return {"row": list(_items(request, ROW)), "groups": groups, "inside": inside}


def _items(request: HttpRequest, entries: tuple[Entry, ...]) -> Iterator[dict[str, str]]:
    """Yield the links as the user sees them; `current` is a value of aria-current, "true" inside its section."""
    shown = request.resolver_match.url_name if request.resolver_match else None
    for entry in entries:
        *namespaces, name = entry.name.split(":")
        rule = rule_of(namespaces, name)
        if rule and has_right(request.user, rule.right):
            current = "page" if shown == entry.name else "true" if shown in entry.belonging else ""
            yield {"label": entry.label, "address": reverse(entry.name), "current": current}
