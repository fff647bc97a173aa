"""The table of addresses: what each asks for, that none is forgotten, and numbers that no row can have."""

from urllib.parse import quote

import pytest
from django.core.checks.registry import registry
from django.http import HttpResponse
from django.test import override_settings
from django.urls import get_resolver, path

from articles.models import Newspaper
from articles.numbers import MAX_NUMBER, read_number
from newsdedup_site import urls
from newsdedup_site.access import addresses
from newsdedup_site.access.addresses import ADDRESSES, rule_of
from tests.site.test_rights import client_of

# All pages are imported with it, here and not in the time of the first test that asks for an address.

pytestmark = pytest.mark.django_db


# What every user may do, what users may do for themselves, what admins alone may, and which forms a viewer may send.
OPEN = "favicon healthz login metrics set_password stories_feed_of"
OF_LOGINS = "logout admin:logout password_change password_change_done keys keys_switch"
OF_ADMINS = """
    alarms people people_changes person person_invite person_change person_link person_block person_unblock unlock
    newspaper_merges newspaper_merge newspaper_merge_undo extraction_rule extraction_rule_apply
    imports import import_rejects import_new import_start import_cancel
    removals removal_continue removal_lift newspaper_remove newspaper_pages
    article_remove article_withhold article_release
    profiles profile profile_new profile_delete profile_rule profile_rule_new profile_rule_delete
    run_new run_cancel crawl_new crawl_schedule crawl_take_back learn model_use
    newspaper_add newspaper_try trial newspaper_settings copy_store
    collection_new collection_put collection_take collection_rename collection_delete
"""
OF_VIEWERS = """
    check stories_feed_address corpus_new corpus_drop job_cancel view_save view_rename view_delete
    token_new token_revoke webhook_new webhook_switch webhook_test webhook_delete
"""


def test_what_asks_for_more_than_reading() -> None:
    def asking(role: str, *, needs_login: bool = True) -> set[str]:
        found = ((name, rule.right) for name, rule in ADDRESSES.items())
        return {name for name, right in found if (right.role, right.needs_login) == (role, needs_login)}

    assert asking("", needs_login=False) == set(OPEN.split())
    assert asking("") == set(OF_LOGINS.split())
    assert asking("admin") == set(OF_ADMINS.split())
    assert {name for name in asking("viewer") if ADDRESSES[name].is_form} == set(OF_VIEWERS.split())
    assert {"pair_decide", "undo", "cluster_confirm", "series_rule", "boilerplate_keep"} <= asking("editor")


RIGHTS = {
    # What it allows: the least role, the permission, whether it needs a login, the setting.
    "see what is open to all": ("", "", False, ""),
    "manage their own login": ("", "", True, ""),
    "read": ("viewer", "articles.view_article", True, ""),
    "read stories": ("viewer", "articles.view_article", True, "STORIES_PUBLIC"),
    "decide on pairs and clusters": ("editor", "dedup.add_decision", True, ""),
    "whitelist boilerplate": ("editor", "articles.add_whitelistedsentence", True, ""),
    "start runs": ("admin", "dedup.add_detectionrun", True, ""),
    "start, stop and schedule crawls": ("admin", "crawlers.add_crawl", True, ""),
    "try and add newspapers": ("admin", "articles.add_newspaper", True, ""),
    "change newspapers": ("admin", "articles.change_newspaper", True, ""),
    "change profiles": ("admin", "dedup.change_profile", True, ""),
    "manage people": ("admin", "auth.change_user", True, ""),
    "merge newspapers": ("admin", "articles.add_newspapermerge", True, ""),
    "import files": ("admin", "articles.add_fileimport", True, ""),
    "remove and withhold what is stored": ("admin", "articles.add_removal", True, ""),
    "change extraction rules": ("admin", "articles.add_extractionrule", True, ""),
    "see alarms and what helps": ("admin", "newsdedup_site.view_alarm", True, ""),
    "open Django’s admin": ("superuser", "auth.delete_user", True, ""),
}


def test_every_right_asks_for_its_permission_and_every_address_for_a_right() -> None:
    rules = [*ADDRESSES.values(), *addresses.NAMESPACES.values()]
    assert all(isinstance(rule.right, addresses.Right) for rule in rules)
    found = {
        right.allows: (right.role, right.permission, right.needs_login, right.opened_by)
        for right in (rule.right for rule in rules)
    }
    assert found == RIGHTS
    assert {name: (rule.right, rule.is_form) for name, rule in addresses.NAMESPACES.items()} == {
        "admin": (addresses.CONFIGURE, True),
        "api": (addresses.ANYONE, True),
    }
    # The rule of an address comes before the rule of its package.
    assert rule_of(["admin"], "logout") == addresses.Rule(addresses.LOGIN, is_form=True)
    configure = addresses.Rule(addresses.CONFIGURE, is_form=True)
    assert rule_of(["admin"], "index") == rule_of(["admin", "of it"], None) == configure
    assert [rule_of([], None), rule_of([], "nowhere"), rule_of(["elsewhere"], "queue")] == [None, None, None]


