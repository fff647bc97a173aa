"""The pages about visits."""

import datetime
import re

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from articles.models import Newspaper, NewspaperAlias
from crawlers import visits
from crawlers.models import PendingLink, Visit
from crawlers.reasons import REASONS
from tests.conftest import StoreArticle
from tests.factories import client_of, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor_client(db: None) -> Client:
    return client_of(make_user("mara", "editor"))


def visit(
    newspaper: Newspaper, counts: dict[str, int], *, days_ago: float = 0, spider: str = "feed", silent: bool = False
) -> Visit:
    """Record a visit that ended, or one that was killed, so many days ago."""
    made = visits.begin_visit(newspaper.pk, spider)
    examples = {name.removeprefix("failed/"): "https://fjordbladet.example/x" for name in counts}
    if not silent:
        visits.end_visit(made, Visit.State.FINISHED, counts, examples)
    then = timezone.now() - datetime.timedelta(days=days_ago)
    Visit.objects.filter(pk=made.pk).update(started_at=then, seen_at=then)
    return made


def fjordbladet(name: str = "Fjordbladet") -> Newspaper:
    return Newspaper.objects.create(name=name, feed_urls=["https://fjordbladet.example/feed"])


def test_without_newspapers_the_page_says_what_to_do(editor_client: Client) -> None:
    assert "Ask an admin to add one." in editor_client.get("/crawls/").content.decode()
    admin = client_of(make_user("ada", "admin"))
    page = admin.get("/crawls/").content.decode()
    assert '<a href="/crawls/add/">Add a newspaper</a>: its home page is enough.' in page


def test_the_list_shows_counts_and_each_reason_with_its_meaning_remedy_and_example(editor_client: Client) -> None:
    newspaper = fjordbladet()
    visit(newspaper, {"stored": 1234, "known": 5, "paywalled": 2, "failed/HTTP 404": 3, "failed/no answer in time": 1})
    page = editor_client.get("/crawls/").content.decode()
    for text in (
        "1,234",
        "paywalled</span> 2",
        "<strong>HTTP 404</strong>",
        "3 times",
        f"{REASONS['HTTP 404'].meaning} {REASONS['HTTP 404'].remedy}",
        "<strong>no answer in time</strong>",
        'href="https://fjordbladet.example/x"',
        "finished",
    ):
        assert text in page
    assert "Every visit has failed" not in page


