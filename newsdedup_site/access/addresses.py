"""The right that each address asks for. An address that is not in this table is refused.

`manage.py check` fails for an address without an entry, and so does every command that runs the checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.urls import URLPattern, URLResolver, get_resolver

from newsdedup_site.access.rights import (
    ADD_NEWSPAPERS,
    ANYONE,
    CHANGE_PROFILES,
    CONFIGURE,
    DECIDE,
    EXTRACT,
    IMPORT,
    LOGIN,
    MANAGE_PEOPLE,
    MERGE,
    READ,
    READ_STORIES,
    REMOVE,
    SEE_ALARMS,
    START_CRAWLS,
    START_RUNS,
    WHITELIST,
    Right,
)


@dataclass(frozen=True)
class Rule:
    """What an address asks for. Only a form takes other methods than GET, HEAD and OPTIONS."""

    right: Right
    is_form: bool


def page(right: Right) -> Rule:
    """Return the rule of an address that changes nothing."""
    return Rule(right, is_form=False)


def form(right: Right) -> Rule:
    """Return the rule of an address that also takes POST."""
    return Rule(right, is_form=True)


# By the name of the URL pattern.
ADDRESSES: dict[str, Rule] = {
    # without a login
    "favicon": page(ANYONE),
    "healthz": page(ANYONE),
    "login": form(ANYONE),
    "set_password": form(ANYONE),
    # its address has a token
    "stories_feed_of": page(ANYONE),
    # its header has one
    "metrics": page(ANYONE),
    # one's own login
    "logout": form(LOGIN),
    "password_change": form(LOGIN),
    "password_change_done": page(LOGIN),
    "keys": form(LOGIN),
    "keys_switch": form(LOGIN),
    # pages
    "dashboard": page(READ),
    "help": page(READ),
    "help_page": page(READ),
    "queue": page(READ),
    "queue_next": page(READ),
    "pair": page(READ),
    "pair_why": page(READ),
    "compare": page(READ),
    "check": form(READ),
    "clusters": page(READ),
    "cluster": page(READ),
    "cluster_card": page(READ),
    "cluster_lineage": page(READ),
    "cluster_lineage_csv": page(READ),
    "cluster_lineage_jsonl": page(READ),
    "series_list": page(READ),
    "series": page(READ),
    "groups": page(READ),
    "group": page(READ),
    "boilerplate_list": page(READ),
    "boilerplate": page(READ),
    "articles": page(READ),
    "article": page(READ),
    "article_revision": page(READ),
    # the kind of a job says who sees and cancels it
    "jobs": page(READ),
    "job": page(READ),
    "job_state": page(READ),
    "job_cancel": form(READ),
    "runs": page(READ),
    "run": page(READ),
    "run_phases": page(READ),
    "crawls": page(READ),
    "newspaper_crawls": page(READ),
    "crawl_log": page(READ),
    "crawl_progress": page(READ),
    "stories": page(READ_STORIES),
    "story": page(READ_STORIES),
    "stories_feed": page(READ_STORIES),
    "stories_feed_address": form(READ),
    "reports": page(READ),
    "report": page(READ),
    "report_csv": page(READ),
    "report_json": page(READ),
    "report_svg": page(READ),
    "report_file": page(READ),
    "history": page(READ),
    "saved_views": page(READ),
    "view_save": form(READ),
    "view_rename": form(READ),
    "view_delete": form(READ),
    "webhooks": page(READ),
    "webhook_new": form(READ),
    "webhook": page(READ),
    "webhook_switch": form(READ),
    "webhook_test": form(READ),
    "webhook_delete": form(READ),
    "tokens": page(READ),
    "token_new": form(READ),
    "token_revoke": form(READ),
    "exports": page(READ),
    "corpus_csv": page(READ),
    "corpus_jsonl": page(READ),
    "corpus_new": form(READ),
    "corpus_export": page(READ),
    "corpus_file": page(READ),
    "corpus_drop": form(READ),
    "export_csv": page(READ),
    "export_jsonl": page(READ),
    "batches": page(READ),
    "batch": page(READ),
    "disagreements": page(READ),
    "learning": page(READ),
    "changed_answers": page(READ),
    "validation_samples": page(READ),
    "validation_sample": page(READ),
    "validation_pair": page(READ),
    "validation_disagreements": page(READ),
    "validation_csv": page(READ),
    "validation_jsonl": page(READ),
    # decisions
    "report_count": form(DECIDE),
    "pair_decide": form(DECIDE),
    "batch_new": form(DECIDE),
    "batch_decide": form(DECIDE),
    "collision_answer": form(DECIDE),
    "disagreement_settle": form(DECIDE),
    "validation_new": form(DECIDE),
    "validation_label": form(DECIDE),
    "validation_undo": form(DECIDE),
    "validation_open": form(DECIDE),
    "validation_settle": form(DECIDE),
    "compare_decide": form(DECIDE),
    "pair_lease": form(DECIDE),
    "pair_later": form(DECIDE),
    "cluster_lease": form(DECIDE),
    "cluster_later": form(DECIDE),
    "check_fetch": form(DECIDE),
    "cluster_confirm": form(DECIDE),
    "cluster_reject": form(DECIDE),
    "cluster_take_out": form(DECIDE),
    "cluster_keep": form(DECIDE),
    "cluster_split": form(DECIDE),
    "cluster_merge": form(DECIDE),
    "cluster_preview": form(DECIDE),
    "series_rule": form(DECIDE),
    "series_end_rule": form(DECIDE),
    "group_confirm": form(DECIDE),
    "group_rule": form(DECIDE),
    "group_end_rule": form(DECIDE),
    "undo": form(DECIDE),
    "boilerplate_keep": form(WHITELIST),
    "boilerplate_end_keeping": form(WHITELIST),
    # administration
    "run_new": form(START_RUNS),
    "run_cancel": form(START_RUNS),
    "crawl_new": form(START_CRAWLS),
    "crawl_take_back": form(START_CRAWLS),
    "crawl_schedule": form(START_CRAWLS),
    "newspaper_add": form(ADD_NEWSPAPERS),
    "newspaper_try": form(ADD_NEWSPAPERS),
    "trial": form(ADD_NEWSPAPERS),
    "learn": form(START_RUNS),
    "model_use": form(START_RUNS),
    "profiles": page(CHANGE_PROFILES),
    "profile_new": form(CHANGE_PROFILES),
    "profile": form(CHANGE_PROFILES),
    "profile_delete": form(CHANGE_PROFILES),
    "profile_rule_new": form(CHANGE_PROFILES),
    "profile_rule": form(CHANGE_PROFILES),
    "profile_rule_delete": form(CHANGE_PROFILES),
    "alarms": page(SEE_ALARMS),
    "people": page(MANAGE_PEOPLE),
    "people_changes": page(MANAGE_PEOPLE),
    "person": page(MANAGE_PEOPLE),
    "person_invite": form(MANAGE_PEOPLE),
    "person_change": form(MANAGE_PEOPLE),
    "person_link": form(MANAGE_PEOPLE),
    "person_block": form(MANAGE_PEOPLE),
    "person_unblock": form(MANAGE_PEOPLE),
    "unlock": form(MANAGE_PEOPLE),
    "newspaper_merges": page(MERGE),
    "newspaper_merge": form(MERGE),
    "newspaper_merge_undo": form(MERGE),
    "imports": page(IMPORT),
    "import_new": form(IMPORT),
    "import": page(IMPORT),
    "import_start": form(IMPORT),
    "import_cancel": form(IMPORT),
    "import_rejects": page(IMPORT),
    "removals": page(REMOVE),
    "removal_continue": form(REMOVE),
    "removal_lift": form(REMOVE),
    "newspaper_remove": form(REMOVE),
    "newspaper_pages": form(REMOVE),
    "article_remove": form(REMOVE),
    "article_withhold": form(REMOVE),
    "article_release": form(REMOVE),
    "extraction_rule": form(EXTRACT),
    "extraction_rule_apply": form(EXTRACT),
    "admin:logout": form(LOGIN),
}

# By the namespace, for addresses that a package makes; an entry above comes first.
NAMESPACES: dict[str, Rule] = {
    "admin": form(CONFIGURE),
    # Each operation checks a token itself, and counts no login: dedup/api/auth.py.
    "api": form(ANYONE),
}


def rule_of(namespaces: Sequence[str], name: str | None) -> Rule | None:
    """Return the rule of a URL pattern with this name in these namespaces, or None if it has none."""
    if name:
        rule = ADDRESSES.get(":".join([*namespaces, name]))
        if rule is not None:
            return rule
    return NAMESPACES.get(namespaces[0]) if namespaces else None


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
