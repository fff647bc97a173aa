"""Decisions: appended, undoable, outliving later runs."""

import datetime as dt
import inspect
import random
from itertools import combinations

import pytest
import time_machine
from django.contrib.auth import get_user_model

from articles.models import Article
from dedup.detection.judging.judge import JudgedRow
from dedup.models import Cluster, Decision, DenseGroup, Link, Membership, Pair, Profile
from dedup.review.answers import decisions
from dedup.review.answers.cluster_decisions import merge_clusters, split_cluster
from dedup.review.answers.decisions import declare_pair, latest_decision, seen_as
from dedup.review.readings.second_readings import answer_collision, read_again, settle
from tests.commands import called
from tests.dedup.passes.finding import WIRE
from tests.dedup.research.small_corpus import GLASS
from tests.dedup.runs.running import find_duplicates
from tests.dense import write_group
from tests.factories import clusters, make_cluster

pytestmark = pytest.mark.django_db


@pytest.fixture
def four(store) -> list[int]:
    """Four copies of one story, found and clustered: article ids in order."""
    tails = ("", " Ferries sail.", " Ferries sail as usual.", " Ferries sail as usual, it said.")
    ids = [store(WIRE + tail, newspaper=f"Paper {number}").pk for number, tail in enumerate(tails)]
    find_duplicates()
    assert clusters() == [ids]
    return ids


def pair(left: int, right: int) -> Pair:
    return Pair.objects.get(left=left, right=right)


def decide(left: int, right: int, kind: str, user) -> Decision:
    return decisions.decide_pair(pair(left, right).pk, kind, user=user)


def test_a_rejected_pair_leaves_the_cluster_and_stays_apart_in_later_runs(store, editor) -> None:
    one, other = store(WIRE).pk, store(WIRE, newspaper="Inland Courier").pk
    find_duplicates()
    assert clusters() == [[one, other]]
    decide(one, other, "reject", editor)
    assert clusters() == []
    find_duplicates()
    assert clusters() == []
    assert pair(one, other).state == "rejected"
    assert pair(one, other) not in Pair.objects.in_queue()


def test_a_confirmed_pair_stays_together_when_no_run_finds_it_any_more(store, editor) -> None:
    one, other = store(WIRE).pk, store(f"{WIRE[:95]} {GLASS}", newspaper="Inland Courier").pk
    find_duplicates("--threshold", "trigram=0.3")
    assert clusters() == []
    decide(one, other, "confirm", editor)
    find_duplicates()
    assert clusters() == [[one, other]]
    assert Cluster.objects.get().state == "confirmed"


def test_a_decision_that_is_sent_again_is_stored_once(four, editor) -> None:
    cluster = Membership.objects.get(article=four[0]).cluster_id
    other = get_user_model().objects.create_user("nils")
    for _ in range(2):
        confirmed = decisions.confirm_cluster(cluster, seen_as(four), user=editor, note="one wire")
        kept = decisions.keep_article(cluster, four[2], user=editor)
    # The choice of the article came in between, so the second confirmation is a decision of its own.
    assert list(Decision.objects.order_by("pk").values_list("kind", flat=True)) == [
        "confirm_cluster", "keep", "confirm_cluster", "keep"
    ]  # fmt: skip
    assert decisions.keep_article(cluster, four[2], user=editor) == kept
    assert Decision.objects.count() == 4
    again = decisions.confirm_cluster(cluster, seen_as(four), user=editor, note="one wire")
    assert decisions.confirm_cluster(cluster, seen_as(four), user=editor, note="one wire") == again != confirmed
    assert decisions.confirm_cluster(cluster, seen_as(four), user=other, note="one wire") != again
    before = Decision.objects.count()
    decisions.undo(decisions.confirm_cluster(cluster, seen_as(four), user=other, note="one wire").pk, user=other)
    decisions.confirm_cluster(cluster, seen_as(four), user=other, note="one wire")
    assert Decision.objects.count() == before + 2


def sentence(number: int) -> str:
    """Return a sentence of ten words that no other one has."""
    dice = random.Random(number)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(10)]
    return f"{' '.join(words).capitalize()}."


def chain(store, *shifts: int) -> list[int]:
    """Store articles of which each has most of the next one's sentences, and have them clustered."""
    ids = [
        store(" ".join(sentence(shift + place) for place in range(20)), newspaper=f"Chain {shift}", headline="Alike").pk
        for shift in shifts
    ]
    Profile.objects.update(settings={"trigram": {"threshold": 0.7}})
    find_duplicates()
    assert clusters() == [ids]
    return ids


@pytest.mark.parametrize("confirm", [False, True])
def test_the_rest_stays_together_when_the_link_between_is_taken_out(store, editor, confirm: bool) -> None:
    ids = chain(store, 0, 2, 4)
    number = Cluster.objects.get().pk
    if confirm:
        decisions.confirm_cluster(number, seen_as(ids), user=editor)
    decision = decisions.take_out(number, ids[1], user=editor)
    assert clusters() == [[ids[0], ids[2]]]
    assert Cluster.objects.get().state == ("confirmed" if confirm else "proposed")
    find_duplicates()
    assert clusters() == [[ids[0], ids[2]]]
    decisions.undo(decision.pk, user=editor)
    assert clusters() == [ids]


