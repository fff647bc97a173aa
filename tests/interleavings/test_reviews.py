"""Two editors, or an editor and a run, at the same moment: one after the other, whoever is first."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import override_settings

from articles.models import Article
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.judging.judge import JudgedRow
from dedup.models import Batch, Decision, DenseGroup, Pair, SecondReading, Series
from dedup.review.answers import batches, cluster_decisions, decisions
from dedup.review.answers import decisions as declared_pairs
from dedup.review.answers.decisions import ReviewError
from dedup.review.readings import second_readings
from dedup.review.rules import rules as series_rules
from dedup.review.rules.rules import RuleError
from tests.dense import write_group
from tests.factories import make_series
from tests.interleavings.schedule import Play
from tests.interleavings.world import Desk, desk, faults, state_of

pytestmark = pytest.mark.django_db(transaction=True)


def decide(editor: int, kind: str, *, seen: int | None = 0) -> Any:
    def writer(world: Desk) -> str:
        return decisions.decide_pair(world.pairs[0].pk, kind, user=world.editors[editor], seen=seen).kind

    return writer


def test_of_two_editors_who_saw_no_decision_only_one_decides() -> None:
    play = Play(desk, (decide(0, "confirm"), decide(1, "reject")), state_of, (ReviewError,))
    endings = play.check()
    assert {ending[:2] for ending in endings} == {("confirm", "AlreadyDecidedError"), ("AlreadyDecidedError", "reject")}
    assert all(ending.seen[-1] == () for ending in endings)
    assert play.waited


def test_two_decisions_on_pairs_of_one_cluster_give_the_clusters_of_both() -> None:
    def other(world: Desk) -> str:
        return decisions.decide_pair(world.pairs[1].pk, "confirm", user=world.editors[1]).kind

    endings = Play(desk, (decide(0, "reject"), other), state_of).check()
    assert {ending[:2] for ending in endings} == {("reject", "confirm")}
    assert all(ending.seen[-1] == () for ending in endings)


def decided() -> Desk:
    world = desk()
    decisions.decide_pair(world.pairs[0].pk, "confirm", user=world.editors[0])
    return world


def undo(editor: int) -> Any:
    def writer(world: Desk) -> str:
        first = Decision.objects.get(pair=world.pairs[0], kind="confirm")
        return decisions.undo(first.pk, user=world.editors[editor]).kind

    return writer


def test_a_decision_is_undone_once() -> None:
    endings = Play(decided, (undo(0), undo(1)), state_of, (ReviewError,)).check()
    assert {ending[:2] for ending in endings} == {("undo", "AlreadyUndoneError"), ("AlreadyUndoneError", "undo")}


def confirm(world: Desk) -> str:
    return decisions.confirm_cluster(world.cluster, world.ids, user=world.editors[0]).kind


def split(world: Desk) -> str:
    return cluster_decisions.split_cluster(world.cluster, world.ids[2:], world.ids, user=world.editors[1]).kind


def reject(world: Desk) -> str:
    return decisions.reject_cluster(world.cluster, world.ids, user=world.editors[1]).kind


def take_out(world: Desk) -> str:
    return decisions.take_out(world.cluster, world.ids[2], user=world.editors[1]).kind


def keep(world: Desk) -> str:
    return decisions.keep_article(world.cluster, world.ids[2], user=world.editors[1]).kind


@pytest.mark.parametrize(("one", "other"), [(confirm, split), (confirm, reject), (confirm, take_out), (keep, take_out)])
def test_a_cluster_that_was_split_meanwhile_is_not_decided_as_it_was(one: Any, other: Any) -> None:
    for ending in Play(desk, (one, other), state_of, (ReviewError,)).check():
        assert ending.seen[-1] == ()


def two_clusters() -> Desk:
    one, other = desk(2), desk(2)
    pairs = [*one.pairs, *other.pairs]
    return Desk([*one.articles, *other.articles], pairs, one.cluster, one.editors, other.cluster)


def merge(world: Desk) -> str:
    return cluster_decisions.merge_clusters(world.cluster, world.other, world.ids[:2], user=world.editors[0]).kind


def reject_other(world: Desk) -> str:
    return decisions.reject_cluster(world.other, world.ids[2:], user=world.editors[1]).kind


def test_clusters_are_merged_before_or_after_one_of_them_is_dissolved_and_not_in_between() -> None:
    for ending in Play(two_clusters, (merge, reject_other), state_of, (ReviewError,)).check():
        assert ending.seen[-1] == ()


def declare(editor: int, kind: str) -> Any:
    def writer(world: Desk) -> str:
        left, right = world.articles[0], world.articles[2]
        judged = JudgedRow(0, "similar", 0.9, 0.1, "[]", False, 0.5, 0.5)
        user = world.editors[editor]
        return declared_pairs.declare_pair(left, right, kind, judged=judged, user=user, seen=0).kind

    return writer


def apart() -> Desk:
    return desk(clustered=False)


def test_two_editors_who_declare_a_pair_make_one_and_one_decision() -> None:
    endings = Play(apart, (declare(0, "confirm"), declare(1, "reject")), state_of, (ReviewError,)).check()
    assert {ending[:2] for ending in endings} == {("confirm", "AlreadyDecidedError"), ("AlreadyDecidedError", "reject")}


def versions() -> Desk:
    world = desk()
    decisions.decide_pair(world.pairs[0].pk, "version", user=world.editors[0])
    return world


def grouped() -> Desk:
    world = desk()
    write_group(*world.articles)
    update_questions(rebuild_clusters(world.ids).articles)
    return world


def group_of(world: Desk) -> DenseGroup:
    return DenseGroup.objects.get(members__article=world.ids[0])


def confirm_group(world: Desk) -> str:
    group = group_of(world)
    return decisions.confirm_group(group.pk, seen=group.fingerprint, user=world.editors[0]).kind


def rule_group(editor: int) -> Any:
    def writer(world: Desk) -> str:
        series_rules.make_group_rule(group_of(world).pk, user=world.editors[editor])
        return "rule"

    return writer


def reject_pair(world: Desk) -> str:
    pair = Pair.objects.among(world.ids).order_by("left", "right").first()
    return decisions.decide_pair(pair, "reject", user=world.editors[1]).kind


def state_of_group(world: Desk) -> Any:
    group = group_of(world)
    return state_of(world), group.ruled_by and group.ruled_by.username


@pytest.mark.parametrize(
    ("one", "other"),
    [(confirm_group, rule_group(1)), (rule_group(0), rule_group(1)), (confirm_group, reject_pair)],
    ids=["confirm or rule", "two rules", "confirm or reject"],
)
def test_a_group_is_confirmed_or_gets_a_rule_but_not_both(one: Any, other: Any) -> None:
    endings = Play(grouped, (one, other), state_of_group, (ReviewError, RuleError)).check()
    assert endings[0] != endings[1]
    for ending in endings:
        assert ending.seen[0][-1] == ()


def ruled() -> Desk:
    world = grouped()
    series_rules.make_group_rule(group_of(world).pk, user=world.editors[0])
    return world


def end_group_rule(world: Desk) -> str:
    series_rules.end_group_rule(group_of(world).pk, user=world.editors[0])
    return "ended"


def test_the_rule_of_a_group_is_ended_once() -> None:
    endings = Play(ruled, (end_group_rule, end_group_rule), state_of_group, (RuleError,)).check()
    assert {ending[:2] for ending in endings} == {("ended", "RuleError"), ("RuleError", "ended")}


def series() -> Desk:
    world = desk()
    Article.objects.filter(pk__in=world.ids).update(newspaper=world.articles[0].newspaper)
    make_series(world.articles[0].newspaper, f"rates of {world.ids[0]}", *world.articles)
    return world


def series_of(world: Desk) -> Series:
    return Series.objects.get(form=f"rates of {world.ids[0]}")


def rule_series(editor: int) -> Any:
    def writer(world: Desk) -> str:
        series_rules.make_rule(series_of(world).pk, user=world.editors[editor])
        return "rule"

    return writer


def end_series_rule(world: Desk) -> str:
    series_rules.end_rule(series_of(world).pk, user=world.editors[1])
    return "ended"


def state_of_series(world: Desk) -> Any:
    found = series_of(world)
    logged = LogEntry.objects.filter(object_id=str(found.pk), content_type__model="series").count()
    return state_of(world), found.ruled_by and found.ruled_by.username, logged


def ruled_series() -> Desk:
    world = series()
    rule_series(0)(world)
    return world


@pytest.mark.parametrize(
    ("prepare", "one", "other"),
    [(series, rule_series(0), rule_series(1)), (ruled_series, end_series_rule, end_series_rule)],
    ids=["made", "ended"],
)
def test_the_rule_of_a_series_is_made_once_and_ended_once(prepare: Any, one: Any, other: Any) -> None:
    endings = Play(prepare, (one, other), state_of_series, (RuleError,)).check()
    assert all(min(map(str, ending[:2])) == "RuleError" for ending in endings)
    assert all(ending.seen[0][-1] == () for ending in endings)


def readings_of(world: Desk) -> Any:
    readings = SecondReading.objects.filter(pair__in=world.pairs)
    return state_of(world), tuple(
        sorted((reading.user.username, reading.kind) for reading in readings.select_related("user"))
    )


def read_again(editor: int) -> Any:
    def writer(world: Desk) -> str:
        second_readings.read_again(world.pairs[0].pk, "reject", user=world.editors[editor])
        return "read"

    return writer


def decided_by_a_third() -> Desk:
    world = desk()
    third, _ = User.objects.get_or_create(username="otto")
    decisions.decide_pair(world.pairs[0].pk, "confirm", user=third)
    return world


@override_settings(SECOND_READINGS=1.0)
def test_a_decision_is_read_again_by_one_editor() -> None:
    endings = Play(decided_by_a_third, (read_again(0), read_again(1)), readings_of, (ReviewError,)).check()
    assert {ending[:2] for ending in endings} == {("read", "ReviewError"), ("ReviewError", "read")}


def contest(world: Desk) -> str:
    first = Decision.objects.get(pair=world.pairs[0], kind="confirm")
    second_readings.answer_collision(world.pairs[0].pk, first.pk, "reject", user=world.editors[1])
    return "contested"


def test_a_decision_that_is_undone_is_not_contested() -> None:
    endings = Play(decided, (undo(0), contest), readings_of, (ReviewError,)).check()
    assert {ending[:2] for ending in endings} == {("undo", "contested"), ("undo", "ReviewError")}


def contested() -> Desk:
    world = decided()
    contest(world)
    return world


def settle(editor: int, kind: str) -> Any:
    def writer(world: Desk) -> str:
        reading = SecondReading.objects.get(pair=world.pairs[0])
        return second_readings.settle(reading.pk, kind, user=world.editors[editor]).kind

    return writer


def test_a_disagreement_is_settled_once() -> None:
    endings = Play(contested, (settle(0, "confirm"), settle(1, "reject")), readings_of, (ReviewError,)).check()
    assert {ending[:2] for ending in endings} == {("confirm", "ReviewError"), ("ReviewError", "reject")}


def begin(world: Desk) -> int:
    return batches.begin("confirm", pairs=[pair.pk for pair in world.pairs], sample=20, user=world.editors[0]).size


def two_pairs() -> Desk:
    one, other = desk(2), desk(2)
    return Desk([*one.articles, *other.articles], [*one.pairs, *other.pairs], 0, one.editors)


def items_of(world: Desk) -> Any:
    decisions_of = {item_.pk: item_.kind for item_ in Decision.objects.filter(articles__overlap=world.ids)}
    found = Batch.objects.filter(items__pair__in=world.pairs).distinct()
    return state_of(world), tuple(
        (batch.size, decisions_of.get(batch.after, "none"), decisions_of.get(batch.decision_id, "none"))
        for batch in found
    )


def test_a_batch_freezes_what_nobody_has_decided() -> None:
    endings = Play(two_pairs, (begin, decide(1, "confirm")), items_of, (ReviewError,)).check()
    assert {ending.first for ending in endings} == {1, 2}


def sampled() -> Desk:
    one = [desk(2) for _ in range(3)]
    world = Desk(
        [article for found in one for article in found.articles], [found.pairs[0] for found in one], 0, one[0].editors
    )
    with patch.object(batches, "SAMPLES", (1,)):
        batch = batches.begin("confirm", pairs=[pair.pk for pair in world.pairs], sample=1, user=world.editors[0])
    decisions.decide_pair(batches.sample_of(batch).next.pair, "confirm", user=world.editors[0])
    return world


def decide_batch(editor: int) -> Any:
    def writer(world: Desk) -> str:
        batch = Batch.objects.filter(items__pair=world.pairs[0]).get()
        return batches.decide(batch.pk, user=world.editors[editor]).kind

    return writer


def batch_of(world: Desk) -> Any:
    [batch] = Batch.objects.filter(items__pair=world.pairs[0])
    states = sorted(Pair.objects.filter(pk__in=[pair.pk for pair in world.pairs]).values_list("state", flat=True))
    made = Decision.objects.filter(articles__overlap=world.ids, kind="batch")
    return tuple(states), batch.decision_id is not None, made.count(), faults()


def test_a_batch_is_decided_once() -> None:
    endings = Play(sampled, (decide_batch(0), decide_batch(1)), batch_of, (ReviewError,)).check()
    assert {ending[:2] for ending in endings} == {("batch", "StaleBatchError"), ("StaleBatchError", "batch")}
    assert all(ending.seen[2:] == (1, ()) for ending in endings)
