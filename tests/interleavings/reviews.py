"""Two editors, or an editor and a run, at the same moment: one after the other, whoever is first."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from articles.models import Article
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.judging.judge import JudgedRow
from dedup.models import Batch, Decision, DenseGroup, Pair, SecondReading, Series
from dedup.review.answers import batches, cluster_decisions, decisions
from dedup.review.answers.decisions import ReviewError, seen_as
from dedup.review.readings import second_readings
from dedup.review.rules import rules
from dedup.review.rules.rules import RuleError
from tests.dense import write_group
from tests.factories import make_series
from tests.interleavings.schedule import Play, either
from tests.interleavings.world import Desk, desk, faults, state_of

Writer = Callable[[Desk], Any]

# ---- what the writers begin with ----


def decided() -> Desk:
    world = desk()
    decisions.decide_pair(world.pairs[0].pk, "confirm", user=world.editors[0])
    return world


def decided_by_a_third() -> Desk:
    world = desk()
    third, _ = User.objects.get_or_create(username="otto")
    decisions.decide_pair(world.pairs[0].pk, "confirm", user=third)
    return world


def contested() -> Desk:
    world = decided()
    contest(world)
    return world


def versions() -> Desk:
    world = desk()
    decisions.decide_pair(world.pairs[0].pk, "version", user=world.editors[0])
    return world


def apart() -> Desk:
    return desk(clustered=False)


def two_clusters() -> Desk:
    one, other = desk(2), desk(2)
    pairs = [*one.pairs, *other.pairs]
    return Desk([*one.articles, *other.articles], pairs, one.cluster, one.editors, other.cluster)


def grouped() -> Desk:
    world = desk()
    write_group(*world.articles)
    update_questions(rebuild_clusters(world.ids).articles)
    return world._replace(other=DenseGroup.objects.get(members__article=world.ids[0]).pk)


def ruled() -> Desk:
    world = grouped()
    rules.make_group_rule(world.other, user=world.editors[0])
    return world


def series() -> Desk:
    world = desk()
    Article.objects.filter(pk__in=world.ids).update(newspaper=world.articles[0].newspaper)
    made = make_series(world.articles[0].newspaper, f"rates of {world.ids[0]}", *world.articles)
    return world._replace(other=made.pk)


def ruled_series() -> Desk:
    world = series()
    rules.make_rule(world.other, user=world.editors[0])
    return world


def sampled() -> Desk:
    one = [desk(2) for _ in range(3)]
    world = Desk(
        [article for found in one for article in found.articles], [found.pairs[0] for found in one], 0, one[0].editors
    )
    with patch.object(batches, "SAMPLES", (1,)):
        batch = batches.begin("confirm", pairs=[pair.pk for pair in world.pairs], sample=1, user=world.editors[0])
    decisions.decide_pair(batches.sample_of(batch).next.pair_id, "confirm", user=world.editors[0])
    return world


# ---- the writers ----


def decide(editor: int, kind: str, *, pair: int = 0, seen: int | None = 0) -> Writer:
    return lambda world: decisions.decide_pair(world.pairs[pair].pk, kind, user=world.editors[editor], seen=seen).kind


def undo(editor: int) -> Writer:
    return lambda world: decisions.undo(first_decision(world).pk, user=world.editors[editor]).kind


def first_decision(world: Desk) -> Decision:
    return Decision.objects.get(pair=world.pairs[0], kind="confirm")


def confirm(world: Desk) -> str:
    return decisions.confirm_cluster(world.cluster, seen_as(world.ids), user=world.editors[0]).kind


def split(world: Desk) -> str:
    return cluster_decisions.split_cluster(world.cluster, world.ids[2:], seen_as(world.ids), user=world.editors[1]).kind


def reject(world: Desk) -> str:
    return decisions.reject_cluster(world.cluster, seen_as(world.ids), user=world.editors[1]).kind


def take_out(world: Desk) -> str:
    return decisions.take_out(world.cluster, world.ids[2], user=world.editors[1]).kind


def keep(world: Desk) -> str:
    return decisions.keep_article(world.cluster, world.ids[2], user=world.editors[1]).kind


def merge(world: Desk) -> str:
    return cluster_decisions.merge_clusters(
        world.cluster, world.other, seen_as(world.ids[:2]), user=world.editors[0]
    ).kind


def declare(editor: int, kind: str) -> Writer:
    judged = JudgedRow(0, "similar", 0.9, 0.1, "[]", False, 0.5, 0.5)
    return lambda world: (
        decisions.declare_pair(
            world.articles[0], world.articles[2], kind, judged=judged, user=world.editors[editor], seen=0
        ).kind
    )


def confirm_group(world: Desk) -> str:
    group = DenseGroup.objects.get(pk=world.other)
    return decisions.confirm_group(group.pk, seen=group.fingerprint, user=world.editors[0]).kind


def ruling(act: Callable[..., object], editor: int) -> Writer:
    """Return what makes or ends the rule of a group or series."""

    def writer(world: Desk) -> None:
        act(world.other, user=world.editors[editor])

    return writer


def read_again(editor: int) -> Writer:
    def writer(world: Desk) -> None:
        second_readings.read_again(world.pairs[0].pk, "reject", user=world.editors[editor])

    return writer


def contest(world: Desk) -> None:
    second_readings.answer_collision(world.pairs[0].pk, first_decision(world).pk, "reject", user=world.editors[1])


def settle(editor: int, kind: str) -> Writer:
    def writer(world: Desk) -> str:
        reading = SecondReading.objects.get(pair=world.pairs[0])
        return second_readings.settle(reading.pk, kind, user=world.editors[editor]).kind

    return writer


def begin(world: Desk) -> int:
    return batches.begin("confirm", pairs=[pair.pk for pair in world.pairs], sample=20, user=world.editors[0]).size


def decide_batch(editor: int) -> Writer:
    def writer(world: Desk) -> str:
        batch = Batch.objects.filter(items__pair=world.pairs[0]).get()
        return batches.decide(batch.pk, user=world.editors[editor]).kind

    return writer


# ---- what a reader sees; the first part is the state of the desk ----


def state_of_group(world: Desk) -> Any:
    group = DenseGroup.objects.get(pk=world.other)
    return state_of(world), group.ruled_by and group.ruled_by.username


def state_of_series(world: Desk) -> Any:
    found = Series.objects.get(pk=world.other)
    logged = LogEntry.objects.filter(object_id=str(found.pk), content_type__model="series").count()
    return state_of(world), found.ruled_by and found.ruled_by.username, logged


def readings_of(world: Desk) -> Any:
    readings = SecondReading.objects.filter(pair__in=world.pairs)
    return state_of(world), tuple(sorted(readings.values_list("user__username", "kind")))


def items_of(world: Desk) -> Any:
    kinds = {item.pk: item.kind for item in Decision.objects.filter(articles__overlap=world.ids)}
    found = Batch.objects.filter(items__pair__in=world.pairs).distinct()
    made = (
        (batch.size, *(kinds.get(number, "none") for number in (batch.after, batch.decision_id))) for batch in found
    )
    return state_of(world), tuple(made)


def batch_of(world: Desk) -> Any:
    [batch] = Batch.objects.filter(items__pair=world.pairs[0])
    states = sorted(Pair.objects.filter(pk__in=[pair.pk for pair in world.pairs]).values_list("state", flat=True))
    made = Decision.objects.filter(articles__overlap=world.ids, kind="batch")
    return tuple(states), batch.decision_id is not None, made.count(), faults()


def is_sound(seen: Any) -> bool:
    """Return whether no table that is derived from decisions is wrong."""
    return seen[-1] == ()


def is_sound_desk(seen: Any) -> bool:
    return is_sound(seen[0])


def between(one: Any, other: Any, prepare: Any = desk, **expected: Any) -> Play[Desk]:
    """Return a play of two editors."""
    return Play(prepare, (one, other), **{"seen": state_of, "refusals": (ReviewError,), **expected})


end_group_rule, end_series_rule = ruling(rules.end_group_rule, 0), ruling(rules.end_rule, 1)
_ONE_DECIDES = {("confirm", "AlreadyDecidedError"), ("AlreadyDecidedError", "reject")}
_GROUP = {"prepare": grouped, "seen": state_of_group, "refusals": (ReviewError, RuleError), "ends": is_sound_desk}
_GROUP |= {"in_turn": lambda seen: seen[0] != seen[1]}
_OF_SERIES = {"seen": state_of_series, "refusals": (RuleError,), "ends": is_sound_desk}

PLAYS = {
    "of two editors who saw no decision only one decides": between(
        decide(0, "confirm"), decide(1, "reject"), results=_ONE_DECIDES, ends=is_sound, waits=True
    ),
    "two decisions on pairs of one cluster give the clusters of both": between(
        decide(0, "reject"), decide(1, "confirm", pair=1, seen=None), results={("reject", "confirm")}, ends=is_sound
    ),
    "a decision is undone once": between(undo(0), undo(1), decided, results=either("undo", "AlreadyUndoneError")),
    "a cluster is confirmed or split": between(confirm, split, ends=is_sound),
    "a cluster is confirmed or dissolved": between(confirm, reject, ends=is_sound),
    "a cluster is confirmed, and an article taken out": between(confirm, take_out, ends=is_sound),
    "an article is kept, and taken out": between(keep, take_out, ends=is_sound),
    "clusters are merged before or after one of them is dissolved": between(
        merge,
        lambda world: decisions.reject_cluster(world.other, seen_as(world.ids[2:]), user=world.editors[1]).kind,
        two_clusters, ends=is_sound,
    ),
    "two editors who declare a pair make one, and one decision": between(
        declare(0, "confirm"), declare(1, "reject"), apart, results=_ONE_DECIDES
    ),
    "a group is confirmed or gets a rule": between(confirm_group, ruling(rules.make_group_rule, 1), **_GROUP),
    "a group gets one rule": between(
        ruling(rules.make_group_rule, 0), ruling(rules.make_group_rule, 1), **_GROUP
    ),
    "a group is confirmed or a pair of it rejected": between(confirm_group, decide(1, "reject", seen=None), **_GROUP),
    "the rule of a group is ended once": between(
        end_group_rule, end_group_rule, **_GROUP | {"prepare": ruled, "in_turn": lambda _seen: True},
        results=either(None, "RuleError"),
    ),
    "the rule of a series is made once": between(
        ruling(rules.make_rule, 0), ruling(rules.make_rule, 1), series, **_OF_SERIES,
        results=either(None, "RuleError"),
    ),
    "the rule of a series is ended once": between(
        end_series_rule, end_series_rule, ruled_series, **_OF_SERIES, results=either(None, "RuleError")
    ),
    "a decision is read again by one editor": between(
        read_again(0), read_again(1), decided_by_a_third, seen=readings_of, results=either(None, "ReviewError")
    ),
    "a decision that is undone is not contested": between(
        undo(0), contest, decided, seen=readings_of, results={("undo", None), ("undo", "ReviewError")}
    ),
    "a disagreement is settled once": between(
        settle(0, "confirm"), settle(1, "reject"), contested, seen=readings_of,
        results={("confirm", "ReviewError"), ("ReviewError", "reject")},
    ),
    "a batch freezes what nobody has decided": between(
        begin, decide(1, "confirm"), two_clusters, seen=items_of, results={(2, "confirm"), (1, "confirm")}
    ),
    "a batch is decided once": between(
        decide_batch(0), decide_batch(1), sampled, seen=batch_of, results=either("batch", "StaleBatchError"),
        ends=lambda seen: seen[2:] == (1, ()),
    ),
}  # fmt: skip

# What each begins with, and the writer: it waits for the lock of reviews, and breaks off without a trace.
WRITERS: dict[str, tuple[Any, Any]] = {
    "decide_pair": (desk, decide(0, "reject")),
    "undo": (decided, undo(0)),
    "confirm_cluster": (desk, confirm),
    "reject_cluster": (desk, reject),
    "split_cluster": (desk, split),
    "merge_clusters": (two_clusters, merge),
    "take_out": (desk, take_out),
    "keep_article": (desk, keep),
    "declare_pair": (apart, declare(0, "confirm")),
    "confirm_group": (grouped, confirm_group),
    "make_group_rule": (grouped, ruling(rules.make_group_rule, 0)),
    "end_group_rule": (ruled, end_group_rule),
    "make_rule": (series, ruling(rules.make_rule, 0)),
    "end_rule": (ruled_series, end_series_rule),
    "answer_collision": (decided, contest),
    "settle": (contested, settle(0, "reject")),
    "begin a batch": (two_clusters, begin),
    "decide a batch": (sampled, decide_batch(0)),
}
