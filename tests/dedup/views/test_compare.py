"""Any two articles compared: how they are found, what each pass says of them, their texts, and the decision."""

import re
from html import escape, unescape

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
from dedup.models import Cluster, CrowdedArticle, Decision, Pair, Profile, ProfileRule
from dedup.review.answers import decisions
from dedup.review.answers.decisions import declare_pair
from dedup.review.queries.pair_page import judgement_now
from tests.conftest import StoreArticle
from tests.dedup.views.test_pairs import shown
from tests.factories import make_cluster, make_pair, make_run
from tests.pages import notices, opened

pytestmark = pytest.mark.django_db

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
    return unescape(opened(client, "compare", left=left, right=right))


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
    for article, state in ((left, "next run"), (right, "left out")):  # both are hubs of a dense group then
        CrowdedArticle.objects.create(article=article, pass_name="trigram", near=60, run=make_run())
        assert said(compare(visitor, left.pk, right.pk))["Similar text"][0] == state
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
        ("lighthouse keeper", "No article has all of these words: lighthouse keeper."),
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
    said = f"Both are article {left.pk}; choose two articles."
    with pytest.raises(decisions.ReviewError, match=said):
        declare_pair(left, left, "confirm", judged=judged, user=editor)
    for numbers in ((left.pk, left.pk), (left.pk, 10**12), ("", "9" * 5_000)):
        form = {"left": numbers[0], "right": numbers[1], "seen": 0, "kind": "confirm"}
        answer = editor_client.post(reverse("compare_decide"), form, follow=True)
        assert notices(answer.content.decode())[0][0] == "error"
    assert not Pair.objects.exists()


# ---- how two texts are shown ----


