"""Who may open which address: every address of the site, for every role, read and sent to."""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone

from newsdedup_site import access
from newsdedup_site.access.addresses import (
    CONFIGURE,
    DECIDE,
    READ,
    READ_STORIES,
    RightsMiddleware,
    Rule,
    admins,
    has_right,
)
from newsdedup_site.access.backend import RightsBackend
from newsdedup_site.templatetags.menu import PARTS
from tests.addresses import Address, addresses
from tests.factories import make_user

pytestmark = pytest.mark.django_db

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
# Of the menu.
PAGES = [page for entries in PARTS.values() for pages in entries.values() for page in pages]
# In the order of their rights; a superuser has all.
ROLES = ("nobody", "no role", "viewer", "editor", "admin", "superuser")
QUICK = ("nobody", "viewer", "superuser")


@cache
def samples() -> list[Address]:
    found = list(addresses())
    for address in found:
        match = resolve(address.url())
        named = ":".join([*address.namespaces, match.url_name or ""])
        is_same = (tuple(match.namespaces), match.func) == (address.namespaces, address.view)
        assert is_same or named == address.name, address.url()
    return found


def client_of(role: str) -> Client:
    client = Client()
    if role == "nobody":
        return client
    groups = [role] if role in ("viewer", "editor", "admin") else []
    name = role.replace(" ", "-")
    high = dict.fromkeys(("is_staff", "is_superuser"), role == "superuser")
    client.force_login(User.objects.filter(username=name).first() or make_user(name, *groups, **high))
    return client


def answered_at_once(decided: Callable[..., HttpResponseBase | None]) -> Callable[..., HttpResponseBase | None]:
    """Have every GET that may go on answered without its view."""

    def _decided(middleware: RightsMiddleware, request: HttpRequest, *of_view: Any) -> HttpResponseBase | None:
        return decided(middleware, request, *of_view) or (HttpResponse() if request.method == "GET" else None)

    return _decided


def expected(rule: Rule, role: str, method: str) -> str:
    """Return what must happen: "login", "refused", "not allowed" or "answered"."""
    least = rule.right.role or ("no role" if rule.right.needs_login else "nobody")
    if ROLES.index(role) < ROLES.index(least):
        return "login" if role == "nobody" else "refused"
    return "answered" if method == "GET" or rule.is_form else "not allowed"


def seen(answer: HttpResponse, url: str, *, is_page: bool) -> str:
    if answer.status_code == 302 and answer["Location"] == f"/login/?next={url}":
        return "login"
    templates = {template.name for template in getattr(answer, "templates", [])}
    # Pages of the admin also answer 403, by the permissions of their model.
    if "accounts/no_role.html" in templates or ("403.html" in templates and "missing" in answer.context):
        assert answer.status_code == 403
        return "refused"
    return "not allowed" if answer.status_code == 405 and is_page else "answered"


