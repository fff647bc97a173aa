"""The comparison of any two articles: how they are found, what each pass says of them, and the decision on them."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article
from dedup.detection.runs.phases import NO_PROGRESS
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.profiles import configs_of
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.starting import start_run
from dedup.models import Cluster, Decision, Pair, Profile, ProfileRule
from dedup.review.answers import decisions
from dedup.review.answers.decisions import declare_pair
from dedup.review.queries.why import judgement_now
from tests.conftest import StoreArticle
from tests.factories import make_pair
from tests.pages import notices, opened

FERRY = (
    "The old ferry across the sound made its last crossing on Friday. Half of the island stood on the quay to wave. "
    "The captain has sailed her for thirty years and says that she will miss the gulls more than the passengers."
)


@pytest.fixture
def missed(store: StoreArticle) -> tuple[Article, Article]:
    """Two copies in two newspapers, too far apart for every pass that compares parts of texts."""
    first = store(FERRY, newspaper="Harbour Post", date="2026-03-02", headline="The last ferry has sailed")
    again = store(f"{FERRY} More soon.", newspaper="Inland Courier", date="2026-05-12", headline="Island waves goodbye")
    return first, again


def compare(client: Client, left: object = "", right: object = "") -> str:
    answer = client.get(reverse("compare"), {"left": str(left), "right": str(right)})
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def said(page: str) -> dict[str, tuple[str, str]]:
    """Return the state of each pass, and why."""
    row = r'<th scope="row">(.*?) <span class="state[^>]*>(.*?)</span></th>.*?<td>([^<]+)</td>\s*</tr>'
    rows = re.findall(row, page, re.DOTALL)
    return {label: (state, why) for label, state, why in rows}


def run() -> None:
    profile = Profile.objects.get(is_default=True)
    configs, scope = configs_of(profile.settings), Scope()
    run_detection(start_run(configs, scope, profile=profile), configs, scope, progress=NO_PROGRESS)


def test_every_pass_says_why_it_left_a_pair_out(visitor: Client, missed: tuple[Article, Article]) -> None:
    left, right = missed
    page = compare(visitor, right.pk, left.pk)
    rows = said(page)
    assert "No pass proposes these two" in page
    assert rows["Similar text"][0] == "left out"
    assert "71 days apart; this pass compares articles at most 3 days apart" in rows["Similar text"][1]
    assert "would reach the threshold of 0.6" in rows["Similar text"][1]
    assert "at most 40 days apart" in rows["Contained text"][1]
    assert rows["Same URL"] == ("left out", "They share no URL, once tracking parameters are removed.")
    assert rows["Shared sentences"][0] == "off"
    assert "The full comparison would say: Duplicate" in page
    assert "<ins>" in page
    assert 'name="kind"' not in page  # a visitor cannot decide

    rule = ProfileRule.objects.create(
        profile=Profile.objects.get(is_default=True),
        newspaper=left.newspaper,
        other=right.newspaper,
        settings={"trigram": {"day_window": 80, "threshold": 0.5}},
    )
    page = compare(visitor, left.pk, right.pk)
    assert said(page)["Similar text"][0] == "next run"
    assert "A rule of the profile sets other bounds for these newspapers." in said(page)["Similar text"][1]
    assert said(page)["Contained text"][0] == "left out"
    ProfileRule.objects.filter(pk=rule.pk).update(left_out=True)
    page = compare(visitor, left.pk, right.pk)
    assert said(page)["Similar text"] == ("left out", "A rule of the profile leaves out these newspapers.")


def test_a_proposed_pair_leads_to_its_page(editor_client: Client, missed: tuple[Article, Article]) -> None:
    pair = make_pair(*missed, trigram=0.8)
    page = compare(editor_client, *(article.pk for article in missed))
    assert f'href="/pairs/{pair.pk}/"' in page
    assert said(page)["Similar text"][0] == "proposed"
    assert "would not" in said(page)["Similar text"][1]
    assert 'name="kind"' not in page


def test_articles_are_found_by_number_url_and_words(editor_client: Client, store: StoreArticle) -> None:
    first = store(headline="The last ferry has sailed", url="https://www.paper.example/2026/ferry?id=7")
    other = store(headline="A new ferry sails on Sunday", url="https://courier.example/2026/other-ferry")

    def chosen(typed: str) -> bool:
        return f'href="/articles/{first.pk}/"' in compare(editor_client, typed)

    assert chosen(str(first.pk))
    assert chosen("https://www.paper.example/2026/ferry?id=7#top")
    assert chosen("paper.example/2026/ferry?id=7&utm_source=x")  # the same but for tracking
    assert chosen("PAPER.example/2026")
    assert chosen("/2026/ferry")
    assert chosen("LAST ferry")
    page = compare(editor_client, "ferry", other.pk)
    for article in (first, other):
        assert f"?left={article.pk}&right={other.pk}" in page
    for typed, fault in (
        ("paper.example/2027", "No article is stored under paper.example/2027."),
        ("lighthouse keeper", "No headline has all of these words: lighthouse keeper."),
        ("99999999", "There is no article 99999999"),
        ("9" * 30, "has 30 digits; no article has so high a number"),
        ("9" * 4301, "This has 4,301 characters; a search takes at most 2,000."),
    ):
        assert fault in compare(editor_client, typed, other.pk)
    assert f"Both are article {first.pk}." in compare(editor_client, first.pk, first.pk)


def test_a_decision_makes_two_articles_a_pair_that_runs_keep(
    editor_client: Client, editor: User, missed: tuple[Article, Article]
) -> None:
    run()
    left, right = missed
    form = {"left": right.pk, "right": left.pk, "seen": 0, "kind": "confirm", "note": "Wire copy"}
    answer = editor_client.post(reverse("compare_decide"), form)
    pair = Pair.objects.get()
    assert answer["Location"] == f"/pairs/{pair.pk}/"
    assert (pair.left, pair.right, pair.state, pair.best_score) == (left, right, "confirmed", 0.0)
    assert (pair.verdict, pair.days_apart, pair.same_newspaper) == ("duplicate", 71, False)
    assert (pair.duplicate_probability or 0.0) > 0.8
    assert pair.reasons
    assert sorted(Cluster.objects.get().memberships.values_list("article", flat=True)) == [left.pk, right.pk]
    page = editor_client.get(answer["Location"]).content.decode()
    assert re.search(r"Declared by mara on \d+ \w+ \d{4}; no pass proposed it\.", page)
    assert f'href="/pairs/{pair.pk}/"' in opened(editor_client, "history")

    run()
    pair.refresh_from_db()
    assert (pair.state, pair.best_score, Cluster.objects.count()) == ("confirmed", 0.0, 1)

    again = editor_client.post(reverse("compare_decide"), {**form, "kind": "reject"}, follow=True)
    assert notices(again.content.decode())[0][0] == "error"  # it was decided since the form was shown
    decisions.undo(Decision.objects.get().pk, user=editor)
    pair.refresh_from_db()
    assert (pair.state, Cluster.objects.count(), Pair.objects.in_queue().count()) == ("undecided", 0, 0)


def test_a_declaration_that_is_refused_leaves_no_pair(
    editor_client: Client, editor: User, missed: tuple[Article, Article]
) -> None:
    left, right = missed
    judged = judgement_now(left, right, Profile.objects.get(is_default=True))
    with pytest.raises(decisions.ReviewError):
        declare_pair(left, right, "confirm", judged=judged, user=editor, note="x" * 3_000)
    with pytest.raises(decisions.ReviewError):
        declare_pair(left, left, "confirm", judged=judged, user=editor)
    for numbers in ((left.pk, left.pk), (left.pk, 10**12), ("", "9" * 5_000)):
        form = {"left": numbers[0], "right": numbers[1], "seen": 0, "kind": "confirm"}
        answer = editor_client.post(reverse("compare_decide"), form, follow=True)
        assert notices(answer.content.decode())[0][0] == "error"
    assert not Pair.objects.exists()