def test_very_long_texts_are_called_so_with_their_lengths(
    editor_client: Client, store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dedup.detection.comparison.differences.MAX_COMPARISONS", -1)
    two = [store(f"The pier closes on {day}.") for day in ("Monday", "Tuesday")]
    page = shown(editor_client, make_pair(*two, trigram=0.9))
    assert re.search(r"<strong>Too long to mark what differs:</strong> (\d+) and \1 words, or very many", page)
    assert page.count(">Very long text<") == 2


def test_long_equal_stretches_are_folded_until_unfolded_and_a_cut_end_is_told(
    editor_client: Client, store: StoreArticle
) -> None:
    middle = " ".join(f"Sentence {number} says nothing new at all." for number in range(20))
    folded = make_pair(store(f"{middle} Monday it is."), store(f"{middle} Tuesday it is."), trigram=0.9)

    fold = '<details class="fold in-both" id="block-0"{}><summary>140 identical words</summary>'
    assert fold.format("") in shown(editor_client, folded)
    assert fold.format(" open") in shown(editor_client, folded, unfolded="1")

    text = "The pier closes on Monday for repairs of its roof. " * 1_400
    page = shown(editor_client, make_pair(store(text), store(f"{text} Or so."), exact=1.0))

    assert "The rest is not compared: only the first 60,000 characters of a text are</summary>" in page


def test_what_one_text_has_alone_is_folded_and_what_both_have_is_near_the_top(
    editor_client: Client, store: StoreArticle
) -> None:
    own = " ".join(f"In harbour {number} nothing is like the pier of the others." for number in range(20))
    brief = "The pier closes on Monday for repairs of its roof. The mayor <b>thanked</b> all those who had waited."
    page = shown(editor_client, make_pair(store(f"{own} {brief} {own}"), store(brief), containment=0.9))

    assert (
        "<strong>20</strong> words in both, <del>440</del> only in the first, <ins>0</ins> only in the second" in page
    )
    assert '<details class="fold fold-changed" id="block-0"><summary>220 words only in the first: ' in page
    assert f">{escape(brief)}</div>" in page
    assert '<div class="versus-row unchanged in-both" id="block-1">' in page
    assert re.search(r'<a href="#block-1"[^>]*data-key="O"', page)
    assert re.search(r'<a class="fold-switch"[^>]*data-key="x"', page)
    assert re.findall(r">(\d+) words</span>", page) == ["460", "20"]


def test_a_moved_passage_says_in_words_where_else_it_is(editor_client: Client, store: StoreArticle) -> None:
    first, second = (
        "The pier <i>closes</i> on Monday for its roof.",
        "The mayor thanked all who had waited for so long.",
    )
    page = shown(editor_client, make_pair(store(f"{first} {second}"), store(f"{second} {first}"), trigram=0.9))

    assert "<strong>20</strong> words in both (10 moved), <del>0</del> only" in page
    assert f'<span class="moved">{escape(first)}' in page
    for here, there, way in (("first", "second", "down"), ("second", "first", "up")):
        said = f'Moved<span class="visually-hidden">: also in the {there} text, further {way}.</span>'
        assert f'id="moved-1-{here}" href="#moved-1-{there}">{said}' in page
    assert "both texts have it, in different places" in page


def test_numbers_are_those_of_the_reasons(editor_client: Client, store: StoreArticle) -> None:
    brief = "The pier closes on Monday for repairs of its roof."
    more = " ".join(f"In harbour {number} nothing is like the pier of the others." for number in range(3))
    left, right = store(brief), store(f"{brief} {more}")
    page = opened(editor_client, "compare", left=left.pk, right=right.pk)

    assert "<strong>10</strong> words in both, <del>0</del> only in the first, <ins>33</ins> only in the second" in page
    assert "The longer article adds 33 words." in page


def test_texts_that_are_the_same_are_said_to_be_and_not_folded(editor_client: Client, store: StoreArticle) -> None:
    text = " ".join(f"Sentence {number} says nothing new at all." for number in range(20))
    alike = make_pair(store(text, headline="Pier closes"), store(text, headline="Pier closes"), exact=1.0)
    page = shown(editor_client, alike)

    assert "<strong>The two texts are the same, word for word.</strong>" in page
    assert '<details class="fold in-both" id="block-0" open><summary>' in page
    assert "fold-switch" not in page

    alike = make_pair(
        store("Read more below.", headline="Pier closes"), store("Read more below.", headline="Rates rise"), exact=1.0
    )

    said = "<strong>The two texts are the same, word for word, but the headlines differ.</strong>"
    assert said in shown(editor_client, alike)


def test_a_comparison_leads_back_to_its_cluster(editor_client: Client, store: StoreArticle) -> None:
    trio = store(), store(), store()
    cluster = make_cluster(*trio)
    pair = Pair.objects.get(left=trio[0], right=trio[1])
    back = f"/clusters/{cluster.pk}/#ties-title"
    asked = {"back": cluster.pk, "verdict": "any"}
    page = opened(editor_client, "pair", pair.pk, **asked)
    assert f'href="{back}">Back to cluster {cluster.pk}' in page
    address = reverse("pair_decide", args=[pair.pk])
    answer = editor_client.post(f"{address}?back={cluster.pk}", {"kind": "unsure", "seen": 0})
    assert answer["Location"] == back

    ends = {"left": trio[1].pk, "right": trio[2].pk}
    page = opened(editor_client, "compare", **{**ends, "back": cluster.pk})
    assert f'href="{back}">Back to cluster {cluster.pk}' in page
    assert f'action="/compare/decide/?back={cluster.pk}"' in page
    answer = editor_client.post(
        f"{reverse('compare_decide')}?back={cluster.pk}", {**ends, "kind": "confirm", "seen": 0}
    )
    assert answer["Location"] == back
    for nonsense in ("x", "-1", "9" * 30, "//evil.example"):
        assert "Back to cluster" not in opened(editor_client, "pair", pair.pk, back=nonsense)


def test_hostile_texts_stay_texts(editor_client: Client, store: StoreArticle) -> None:
    hostile = make_pair(
        store("<img src=x onerror=alert(1)> & more", headline="<script>alert(1)</script>"),
        store("<b>bold</b> & more", headline="</title><script>alert(2)</script>"),
        trigram=0.7,
    )
    for view in ("", "merged", "plain"):
        page = shown(editor_client, hostile, view=view)
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "<b>" not in page
        assert "&lt;" in page