@pytest.mark.parametrize(
    "role", [role if role in QUICK else pytest.param(role, marks=pytest.mark.slow) for role in ROLES]
)
def test_every_address_is_open_to_the_roles_that_are_declared_and_to_no_other(
    role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if role != "superuser":
        # What a page shows is another question; that each can be shown, the superuser tells.
        monkeypatch.setattr(RightsMiddleware, "process_view", answered_at_once(RightsMiddleware.process_view))
    client = client_of(role)
    wrong = []
    for sample in samples():
        url = sample.url()
        if sample.rule is None:
            wrong.append((url, "has no rule"))
            continue
        for method in ("GET", "POST"):
            answer = client.generic(method, url)
            found = seen(answer, url, is_page=not sample.rule.is_form)
            if found != expected(sample.rule, role, method) or answer.status_code >= 500:
                wrong.append((url, method, found, str(answer.status_code)))
            if sample.name in ("logout", "admin:logout"):
                client = client_of(role)
    assert wrong == []


def test_no_address_refuses_a_link_with_a_blank_page(monkeypatch: pytest.MonkeyPatch) -> None:
    client, sent = client_of("superuser"), {}
    above = access.addresses._page_above
    # Only what is sent to the page above it: what the others show is another question.
    monkeypatch.setattr(access.addresses, "_page_above", lambda path: sent.setdefault(path, above(path)))
    forms = [sample for sample in samples() if sample.rule and sample.rule.is_form and ":" not in sample.name]
    answers = {form.url(): client.get(form.url()).status_code for form in forms if form.name != "logout"}
    assert [url for url, status in answers.items() if status == 405] == []
    assert len(sent) > 10
    # There, a link is answered: with a page, or because its row does not exist here.
    assert {client.get(page).status_code for page in set(sent.values())} <= {200, 404}


def test_a_form_that_comes_as_a_link_leads_to_its_page_and_says_that_nothing_was_changed() -> None:
    client = client_of("admin")
    answer = client.get("/crawls/start/?page=2", follow=True)
    assert answer.redirect_chain == [("/crawls/?page=2", 302)]
    said = "Nothing was changed. If you had to log in first, send the form again."
    assert said in answer.content.decode()
    assert said in client.get("/newspapers/merges/new/", follow=True).content.decode()
    assert client.get("/logout/")["Location"] == "/"
    assert client.put("/crawls/start/").status_code == 405


def test_what_else_a_right_asks_for_and_who_is_named_as_an_admin(settings) -> None:
    nobody, plain, ada = AnonymousUser(), make_user("plain"), make_user("ada", "admin")
    asked = (READ, READ_STORIES)
    assert [has_right(nobody, right) for right in asked] == [False, False]
    settings.STORIES_PUBLIC = True
    assert [has_right(nobody, right) for right in asked] == [False, True]
    # Every right of a role includes reading; Django's admin is open to no role.
    plain.user_permissions.add(Permission.objects.get(content_type__app_label="dedup", codename="add_decision"))
    assert not has_right(plain, DECIDE)
    assert [has_right(user, CONFIGURE) for user in (ada, make_user("root", is_superuser=True))] == [False, True]
    make_user("gone", "admin", is_active=False)
    boris = make_user("Boris", "admin")
    assert list(admins()) == [boris, ada]


def test_the_menu_offers_what_a_role_may_open_and_marks_the_section() -> None:
    offered = {role: client_of(role).get("/learning/").content.decode() for role in ("viewer", "admin")}
    for address in ("/queue/", "/runs/", "/profiles/", "/learning/", "/people/"):
        link = f'<a href="{address}"'
        assert link in offered["admin"]
        assert (link in offered["viewer"]) == (address in {"/queue/", "/runs/", "/learning/"})
    assert '<summary class="current">System</summary>' in offered["viewer"]
    assert '<li><a href="/runs/" class="current" aria-current="true">Runs</a>' in offered["viewer"]
    assert '<a href="/learning/" class="current" aria-current="page">Learning</a>' in offered["viewer"]


def test_the_menu_is_short_and_each_of_its_pages_is_at_most_two_links_away() -> None:
    client = client_of("superuser")

    def led_to(address: str) -> set[str]:
        page = client.get(address).content.decode()
        return set(re.findall(r'<a href="(/[^"?]*)', page.split('<nav class="sections"')[1].split("<h1")[0]))

    entries = led_to("/validation/") - {reverse(name) for name in ("find", "help", "keys", "password_change")}
    assert len(PARTS) == 6
    assert len(entries) == 14
    assert {reverse(page.name) for page in PAGES} - entries - set().union(*map(led_to, entries)) == set()


# What is in no section: one's own login, the first page and the help, which have their own links, and what is no page.
OUTSIDE = {
    "dashboard", "favicon", "find", "healthz", "help", "help_page", "keys", "keys_switch", "login", "logout", "metrics",
    "password_change", "password_change_done", "set_password", "old_newspaper", "old_newspapers",
    # sent to by forms that name them in a variable
    "cluster_merge", "cluster_reject", "cluster_split", "cluster_take_out",
}  # fmt: skip
NO_PAGES = re.compile(r"(\.(csv|jsonl|json|svg|atom)|/(state|phases|progress|waiting|lease|count|next|files/\w+)/?)$")


def test_every_page_marks_its_entry_of_the_menu() -> None:
    templates = "".join(path.read_text() for path in TEMPLATES.rglob("*.html"))
    # A form is sent to these, and no link leads there: they show no page.
    tags = "".join(re.findall(r"""action="[^>]*>""", templates))
    only_forms = set(re.findall(r"url '(\w+)'", tags))
    only_forms -= set(re.findall(r"""href="\{% url '(\w+)'""", templates))
    pages = {sample.name for sample in samples() if ":" not in sample.name and not NO_PAGES.search(sample.url())}
    marked = [name for page in PAGES for name in (page.name, *page.belonging)]
    assert pages - only_forms - set(marked) - OUTSIDE == set()
    assert len(marked) == len(set(marked))


def test_static_files_need_no_login(client: Client) -> None:
    answer = client.get("/static/newsdedup/icon.svg")
    assert (answer.status_code, b"".join(answer.streaming_content)[:4]) == (200, b"<svg")
    answer.close()


def test_every_form_is_guarded_against_other_sites() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    answers = [(sample, client.post(sample.url()).status_code) for sample in samples()]
    # The API takes no cookie: without a token, a login is none.
    refusals = {True: {401, 403, 404, 405}, False: {403}}
    assert [sample.url() for sample, status in answers if status not in refusals[sample.name.startswith("api:")]] == []


# ---- nobody is left in front of a blank page ----


def test_a_user_without_a_role_reads_one_sentence_with_whom_to_ask() -> None:
    make_user("ada", "admin", first_name="Ada", last_name="Brook", email="ada@desk.example")
    make_user("gone", "admin", is_active=False)
    answer = client_of("no role").get("/queue/")
    page = answer.content.decode()

    assert answer.status_code == 403
    sentence = re.sub(r"<[^>]+>", "", re.search(r"<p>(.*?)\s*</p>", page, re.DOTALL)[1])
    assert sentence == "Your login has no role here; ask an admin to give you one: Ada Brook (ada@desk.example)."
    assert 'action="/logout/"' in page
    assert 'href="/queue/"' not in page


def test_a_missing_right_is_named_and_one_that_is_given_or_taken_counts_from_the_next_click() -> None:
    client = client_of("viewer")
    answer = client.post("/pairs/1/decide/")
    assert answer.status_code == 403
    assert "role <strong>editor</strong> may decide on pairs and clusters" in answer.content.decode()
    user = User.objects.get(username="viewer")
    user.user_permissions.add(Permission.objects.get(content_type__app_label="dedup", codename="add_decision"))
    assert client.post("/decisions/987654321/undo/").status_code == 404
    assert client.get("/articles/").status_code == 200
    user.groups.clear()
    assert client.get("/articles/").status_code == 403


def test_a_user_of_a_session_has_the_permissions_that_django_finds() -> None:
    known = User.objects.get(pk=make_user("ella", "viewer", "editor").pk)
    known.user_permissions.set(Permission.objects.filter(codename__in=["add_decision", "delete_article"]))
    read = RightsBackend().get_user(known.pk)

    assert read is not None
    assert read.get_all_permissions() == ModelBackend().get_all_permissions(known) != set()
    assert read.has_perm("articles.delete_article")
    assert not read.has_perm("articles.delete_article", known)
    assert not read.has_perm("auth.change_user")
    read.is_superuser = True
    assert read.get_all_permissions() >= {"auth.change_user"}
    User.objects.update(is_active=False)
    assert RightsBackend().get_user(known.pk) is None
    assert RightsBackend().get_user(0) is None


def test_who_was_logged_in_before_the_upgrade_still_is() -> None:
    renamed = import_module("newsdedup_site.migrations.0002_backend_of_sessions")
    client = client_of("viewer")
    Session.objects.create(session_key="damaged", session_data="?", expire_date=timezone.now())
    renamed.name(renamed.AFTER, renamed.BEFORE)(apps, None)
    assert client.session["_auth_user_backend"] == renamed.BEFORE
    renamed.name(renamed.BEFORE, renamed.AFTER)(apps, None)
    assert client.get("/queue/").status_code == 200
