"""The page of a pair, and deciding on it."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles.models import ArticleURL
from articles.storage.incoming import SeenURL
from articles.storage.ingest import attach_urls
from dedup.answers import Answer
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.runs.headlines import update_series
from dedup.detection.runs.judging import judge_now
from dedup.detection.verdicts.reasons import percentage
from dedup.models import Cluster, Decision, DetectionRun, Evidence, HeadlineForm, Pair, Series
from dedup.review.answers import decisions
from dedup.review.queries.pair_page import why
from dedup.review.questions.tabs import TABS
from tests.conftest import StoreArticle
from tests.factories import PASSWORD, clusters, make_cluster, make_pair, make_run, make_series, make_user
from tests.pages import notices, opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(store: StoreArticle) -> Pair:
    left = store("The pier closes on Monday.", headline="Pier closes", newspaper="Harbour Post", date="2026-03-02")
    right = store("The pier closes on Tuesday.", headline="Pier closed", newspaper="Coast Telegraph", date="2026-03-03")
    return make_pair(left, right, trigram=0.8999)


def shown(client: Client, pair: Pair, **query: Any) -> str:
    return opened(client, "pair", pair.pk, **query)


def decide(client: Client, pair: Pair, kind: str, query: str = "", **fields: str) -> Any:
    return client.post(reverse("pair_decide", args=[pair.pk]) + query, {"kind": kind, "seen": "0", **fields})


def test_marks_what_differs_in_text_and_headline_unless_that_is_not_wanted(editor_client: Client, pair: Pair) -> None:
    page = shown(editor_client, pair)

    assert "The pier closes on <del>Monday</del>.</div>" in page
    assert "The pier closes on <ins>Tuesday</ins>.</div>" in page
    assert 'Pier <del class="minor">closes</del></a>' in page
    assert 'Pier <ins class="minor">closed</ins></a>' in page
    assert "1 day apart" in page

    assert "The pier closes on <del>Monday</del><ins>Tuesday</ins>." in shown(editor_client, pair, view="merged")
    assert '<div class="text side-1" lang="" dir="auto">The pier closes on Monday.</div>' in shown(
        editor_client, pair, view="plain"
    )
    assert "<del>Monday</del>" in shown(editor_client, pair, view="nonsense")


@pytest.mark.parametrize(
    ("pass_name", "details", "text"),
    [
        ("trigram", {}, "first 1,000 characters"),
        ("exact", {"articles": 2, "headlines": 1}, ""),
        ("exact", {"articles": 5, "headlines": 1}, "in 5 articles"),
        ("exact", {"articles": 2, "headlines": 2}, "in 2 articles, under 2 headlines in one newspaper"),
        ("exact", {"articles": 1500, "headlines": 30}, "in 1,500 articles, under 30 headlines in one newspaper"),
        ("exact", {"articles": 9, "headlines": 9, "leftover": 9}, "in 9 articles, under 9 headlines in one newspaper"),
        ("title", {"shared": "pier closes", "articles": 3}, "“pier closes” · in 3 articles"),
        ("title", {"shared": "pier closes", "articles": 2}, "“pier closes”"),
        ("sentence", {"shared": 10, "sentences": 1200}, "10 of 1,200 sentences shared"),
        ("containment", {"shared": 87, "shingles": 109}, "87 of 109 phrases shared"),
    ],
)
def test_evidence_in_words(
    editor_client: Client, pair: Pair, pass_name: str, details: dict[str, Any], text: str
) -> None:
    DetectionRun.objects.update(config={"trigram": {"enabled": True, "prefix": 1000}, "exact": {"enabled": True}})
    pair.evidence.update(pass_name=pass_name, details=details)
    page = shown(editor_client, pair)

    found = page.split('class="evidence"')[1].split("</section>")[0]
    assert re.findall(r'<span class="aside">(.*?)</span>', found) == ([text] if text else [])


def test_one_line_says_the_verdict_and_its_reasons_are_folded(editor_client: Client, pair: Pair) -> None:
    Pair.objects.filter(pk=pair.pk).update(
        verdict="template",
        probability=0.979,
        duplicate_probability=0.004,
        reasons=["3 numbers replaced: 41 → 58.", "No <b>sentence</b> is shared."],
    )
    page = shown(editor_client, pair)

    head = page.split('class="judgement judgement-')[1].split("</section>")[0]
    assert '<span class="verdict verdict-template">Template</span>' in head
    assert re.findall(r'<span class="share">(.*?)</span>', head) == ["under 1% duplicate", "98% template", "1% other"]
    line, folded = head.split('<details class="why"')
    assert "One form that is printed again and again" in folded
    assert re.findall("<li dir.*?>(.*?)</li>", folded) == [
        "3 numbers replaced: 41 → 58.",
        "No &lt;b&gt;sentence&lt;/b&gt; is shared.",
    ]
    assert re.findall(r'evidence=(\w+)" title', line) == ["trigram"]


@pytest.mark.parametrize(
    ("probability", "parts"),
    [(1.0, ["100% duplicate"]), (0.9999, ["99% duplicate", "under 1% not"]), (0.58, ["58% duplicate", "42% not"])],
)
def test_only_what_is_certain_reads_a_hundred(
    editor_client: Client, pair: Pair, probability: float, parts: list[str]
) -> None:
    Pair.objects.filter(pk=pair.pk).update(probability=probability, duplicate_probability=probability)

    page = shown(editor_client, pair)
    assert re.findall(r'<span class="share">(.*?)</span>', page) == parts
    assert "a duplicate needs" not in page
    Pair.objects.filter(pk=pair.pk).update(verdict="version", probability=0.45, duplicate_probability=0.49)
    assert "a duplicate needs 50%" in shown(editor_client, pair)


def test_a_click_on_a_pass_marks_in_the_texts_what_it_found(editor_client: Client, store: StoreArticle) -> None:
    same = "Nobody was hurt there, said the mayor of the harbour town."
    left = store(f"The pier closes on Monday. {same}", headline="Pier closes")
    right = store(f"{same} The ferry sails.", headline="Pier closes", newspaper="Coast Telegraph")
    pair = make_pair(left, right, sentence=0.5, trigram=0.7, title=1.0)
    Evidence.objects.filter(pass_name="sentence").update(details={"shared": 0, "sentences": 3})
    page = shown(editor_client, pair, evidence="sentence", view="plain")

    assert re.findall('<mark class="found">(.*?)</mark>', page) == ["Shared sentences", same, same]
    assert "0 of these 1 count; the others are in more than 10 articles." in page
    assert '?view=plain" aria-current' in page
    assert f'<mark class="found">{same}</mark>' in shown(editor_client, pair, evidence="sentence")
    assert page.count('<mark class="found"><del>') == 0
    assert shown(editor_client, pair, evidence="trigram").count('<mark class="found"><del>') > 0
    assert '<mark class="found">Pier closes</mark>' in shown(editor_client, pair, evidence="title")
    for key, name, values in (
        ("marks", "evidence", {"sentence", "trigram", "title"}),
        ("view", "view", {None, "merged", "plain"}),
    ):
        asked: list[str | None] = [None]
        for _ in range(3):
            page = shown(editor_client, pair, **{name: asked[-1]} if asked[-1] else {})
            [link] = re.findall(rf'<a [^>]*href="([^"]*)"[^>]* data-action="{key}"', page)
            asked.append(next(iter(re.findall(rf"{name}=(\w+)", link)), None))
        assert set(asked[1:]) == values
    for query in ({"evidence": "exact"}, {"evidence": "nonsense"}, {"evidence": "sentence", "view": "merged"}):
        assert '<mark class="found">' not in shown(editor_client, pair, **query)
    left.content = "Something else."
    left.save()
    assert "the articles have changed since" in shown(editor_client, pair, evidence="sentence")


def test_a_pair_without_a_verdict_or_without_evidence_says_so(
    editor_client: Client, store: StoreArticle, pair: Pair
) -> None:
    page = shown(editor_client, make_pair(store(), store(), verdict="", trigram=0.7))

    assert '<span class="verdict verdict-unjudged">not yet judged</span>' in page
    assert "next run" in page

    pair.evidence.all().delete()

    assert "No pass currently proposes this pair." in shown(editor_client, pair)


def test_the_series_of_both_is_named(editor_client: Client, store: StoreArticle, pair: Pair) -> None:
    first, second = store(headline="Rates of Monday"), store(headline="Rates of Tuesday")
    of_series = make_pair(first, second, verdict="template", trigram=0.7)
    series = make_series(first.newspaper, "rates of #", first, second, pair.left)

    link = f'Both belong to the series <a href="/series/{series.pk}/" dir="auto">'
    assert link in shown(editor_client, of_series)
    assert "Both belong to the series" not in shown(editor_client, pair)
    assert "Both belong to the series" not in shown(editor_client, make_pair(first, store(), trigram=0.7))


def test_scores_are_cut_and_stale_evidence_is_named(editor_client: Client, pair: Pair) -> None:
    Evidence.objects.create(
        pair=pair, pass_name="exact", score=0.99999, run=make_run(), stale=True, details={"group_size": 3}
    )
    page = shown(editor_client, pair)

    assert '<span class="score-value">0.899</span>' in page
    assert '<span class="score-value">0.999</span>' in page
    assert page.count("badge-stale") == 1
    assert "group size: 3" in page


def test_every_url_of_the_articles_is_there_and_only_web_addresses_are_links(editor_client: Client, pair: Pair) -> None:
    urls = [SeenURL(f"https://feed.example/{number}", ArticleURL.Kind.FEED) for number in range(3)]
    attach_urls([*urls, SeenURL("javascript://x.example/%0Aalert(1)", ArticleURL.Kind.FEED)], known_as=pair.left.url)
    ArticleURL.objects.filter(url="https://feed.example/2").update(url="javascript:alert(1)")
    page = shown(editor_client, pair)

    assert 'href="https://feed.example/1"' in page
    assert "javascript:alert(1)" in page
    assert 'href="javascript' not in page


def test_decisions_are_taken_and_lead_to_the_next_pair_of_the_selection(
    editor_client: Client, editor: User, pair: Pair, store: StoreArticle
) -> None:
    following = make_pair(store(), store(), trigram=0.8)
    make_pair(store(), store(), exact=0.85)
    answer = decide(editor_client, pair, "confirm", "?pass_name=trigram", note="Same wire.")

    assert answer.status_code == 302
    assert answer["Location"] == f"/pairs/{following.pk}/?pass_name=trigram"
    decision = Decision.objects.get()
    assert (decision.kind, decision.pair, decision.decided_by, decision.note) == ("confirm", pair, editor, "Same wire.")
    assert Pair.objects.get(pk=pair.pk).state == "confirmed"
    page = editor_client.get(answer["Location"]).content.decode()
    assert notices(page) == [("success", [])]
    assert f'action="/decisions/{decision.pk}/undo/?pass_name=trigram"' in page


@pytest.mark.parametrize("wrong", [{"kind": "take_out"}, {"seen": ""}, {"note": "x" * 2_001}])
def test_a_form_that_is_not_of_the_page_is_refused(editor_client: Client, pair: Pair, wrong: dict[str, str]) -> None:
    answer = decide(editor_client, pair, **{"kind": "confirm", **wrong})

    assert answer["Location"] == f"/pairs/{pair.pk}/"
    assert not Decision.objects.exists()
    said = notices(editor_client.get(answer["Location"]).content.decode())
    assert [kind for kind, _ in said] == ["error"]


def test_what_somebody_else_decided_meanwhile_is_not_overruled_unseen(
    editor_client: Client, editor: User, pair: Pair
) -> None:
    earlier = decisions.decide_pair(pair.pk, "unsure", user=editor)
    assert f'name="seen" value="{earlier.pk}"' in shown(editor_client, pair)
    later = decisions.decide_pair(pair.pk, "reject", user=make_user("otto", "editor"))
    answer = decide(editor_client, pair, "confirm", "?same=False", seen=str(earlier.pk), note="Same <wire>.")

    assert answer["Location"] == f"/pairs/{pair.pk}/?same=False"
    page = editor_client.get(answer["Location"]).content.decode()
    assert "otto rejected the pair" in page
    assert 'name="note" value="Same &lt;wire&gt;."' in page
    assert 'name="note" value=""' in shown(editor_client, pair)
    assert Decision.objects.count() == 2
    decide(editor_client, pair, "confirm", seen=str(later.pk))
    assert Pair.objects.get(pk=pair.pk).state == "confirmed"


def test_a_script_that_shows_the_next_question_itself_gets_what_became_of_the_answer(
    editor_client: Client, editor: User, pair: Pair, store: StoreArticle
) -> None:
    third = store("The pier closes on Friday.")
    other, implied = (make_pair(side, third, trigram=0.8) for side in (pair.left, pair.right))
    decisions.decide_pair(other.pk, "confirm", user=editor)
    background = {"HTTP_X_ANSWER": "background"}
    address = reverse("pair_decide", args=[pair.pk]) + "?sort=date"
    form = {"kind": "confirm", "seen": "0", "ahead": f"p{implied.pk},p{pair.pk},c999,x"}

    answer = editor_client.post(address, form, **background)
    assert (answer.status_code, answer["X-Answer"]) == (200, "stored")
    assert answer["X-Next"].startswith("/queue/") or answer["X-Next"].startswith("/pairs/")
    assert answer["X-Settled"] == f"p{implied.pk},c999"
    page = answer.content.decode()
    assert notices(page)[0] == ("success", [])
    assert page.count('class="strip-answer strip-confirm"') == 2
    assert f'action="/decisions/{Decision.objects.latest("pk").pk}/undo/?sort=date"' in page
    assert "<main" not in page
    # In a tab, it also gets how many questions are left now.
    later = editor_client.post(reverse("pair_later", args=[pair.pk]) + "?tab=informative", **background)
    assert f"<span data-left>{TABS['informative'].count(editor)} left · 2 answered today" in later.content.decode()

    answer = editor_client.post(address, form, **background)
    assert (answer.status_code, answer["X-Answer"]) == (200, "refused")
    assert notices(answer.content.decode())[0][0] == "error"
    assert notices(shown(editor_client, pair)) == []
    decisions.undo(Decision.objects.latest("pk").pk, user=editor)
    assert shown(editor_client, pair).count('class="strip-answer ') == 1


def test_a_rejection_that_confirmations_outweigh_is_told(
    editor_client: Client, editor: User, store: StoreArticle
) -> None:
    first, second, third = store(), store(), store()
    cluster = make_cluster(first, second, third)
    pair = make_pair(second, third, trigram=0.7)
    decision = decisions.confirm_cluster(cluster.pk, decisions.seen_as([first.pk, second.pk, third.pk]), user=editor)
    answer = decide(editor_client, pair, "reject", seen=str(decision.pk))

    page = editor_client.get(answer["Location"]).content.decode()
    assert notices(page) == [("success", [str(cluster.pk)]), ("info", [])]


def test_next_and_previous_follow_the_order_of_the_queue_through_equal_scores(
    editor_client: Client, store: StoreArticle
) -> None:
    first, second, third = (make_pair(store(), store(), trigram=0.7) for _ in range(3))

    page = shown(editor_client, second, sort="")
    assert f'rel="prev" data-action="previous" data-key="k ArrowLeft" href="/pairs/{first.pk}/"' in page
    assert f'rel="next" data-action="next" data-key="j ArrowRight" href="/pairs/{third.pk}/"' in page
    page = shown(editor_client, second, sort="-date")
    assert f'href="/pairs/{third.pk}/?sort=-date">Previous' in page
    assert 'rel="prev"' not in shown(editor_client, first)


def test_the_history_of_the_pair_is_below_with_decisions_on_its_cluster(
    editor_client: Client, editor: User, pair: Pair, store: StoreArticle
) -> None:
    decision = decisions.decide_pair(pair.pk, "reject", user=editor, note="Other pier.")
    decisions.undo(decision.pk, user=editor)
    page = shown(editor_client, pair)

    assert Answer.REJECT.facts.did in page
    assert "Other pier." in page
    assert "undone by mara" in page

    first, second = store(), store()
    cluster = make_cluster(first, second)
    decisions.confirm_cluster(cluster.pk, decisions.seen_as([first.pk, second.pk]), user=editor)
    page = shown(editor_client, Pair.objects.get(left=first))

    assert "Decided:" in page
    assert Decision.Kind.CONFIRM_CLUSTER.label in page
    assert f'(<a href="/clusters/{cluster.pk}/">cluster {cluster.pk}</a>, 2 articles)' in page


def test_visitors_look_and_do_not_decide(visitor: Client, pair: Pair) -> None:
    page = shown(visitor, pair)

    assert "cannot decide" in page
    assert 'name="kind"' not in page
    answer = decide(visitor, pair, "confirm")
    assert answer.status_code == 403
    assert "<strong>editor</strong>" in answer.content.decode()
    assert not Decision.objects.exists()


def test_a_session_that_ended_before_the_decision_is_told(client: Client, editor: User, pair: Pair) -> None:
    sent_away = decide(client, pair, "confirm", "?same=False")["Location"]
    assert sent_away == f"/login/?next=/pairs/{pair.pk}/decide/%3Fsame%3DFalse"
    account = {"username": "mara", "password": PASSWORD, "next": f"/pairs/{pair.pk}/decide/?same=False"}
    answer = client.post("/login/", account, follow=True)

    assert answer.redirect_chain[-1] == (f"/pairs/{pair.pk}/?same=False", 302)
    assert [(message.level_tag, message.message) for message in answer.context["messages"]] == [
        ("warning", "Nothing was changed. If you had to log in first, send the form again.")
    ]
    assert not Decision.objects.exists()


def test_pairs_that_do_not_exist(editor_client: Client) -> None:
    assert editor_client.get("/pairs/99999999999999999999/").status_code == 404
    assert editor_client.post("/pairs/1/decide/", {"kind": "confirm"}).status_code == 404


def test_the_page_costs_a_fixed_number_of_queries(
    editor_client: Client, editor: User, pair: Pair, django_assert_num_queries: Any
) -> None:
    for name in ("exact", "title"):
        Evidence.objects.create(pair=pair, pass_name=name, score=0.5, run=make_run())
    for kind in ("unsure", "confirm"):
        decisions.decide_pair(pair.pk, kind, user=editor)
    decisions.take_out(Cluster.objects.get().pk, pair.right_id, user=editor)
    # session, user with permissions and keys, pair, what is stored around it, decisions, next, previous, count, strip
    with django_assert_num_queries(9) as asked:
        shown(editor_client, pair)
    listed = next(query["sql"] for query in asked if 'FROM "dedup_decision"' in query["sql"])
    assert '"articles_article"."headline"' in listed
    assert '"articles_article"."content"' not in listed


def test_why_a_pair_has_its_verdict(editor_client: Client, pair: Pair, django_assert_max_num_queries: Any) -> None:
    address = reverse("pair_why", args=[pair.pk])
    assert "since the last run" in editor_client.get(address).content.decode()
    update_series()
    with django_assert_max_num_queries(20):
        page = editor_client.get(address).content.decode()

    now = judge_now(pair.left_id, pair.right_id)
    assert now is not None
    parts = re.findall(r'<span class="share">(.*?)</span>', page)
    assert parts == [share.percentage + " " + share.label for share in why(pair)["shares"]]
    # The table and its bars say the same, and end with the probability.
    table = page.split("<tbody>")[1].split("</table>")[0]
    points = [float(number.replace("−", "-")) for number in re.findall(r'<td class="number">([+−][\d.]+)</td>', table)]
    assert sum(points[:-1]) == pytest.approx(points[-1])
    assert table.count('class="fall"') == len(points) - 1
    assert table.split("<tfoot>")[1].count(percentage(now.model.probabilities(now.features).duplicate)) == 1
    assert "The stored verdict" in page
    Pair.objects.filter(pk=pair.pk).update(
        verdict=now.judgement.kind,
        probability=now.judgement.probability,
        duplicate_probability=now.judgement.duplicate_probability,
    )
    assert "The stored verdict" not in editor_client.get(address).content.decode()
    assert f'hx-get="{address}"' in shown(editor_client, pair)


def test_why_names_the_rule_that_decided(editor_client: Client, store: StoreArticle) -> None:
    first, second = store("Rates rose.", headline="Rates of Monday"), store("Rates fell.", headline="Rates of Tuesday")
    pair = make_pair(first, second, verdict="template", probability=1.0, duplicate_probability=0.0, trigram=0.7)
    update_series()
    form = HeadlineForm.objects.get(article=first).form
    make_rule = Series.objects.create
    make_rule(newspaper=first.newspaper, form=form, articles=2, days=1, first_day=first.date, last_day=first.date)
    Series.objects.update(ruled_at=timezone.now())
    page = opened(editor_client, "pair_why", pair.pk)

    assert "This pair was not left to the model" in page
    assert "An editor ruled" in page
    assert "The stored verdict" not in page


def test_a_duplicate_that_is_left_out_is_shown_unless_it_was_rejected(
    editor_client: Client, editor: User, store: StoreArticle
) -> None:
    """The second article contains the two others, which have nothing in common."""
    part, whole, other = store(), store(), store()

    def section() -> str:
        return opened(editor_client, "cluster", Cluster.objects.get().pk).partition('id="left-out-title"')[2]

    make_pair(part, whole, trigram=0.98, matched=(1.0, 0.4))
    left_out = make_pair(whole, other, trigram=0.97, matched=(0.3, 1.0))
    rebuild_clusters()
    assert clusters() == [[part.pk, whole.pk]]
    assert re.findall(r"/pairs/(\d+)/", section().split("</section>")[0]) == [str(left_out.pk)]
    said = "Judged duplicates, but not in one cluster"
    page = opened(editor_client, "pair", left_out.pk)
    assert f'{said}: that would bring together <a href="/compare/?left={part.pk}&amp;right={other.pk}">' in page
    assert "which no pass found alike" in page
    unlike = make_pair(part, other, verdict="template", trigram=0.7)
    page = opened(editor_client, "pair", left_out.pk)
    assert f'{said}: that would bring together <a href="/pairs/{unlike.pk}/?verdict=any&amp;state=any">' in page
    assert "which were judged: template" in page
    decisions.decide_pair(unlike.pk, "reject", user=editor)
    assert "which a decision keeps apart" in opened(editor_client, "pair", left_out.pk)
    decisions.undo(Decision.objects.get().pk, user=editor)

    rejected = decisions.decide_pair(left_out.pk, "reject", user=editor)
    assert section() == ""
    assert said not in opened(editor_client, "pair", left_out.pk)
    decisions.undo(rejected.pk, user=editor)
    decisions.decide_pair(left_out.pk, "confirm", user=editor)
    assert clusters() == [[part.pk, whole.pk, other.pk]]
    assert section() == ""
    assert said not in opened(editor_client, "pair", left_out.pk)