@pytest.mark.parametrize("act", ["confirm", "take_out", "reject"])
def test_a_pair_that_is_found_after_a_decision_on_its_cluster_is_decided(store, editor, act: str) -> None:
    ids = chain(store, 0, 2, 4)
    number = Cluster.objects.get().pk
    assert not Pair.objects.filter(left=ids[0], right=ids[2]).exists()
    if act == "confirm":
        decisions.confirm_cluster(number, seen_as(ids), user=editor)
    elif act == "take_out":
        decisions.take_out(number, ids[2], user=editor)
    else:
        decisions.reject_cluster(number, seen_as(ids), user=editor)
    Profile.objects.update(settings={"trigram": {"threshold": 0.4}})
    find_duplicates()
    assert pair(ids[0], ids[2]).state == ("confirmed" if act == "confirm" else "rejected")
    assert clusters() == {"confirm": [ids], "take_out": [ids[:2]], "reject": []}[act]


def test_the_kept_article_is_the_first_until_an_editor_chooses(four, editor) -> None:
    cluster = Cluster.objects.get()
    assert cluster.kept_id == four[0]
    decision = decisions.keep_article(cluster.pk, four[2], user=editor)
    assert Cluster.objects.get().kept_id == four[2]
    find_duplicates()
    assert Cluster.objects.get().kept_id == four[2]
    decisions.undo(decision.pk, user=editor)
    assert Cluster.objects.get().kept_id == four[0]


def test_a_contradiction_is_reported_and_the_confirmations_hold(four, editor) -> None:
    decide(four[0], four[1], "confirm", editor)
    decide(four[1], four[2], "confirm", editor)
    decide(four[0], four[2], "reject", editor)
    output, _ = called("find_duplicates", "--no-progress")
    assert "Decisionsthatcontradicteachother│1│" in output.replace(" ", "")
    assert clusters() == [four]


def test_every_decision_stores_what_it_is_about_and_what_it_says(store, editor) -> None:
    articles = [store() for _ in range(6)]
    a, b, c, d, e, f = ids = [article.pk for article in articles]
    number, other = make_cluster(*articles[:4]).pk, make_cluster(*articles[4:]).pk
    write_group(store(), store())
    group = DenseGroup.objects.get()
    of_group = sorted(group.members.values_list("article", flat=True))

    def stored(decision: Decision) -> tuple[object, ...]:
        found = Decision.objects.get(pk=decision.pk)
        links = [(link.left_id, link.right_id, link.kind) for link in found.links.order_by("left", "right")]
        assert (found.kind, found.decided_by, found.note, found.undoes_id) == (decision.kind, editor, "why", None)
        about = (found.pair_id, found.cluster_number, found.group_number, found.articles, found.article_id)
        decisions.undo(found.pk, user=editor, note="back")
        undone = Decision.objects.latest("pk")
        assert (undone.kind, undone.undoes, undone.note, undone.links.count()) == ("undo", found, "back", 0)
        assert (
            undone.pair_id, undone.cluster_number, undone.group_number, undone.articles, undone.article_id,
        ) == about  # fmt: skip
        return (*about, links)

    said = {"user": editor, "note": " w\0hy "}
    number_of_pair = pair(a, b).pk
    for kind, link in (
        ("confirm", "must"),
        ("reject", "cannot"),
        ("version", "version"),
        ("template", "template"),
        ("unsure", "unsure"),
    ):
        decided = decisions.decide_pair(number_of_pair, kind, **said)
        assert stored(decided) == (number_of_pair, None, None, [a, b], None, [(a, b, link)])
    whole = (None, number, None, ids[:4])
    assert stored(decisions.confirm_cluster(number, seen_as(ids[:4]), **said)) == (
        *whole, None, [(a, article, "must") for article in (b, c, d)],
    )  # fmt: skip
    assert stored(decisions.take_out(number, c, **said)) == (
        *whole, c, [(a, c, "cannot"), (b, c, "cannot"), (c, d, "cannot")],
    )  # fmt: skip
    # Without the first one, nothing holds the others together.
    assert stored(decisions.take_out(number, a, **said)) == (
        *whole, a, [(a, b, "cannot"), (a, c, "cannot"), (a, d, "cannot"), (b, c, "stay"), (c, d, "stay")],
    )  # fmt: skip
    assert stored(decisions.keep_article(number, d, **said)) == (*whole, d, [])
    assert stored(split_cluster(number, [c, d], seen_as(ids[:4]), **said)) == (
        *whole, None, [(a, c, "cannot"), (a, d, "cannot"), (b, c, "cannot"), (b, d, "cannot"), (c, d, "stay")],
    )  # fmt: skip
    decisions.keep_article(number, b, user=editor)
    decisions.keep_article(other, f, user=editor)
    assert stored(merge_clusters(number, other, seen_as(ids[:4]), **said)) == (
        None, number, None, ids, None,
        [(a, b, "stay"), (b, c, "stay"), (b, f, "must"), (c, d, "stay"), (e, f, "stay")],
    )  # fmt: skip
    assert stored(decisions.reject_cluster(number, seen_as(ids[:4]), **said)) == (
        *whole, None, [(*ends, "cannot") for ends in combinations(ids[:4], 2)],
    )  # fmt: skip
    assert stored(decisions.confirm_group(group.pk, seen=group.fingerprint, **said)) == (
        None, None, group.pk, of_group, None, [(*of_group, "must")],
    )  # fmt: skip
    batch = decisions.append_batch([a, c, e, f], {(a, c): Link.Kind.CANNOT, (e, f): Link.Kind.MUST}, **said)
    assert stored(batch) == (None, None, None, [a, c, e, f], None, [(a, c, "cannot"), (e, f, "must")])
    assert Pair.objects.exclude(state="undecided").count() == 0