def test_the_list_asks_the_same_number_of_queries_for_one_newspaper_and_for_many(
    editor_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        newspaper = fjordbladet(f"Paper {number}")
        for spider in ("feed", "sitemap", "section"):
            visit(newspaper, {"failed/HTTP 404": 3}, spider=spider)
    # session, user with permissions and keys, number of newspapers, a page of them; visits, schedules, crawls and
    # articles; the jobs at work, the crawl that runs, what waits, and whether a worker does crawls
    with django_assert_num_queries(12):
        editor_client.get("/crawls/")


def test_a_newspaper_of_which_every_visit_failed_for_days_stands_first_and_out(editor_client: Client) -> None:
    good, broken, young = fjordbladet("Good"), fjordbladet("Broken"), fjordbladet("Young")
    visit(broken, {"stored": 1}, days_ago=9)
    visit(broken, {"failed/unknown host": 1}, days_ago=4)
    visit(broken, {"failed/unknown host": 1}, days_ago=1)
    visit(young, {"failed/unknown host": 1}, days_ago=1)
    visit(good, {"failed/unknown host": 1}, days_ago=5)
    visit(good, {"unchanged": 1})
    answer = editor_client.get("/crawls/")
    reports = answer.context["reports"]
    assert [report.newspaper.name for report in reports] == ["Broken", "Young", "Good"]
    assert [report.failing_since is not None for report in reports] == [True, False, False]
    assert '<span class="state state-failed">failed</span>' in answer.content.decode()
    since = timezone.localtime(timezone.now() - datetime.timedelta(days=4))
    assert f"Every visit has failed since {since:%-d %b %Y}." in answer.content.decode()


def test_newspapers_come_in_pages(editor_client: Client) -> None:
    Newspaper.objects.bulk_create(Newspaper(name=f"Paper {number:02}", crawl=True) for number in range(32))
    second = editor_client.get("/crawls/?page=2")
    assert [report.newspaper.name for report in second.context["reports"]] == ["Paper 30", "Paper 31"]
    page = second.content.decode()
    assert 'start="31"' in page
    assert 'rel="prev" href="/crawls/?page=1"' in page
    assert 'rel="next"' not in page
    assert "There are no newspapers on page 3." in editor_client.get("/crawls/?page=3").content.decode()


def test_the_list_is_searched_by_name_host_and_alias_and_says_what_a_newspaper_has(
    editor_client: Client, store: StoreArticle
) -> None:
    post = store(newspaper="Harbour Post").newspaper
    store(newspaper="Harbour Post")
    Newspaper.objects.create(name="Old Post", host="oldpost.example", merged_into=post)
    NewspaperAlias.objects.create(newspaper=fjordbladet(), alias="The Fjord")
    Newspaper.objects.create(name="Skerry Times", host="skerry.example", crawl=False)

    def found(words: str) -> list[str]:
        answer = editor_client.get("/crawls/", {"q": words})
        return [report.newspaper.name for report in answer.context["reports"]]

    searches = {words: found(words) for words in ("", "oldpost", " the  fjord", "SKERRY.", "nothing\0 of it")}
    assert searches == {
        "": ["Fjordbladet", "Harbour Post", "Skerry Times"],
        "oldpost": ["Harbour Post"],
        " the  fjord": ["Fjordbladet"],
        "SKERRY.": ["Skerry Times"],
        "nothing\0 of it": [],
    }
    page = re.sub(r"<[^>]+>", " ", editor_client.get("/crawls/").content.decode())
    words = " ".join(page.split())
    assert "2 articles of Harbour Post no sources to crawl not visited yet" in words
    assert "no host 0 articles of Fjordbladet crawled with all others" in words


def test_addresses_and_names_on_the_pages_cannot_run_scripts(editor_client: Client) -> None:
    newspaper = fjordbladet("<b>Fjord</b>")
    Visit.objects.filter(pk=visit(newspaper, {"failed/bad address": 1}).pk).update(
        failures=[{"reason": "bad address", "number": 1, "url": "javascript:alert(1)"}]
    )
    for address in ("/crawls/", f"/crawls/{newspaper.pk}/"):
        page = editor_client.get(address).content.decode()
        assert '<span class="web">javascript:alert(1)</span>' in page
        assert "<b>Fjord</b>" not in page


def states_shown(client: Client) -> list[str]:
    """Return the states of the visits that the page lists, each of which it names."""
    answer = client.get("/crawls/")
    shown = [shown_visit.state for report in answer.context["reports"] for shown_visit in report.visits]
    assert all(f">{state.label}</span>" in answer.content.decode() for state in shown)
    return shown


def test_a_visit_without_a_sign_of_life_is_shown_as_stopped_unexpectedly(editor_client: Client) -> None:
    newspaper = fjordbladet()
    visit(newspaper, {}, silent=True, days_ago=1)
    assert states_shown(editor_client) == [Visit.State.STOPPED_UNEXPECTEDLY]
    visits.begin_visit(newspaper.pk, "feed")
    assert Visit.State.RUNNING in states_shown(editor_client)
    visits.tidy_visits()
    assert set(Visit.objects.values_list("state", flat=True)) == {"broken off"}


def test_the_page_of_a_newspaper_shows_its_visits_and_what_waits(editor_client: Client) -> None:
    newspaper = fjordbladet()
    visit(newspaper, {"failed/HTTP 410": 1}, days_ago=1)
    visit(newspaper, {"stored": 7})
    link = {"newspaper": newspaper, "url": "https://fjordbladet.example/a", "kind": "feed"}
    PendingLink.objects.create(**link, key="00000000-0000-0000-0000-000000000001")
    later = timezone.now() + datetime.timedelta(days=1)
    PendingLink.objects.create(**link, key="00000000-0000-0000-0000-000000000002", refused_until=later)
    page = editor_client.get(f"/crawls/{newspaper.pk}/").content.decode()
    assert "1 link is waiting" in page
    assert "1 refused link is skipped" in page
    assert page.index("<strong>7</strong>") < page.index("HTTP 410")
    assert editor_client.get("/crawls/0/").status_code == 404


def test_old_visits_are_dropped_and_odd_addresses_can_be_kept() -> None:
    newspaper = fjordbladet()
    visit(newspaper, {"stored": 1}, days_ago=100)
    kept = visits.begin_visit(newspaper.pk, "feed")
    visits.end_visit(kept, Visit.State.FINISHED, {"failed/bad address": 1}, {"bad address": "http://\0\ud800/"})
    visits.tidy_visits()
    assert Visit.objects.get().failures == [{"reason": "bad address", "number": 1, "url": "http://?/"}]