def nothing(_request: object) -> HttpResponse:
    return HttpResponse("reached")


class Undeclared:
    """Addresses as urls.py would have them: one forgotten, one named twice."""

    urlpatterns = [
        path("forgotten/", nothing, name="forgotten"),
        path("nameless/", nothing),
        path("queue/", nothing, name="queue"),
        path("queue/again/", nothing, name="queue"),
    ]


@override_settings(ROOT_URLCONF=Undeclared)
def test_an_address_that_is_not_declared_is_refused_even_to_a_superuser(caplog: pytest.LogCaptureFixture) -> None:
    client = client_of("superuser")
    for url in ("/forgotten/", "/nameless/"):
        with pytest.raises(Exception, match="Reverse for"):  # the page that says so links to others, which are not here
            client.get(url)
        assert f"{url} has no rule" in caplog.text
    assert client.get("/queue/").content == b"reached"


@override_settings(ROOT_URLCONF=Undeclared)
def test_the_check_names_addresses_without_a_rule_and_rules_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {name: rule for name, rule in ADDRESSES.items() if name in ("queue", "article")}
    monkeypatch.setattr(addresses, "ADDRESSES", kept)
    monkeypatch.setattr(addresses, "RULES", [*kept.items(), ("queue", kept["article"])])
    found = [(error.id, error.msg, error.hint) for error in addresses.check_addresses()]
    name_it = "Give its pattern a name, and the name a line in newsdedup_site/access/addresses.py."
    assert found == [
        ("newsdedup_site.E001", "The address /forgotten/ has no rule.", name_it),
        ("newsdedup_site.E001", "The address /nameless/ has no rule.", name_it),
        (
            "newsdedup_site.E002",
            "2 addresses have the name 'queue', so one rule would hold for all of them.",
            "Give each its own name.",
        ),
        ("newsdedup_site.E005", "newsdedup_site/access/addresses.py has 2 rules for 'queue'.", "Remove all but one."),
        (
            "newsdedup_site.E003",
            "newsdedup_site/access/addresses.py has a rule for 'article', which no address has.",
            "Remove it.",
        ),
    ]


def test_the_check_finds_nothing_here_and_misses_the_middleware(settings) -> None:
    assert len(list(addresses.walk(get_resolver(urls)))) > len(ADDRESSES)
    assert addresses.check_addresses in registry.get_checks()
    assert addresses.check_addresses() == []
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != addresses.MIDDLEWARE]
    [error] = addresses.check_addresses()
    assert (error.id, error.msg, error.hint) == (
        "newsdedup_site.E004",
        "Nothing enforces the rules of the addresses.",
        "Add newsdedup_site.access.addresses.RightsMiddleware.",
    )


# Python reads no number with more than 4,300 digits.
LONG = "9" * 4301
TOO_HIGH = (str(MAX_NUMBER + 1), "9" * 4300, LONG)


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("0" * 5000 + "7", 7), (str(MAX_NUMBER), MAX_NUMBER), (str(MAX_NUMBER + 1), None),
     (LONG, None), ("", None), ("-1", None), ("+1", None), ("1_000", None), (" 1", None),
     ("٣", None), ("²", None), ("1.0", None)],
)  # fmt: skip
def test_the_number_that_a_text_is_if_it_is_within_bounds(text: str, number: int | None) -> None:
    assert read_number(text) == number
    assert [read_number(text, least=1, most=3) for text in "01234"] == [None, 1, 2, 3, None]


@pytest.mark.parametrize("number", TOO_HIGH)
def test_no_address_has_a_number_that_no_row_can_have(number: str) -> None:
    client = client_of("superuser")
    for url in (f"/articles/{number}/", f"/pairs/{number}/"):
        assert client.get(url).status_code == 404
    assert client.post(f"/runs/{number}/cancel/").status_code == 404
    said = str(client.get(f"/articles/{MAX_NUMBER + 1}/").context["exception"])
    assert said == f"No row has so high a number: the highest is {MAX_NUMBER}."
    assert "No row" not in str(client.get(f"/articles/{MAX_NUMBER}/").context["exception"])


def test_the_row_with_the_highest_number_has_its_page() -> None:
    paper = Newspaper.objects.create(pk=MAX_NUMBER, name="Harbour Post", host="harbourpost.example")
    assert "Harbour Post" in client_of("viewer").get(f"/crawls/{paper.pk}/").content.decode()


@pytest.mark.parametrize("number", TOO_HIGH)
def test_no_field_fails_at_a_number_that_no_row_can_have(number: str) -> None:
    client = client_of("superuser")
    for address in (
        f"/compare/?left={number}&right={number}",
        f"/articles/?q={number}",
        f"/profiles/new/?copy={number}",
        f"/queue/?page={number}",
        f"/stories/?papers={number}",
        f"/pairs/1/?back={number}",
        f"/history/?page={quote('²')}",
        f"/admin/articles/newspaper/{number}/change/",
        f"/admin/auth/user/?p={number}",
        f"/crawls/?q={number}",
        f"/profiles/1/rules/new/?newspaper={number}",
    ):
        assert client.get(address).status_code < 500, address
