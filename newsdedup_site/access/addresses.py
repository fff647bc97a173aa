"""The rights, which role has them, which one each address asks for, and the middleware that refuses all else.

`manage.py check` fails for an address without an entry, and so does every command that runs the checks.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.checks import CheckMessage, Error, Tags, register
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import URLPattern, URLResolver, get_resolver, is_valid_path

from articles.numbers import MAX_NUMBER

log = logging.getLogger(__name__)

# Groups of these names, each with the rights of those before it; made by migrations of `dedup`.
ROLES = ("viewer", "editor", "admin")
# Where a page names whom to ask, it names so many.
SHOWN_ADMINS = 5


@dataclass(frozen=True)
class Right:
    """What a user must be allowed to do. `role` is the least role that may; the permission itself decides.

    So a permission that was given to a user or to a group of your own counts as well.
    """

    allows: str
    role: str = ""
    permission: str = ""
    needs_login: bool = True
    # The name of the setting that gives this right to everybody, also without a login.
    opened_by: str = ""


ANYONE = Right("see what is open to all", needs_login=False)
LOGIN = Right("manage their own login")
READ = Right("read", role="viewer", permission="articles.view_article")
READ_STORIES = Right("read stories", role="viewer", permission="articles.view_article", opened_by="STORIES_PUBLIC")
DECIDE = Right("decide on pairs and clusters", role="editor", permission="dedup.add_decision")
WHITELIST = Right("whitelist boilerplate", role="editor", permission="articles.add_whitelistedsentence")
START_RUNS = Right("start runs", role="admin", permission="dedup.add_detectionrun")
START_CRAWLS = Right("start, stop and schedule crawls", role="admin", permission="crawlers.add_crawl")
ADD_NEWSPAPERS = Right("try and add newspapers", role="admin", permission="articles.add_newspaper")
CHANGE_NEWSPAPERS = Right("change newspapers", role="admin", permission="articles.change_newspaper")
CHANGE_PROFILES = Right("change profiles", role="admin", permission="dedup.change_profile")
MANAGE_PEOPLE = Right("manage people", role="admin", permission="auth.change_user")
MERGE = Right("merge newspapers", role="admin", permission="articles.add_newspapermerge")
IMPORT = Right("import files", role="admin", permission="articles.add_fileimport")
REMOVE = Right("remove and withhold what is stored", role="admin", permission="articles.add_removal")
EXTRACT = Right("change extraction rules", role="admin", permission="articles.add_extractionrule")
SEE_ALARMS = Right("see alarms and what helps", role="admin", permission="newsdedup_site.view_alarm")
# For emergencies: no role has this permission, and a superuser has every one.
CONFIGURE = Right("open Django’s admin", role="superuser", permission="auth.delete_user")


def has_right(user: User | AnonymousUser, right: Right) -> bool:
    """Return whether a user has a right. Every right that belongs to a role includes reading."""
    if not right.needs_login or (right.opened_by and getattr(settings, right.opened_by)):
        return True
    if not user.is_authenticated:
        return False
    if not right.role:
        return True
    # A page with a menu asks dozens of times, and each time Django would ask all backends.
    held: dict[str, bool] = vars(user).setdefault("_held_permissions", {})
    if right.permission not in held:
        held[right.permission] = user.has_perms(filter(None, (READ.permission, right.permission)))
    return held[right.permission]


def admins() -> QuerySet[User]:
    """Return the users with the role admin who can log in, by name."""
    return User.objects.filter(is_active=True, groups__name="admin").order_by("username")


@dataclass(frozen=True)
class Rule:
    """What an address asks for. Only a form takes other methods than GET, HEAD and OPTIONS."""

    right: Right
    is_form: bool


def pages(right: Right, *names: str) -> list[tuple[str, Rule]]:
    """Return addresses that change nothing, each with its rule."""
    return [(name, Rule(right, is_form=False)) for name in names]


def forms(right: Right, *names: str) -> list[tuple[str, Rule]]:
    """Return addresses that also take POST, each with its rule."""
    return [(name, Rule(right, is_form=True)) for name in names]


# By the name of the URL pattern.
RULES = [
    # Without a login: the address of the feed has a token, and so has the header of a request for the metrics.
    *pages(ANYONE, "favicon", "healthz", "stories_feed_of", "metrics"),
    *forms(ANYONE, "login", "set_password"),
    # One's own login.
    *forms(LOGIN, "logout", "admin:logout", "password_change", "keys", "keys_switch"),
    *pages(LOGIN, "password_change_done"),
    # Pages.
    *pages(READ, "dashboard", "find", "help", "help_page", "history", "learning", "changed_answers"),
    *pages(READ, "queue", "queue_next", "pair", "pair_why", "compare"),
    *forms(READ, "check"),
    *pages(READ, "clusters", "cluster", "cluster_card"),
    *pages(READ, "cluster_lineage", "cluster_lineage_csv", "cluster_lineage_jsonl"),
    *pages(READ, "series_list", "series", "groups", "group", "boilerplate_list", "boilerplate"),
    *pages(READ, "articles", "article", "article_revision"),
    # The kind of a job says who sees and cancels it.
    *pages(READ, "jobs", "job", "job_state"),
    *forms(READ, "job_cancel"),
    *pages(READ, "runs", "run", "run_phases"),
    *pages(
        READ,
        "crawls",
        "newspaper_crawls",
        "crawl_log",
        "crawl_progress",
        "old_newspapers",
        "old_newspaper",
        "collections",
        "collection",
    ),
    *pages(READ_STORIES, "stories", "story", "stories_feed"),
    *forms(READ, "stories_feed_address"),
    *pages(READ, "reports", "report", "report_csv", "report_json", "report_svg", "report_file"),
    *pages(READ, "saved_views"),
    *forms(READ, "view_save", "view_rename", "view_delete"),
    *pages(READ, "webhooks", "webhook"),
    *forms(READ, "webhook_new", "webhook_switch", "webhook_test", "webhook_delete"),
    *pages(READ, "tokens"),
    *forms(READ, "token_new", "token_revoke"),
    *pages(READ, "exports", "export_csv", "export_jsonl"),
    *pages(READ, "corpus_csv", "corpus_jsonl", "corpus_export", "corpus_file"),
    *forms(READ, "corpus_new", "corpus_drop"),
    *pages(READ, "batches", "batch", "disagreements"),
    *pages(READ, "validation_samples", "validation_sample", "validation_pair"),
    *pages(READ, "validation_disagreements", "validation_csv", "validation_jsonl"),
    # Decisions.
    *forms(DECIDE, "pair_decide", "pair_lease", "pair_later", "compare_decide", "undo"),
    *forms(DECIDE, "check_fetch", "report_count"),
    *forms(DECIDE, "batch_new", "batch_decide", "collision_answer", "disagreement_settle"),
    *forms(DECIDE, "validation_new", "validation_label", "validation_undo", "validation_open", "validation_settle"),
    *forms(DECIDE, "cluster_lease", "cluster_later", "cluster_confirm", "cluster_reject", "cluster_take_out"),
    *forms(DECIDE, "cluster_version", "cluster_template", "cluster_keep_text"),
    *forms(DECIDE, "cluster_keep", "cluster_split", "cluster_merge", "cluster_preview"),
    *forms(DECIDE, "series_rule", "series_end_rule", "group_confirm", "group_rule", "group_end_rule"),
    *forms(WHITELIST, "boilerplate_keep", "boilerplate_end_keeping"),
    # Administration.
    *forms(START_RUNS, "run_new", "run_cancel", "learn", "model_use"),
    *forms(START_CRAWLS, "crawl_new", "crawl_take_back", "crawl_schedule"),
    *forms(ADD_NEWSPAPERS, "newspaper_add", "newspaper_try", "trial"),
    *forms(CHANGE_NEWSPAPERS, "newspaper_settings", "copy_store"),
    *forms(
        CHANGE_NEWSPAPERS,
        "collection_new",
        "collection_put",
        "collection_take",
        "collection_rename",
        "collection_delete",
    ),
    *pages(CHANGE_PROFILES, "profiles"),
    *forms(CHANGE_PROFILES, "profile_new", "profile", "profile_delete"),
    *forms(CHANGE_PROFILES, "profile_rule_new", "profile_rule", "profile_rule_delete"),
    *pages(SEE_ALARMS, "alarms"),
    *pages(MANAGE_PEOPLE, "people", "people_changes", "person"),
    *forms(MANAGE_PEOPLE, "person_invite", "person_change", "person_link", "person_block", "person_unblock", "unlock"),
    *pages(MERGE, "newspaper_merges"),
    *forms(MERGE, "newspaper_merge", "newspaper_merge_undo"),
    *pages(IMPORT, "imports", "import", "import_rejects"),
    *forms(IMPORT, "import_new", "import_start", "import_cancel"),
    *pages(REMOVE, "removals"),
    *forms(REMOVE, "removal_continue", "removal_lift", "newspaper_remove", "newspaper_pages"),
    *forms(REMOVE, "article_remove", "article_withhold", "article_release"),
    *forms(EXTRACT, "extraction_rule", "extraction_rule_apply"),
]
ADDRESSES = dict(RULES)

# By the namespace, for addresses that a package makes; an entry above comes first.
NAMESPACES = {
    "admin": Rule(CONFIGURE, is_form=True),
    # Each operation checks a token itself, and counts no login: dedup/api/auth.py.
    "api": Rule(ANYONE, is_form=True),
}


def rule_of(namespaces: Sequence[str], name: str | None) -> Rule | None:
    """Return the rule of a URL pattern with this name in these namespaces, or None if it has none."""
    if name:
        rule = ADDRESSES.get(":".join([*namespaces, name]))
        if rule is not None:
            return rule
    return NAMESPACES.get(namespaces[0]) if namespaces else None


TABLE = "newsdedup_site/access/addresses.py"
MIDDLEWARE = "newsdedup_site.access.addresses.RightsMiddleware"


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
    """Report addresses without a rule, names that two share, rules without an address or twice, no middleware."""
    return [Error(fault, hint=hint, id=f"newsdedup_site.{number}") for fault, hint, number in _faults()]


def _faults() -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong, what helps, and the number of the check."""
    found = list(walk(get_resolver()))
    names = Counter(address.name for address in found)
    for address in found:
        if rule_of(address.namespaces, address.pattern.name) is None:
            hint = f"Give its pattern a name, and the name a line in {TABLE}."
            yield f"The address /{address.route} has no rule.", hint, "E001"
    for name, number in Counter(name for name, _ in RULES).items():
        if names[name] > 1:
            fault = f"{names[name]} addresses have the name {name!r}, so one rule would hold for all of them."
            yield fault, "Give each its own name.", "E002"
        if name not in names:
            yield f"{TABLE} has a rule for {name!r}, which no address has.", "Remove it.", "E003"
        if number > 1:
            yield f"{TABLE} has {number} rules for {name!r}.", "Remove all but one.", "E005"
    if MIDDLEWARE not in settings.MIDDLEWARE:
        yield "Nothing enforces the rules of the addresses.", f"Add {MIDDLEWARE}.", "E004"