def test_a_decision_of_an_hour_ago_or_on_other_articles_is_not_taken_for_the_same(store, editor) -> None:
    first, second = ([store() for _ in range(2)] for _ in range(2))
    one, other = make_cluster(*first).pk, make_cluster(*second).pk

    def confirm(number: int, articles: list[Article]) -> int:
        return decisions.confirm_cluster(number, seen_as([article.pk for article in articles]), user=editor).pk

    with time_machine.travel(dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC), tick=False) as clock:
        made = confirm(one, first)
        confirm(other, second)  # of other articles: it does not come in between
        clock.shift(3_600)
        assert confirm(one, first) == made
        clock.shift(1)
        assert confirm(one, first) > made
    assert Decision.objects.count() == 3


def test_the_decisions_on_a_pair_are_its_own_and_those_that_link_its_articles(store, editor) -> None:
    articles = [store() for _ in range(3)]
    cluster = make_cluster(*articles)
    first, last = pair(articles[0].pk, articles[1].pk), pair(articles[0].pk, articles[2].pk)
    of_pair = decisions.decide_pair(first.pk, "unsure", user=editor)
    of_cluster = decisions.confirm_cluster(cluster.pk, seen_as([article.pk for article in articles]), user=editor)
    undone = decisions.undo(of_pair.pk, user=editor)
    assert list(decisions.decisions_on(first)) == [undone, of_cluster, of_pair]
    assert list(decisions.decisions_on(last)) == [of_cluster]
    # Whoever has seen all of them may decide, and whoever has not may not.
    with pytest.raises(decisions.AlreadyDecidedError):
        decisions.decide_pair(first.pk, "reject", user=editor, seen=undone.pk - 1)
    assert decisions.decide_pair(first.pk, "reject", user=editor, seen=undone.pk).pair == first


@pytest.mark.parametrize(
    "write",
    [
        *(decisions.decide_pair, decisions.confirm_cluster, decisions.keep_article, merge_clusters, split_cluster),
        *(decisions.take_out, decisions.undo, decisions.reject_cluster, decisions.confirm_group, declare_pair),
        *(read_again, settle, answer_collision),
    ],
)
def test_whoever_writes_no_note_leaves_none(write) -> None:
    assert inspect.signature(write).parameters["note"].default == ""


def test_a_declared_pair_has_its_verdict_and_no_evidence(store, editor) -> None:
    early, late = store(date="2026-03-02"), store(date="2026-03-05", newspaper="Coast Telegraph")
    judged = JudgedRow(0, "version", 0.75, 0.2, '["By words."]', True, 0.25, 0.5)
    made = declare_pair(late, early, "unsure", judged=judged, user=editor, note="asked", seen=0)
    declared = Pair.objects.get()
    assert (declared.left, declared.right, declared.best_score, declared.state) == (early, late, 0, "unsure")
    assert (declared.verdict, declared.probability, declared.duplicate_probability) == ("version", 0.75, 0.2)
    assert (declared.reasons, declared.joins, declared.left_matched, declared.right_matched) == (
        ["By words."], True, 0.25, 0.5,
    )  # fmt: skip
    assert (declared.days_apart, declared.same_newspaper, made.note) == (3, False, "asked")
    assert latest_decision(early.pk, late.pk) == made.pk
    assert latest_decision(early.pk, 0) == 0
    # A pair that is there stays as it is.
    with pytest.raises(decisions.AlreadyDecidedError):
        declare_pair(early, late, "reject", judged=judged, user=editor, seen=0)
    again = declare_pair(early, late, "reject", judged=judged._replace(verdict="similar"), user=editor, seen=made.pk)
    declared.refresh_from_db()
    assert (declared.verdict, declared.state) == ("version", "rejected")
    assert latest_decision(early.pk, late.pk) == again.pk
    assert list(decisions.decisions_on(declared)) == [again, made]
    same_day = store(date="2026-03-02")
    declare_pair(early, same_day, "reject", judged=judged, user=editor)
    assert Pair.objects.values_list("days_apart", "same_newspaper").get(right=same_day) == (0, True)