_NOTHING_CHANGED = "Nothing was changed. If you had to log in first, send the form again."
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class RightsMiddleware:
    """Sends users without a login to the login page, and answers 403 to those without the right.

    An address without a rule is refused for everybody. A page, which changes nothing, answers 405 to a POST. A GET of
    an address that takes only POST is sent to the page above it: browsers send one after a login if the session had
    ended when a form was posted.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "GET" and response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            match = request.resolver_match
            if match and not match.namespaces and request.user.is_authenticated:
                messages.warning(request, _NOTHING_CHANGED)
                query = request.META.get("QUERY_STRING", "")
                return redirect(_page_above(request.path) + (f"?{query}" if query else ""))
        return response

    def process_view(
        self, request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Return the refusal, or None for a request that may go on to its view.

        Raises Http404 for a number that no row can have; the API answers these in its own form.
        """
        match = request.resolver_match
        rule = rule_of(match.namespaces, match.url_name) if match else None
        if rule is None:
            log.error("%s has no rule in newsdedup_site/access/addresses.py and is refused.", request.path)
            return _refusal(request, None)
        if request.GET.get("all"):  # questions, whatever the route of the user is: dedup/review/questions/routes.py
            vars(request.user)["route_read"] = None
        if not has_right(request.user, rule.right):
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            return _refusal(request, rule.right)
        if request.method not in _SAFE_METHODS and not rule.is_form:
            return HttpResponseNotAllowed(_SAFE_METHODS)
        is_too_high = any(isinstance(value, int) and value > MAX_NUMBER for value in kwargs.values())
        if match and not match.namespaces and is_too_high:
            raise Http404(f"No row has so high a number: the highest is {MAX_NUMBER}.")
        return None


def _page_above(path: str) -> str:
    """Return the longest beginning of a path that is an address too."""
    while path != "/":
        path = path.rstrip("/").rpartition("/")[0] + "/"
        if is_valid_path(path):
            break
    return path


def _refusal(request: HttpRequest, right: Right | None) -> HttpResponse:
    """Answer 403: with the missing right, or for users who may not even read, with whom to ask."""
    if right is None or has_right(request.user, READ):
        return render(request, "403.html", {"missing": right}, status=403)
    return render(request, "accounts/no_role.html", {"admins": admins()[:SHOWN_ADMINS]}, status=403)
