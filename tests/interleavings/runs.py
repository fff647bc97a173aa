"""A run writes pairs, evidence, verdicts and clusters while an editor decides: as if one came after the other."""

import datetime
import json
from collections.abc import Callable
from typing import Any

from django.db import transaction

from articles.models import Article
from dedup.detection.clustering.constraints import update_version_implications
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import changed_since_rebuilt, rebuild_clusters, update_clusters
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.passes import PASSES
from dedup.detection.runs.dense_groups import update_groups
from dedup.detection.runs.evidence import (
    forget_hubs,
    mark_stale,
    store_hubs,
    update_article_facts,
    update_best_scores,
    write_block,
)
from dedup.detection.runs.judging import store_rows
from dedup.detection.runs.scope import Scope, judged_by
from dedup.detection.types import Candidate, Tally, Window
from dedup.models import CrowdedArticle, DenseGroup, DetectionRun, Evidence, Link, Pair, Profile
from dedup.review.answers import decisions
from dedup.review.answers.decisions import ReviewError
from dedup.review.rules.rules import RuleError, make_group_rule
from tests.factories import make_run
from tests.interleavings.reviews import apart, confirm, decide, grouped, is_sound, ruling, versions
from tests.interleavings.schedule import Play, always
from tests.interleavings.world import Desk, desk, state_of

DAY = datetime.date(2026, 3, 2)
WINDOW = Window(DAY, DAY)

# ---- what the writers begin with ----


def a_run() -> DetectionRun:
    """Return the latest run, or one if there is none."""
    return DetectionRun.objects.order_by("pk").last() or make_run()


def in_a_new_run(prepare: Callable[[], Desk]) -> Callable[[], Desk]:
    """Return what prepares the same, and a run that has stored no block: no run stores one twice."""
    return lambda: (make_run(), prepare())[1]


def confirmed() -> Desk:
    world = desk()
    confirm(world)
    return world


def built() -> Desk:
    """Build all clusters, so that none has changed."""
    world = desk()
    update_clusters(only_changed=False)
    return world


def changed() -> Desk:
    """Build all clusters, then change one."""
    update_clusters(only_changed=False)
    world = desk()
    Pair.objects.filter(pk=world.pairs[1].pk).update(joins=False, verdict="similar")
    return world


def joining() -> Desk:
    world = apart()
    Profile.objects.filter(is_default=True).update(same_as="cropped")
    decisions.decide_pair(world.pairs[0].pk, "version", user=world.editors[0])
    return world


def loose() -> Desk:
    world = grouped()
    Evidence.objects.filter(pair__left__in=world.ids).update(stale=True)
    CrowdedArticle.objects.filter(article__in=world.ids).delete()
    return world


def found_earlier() -> Desk:
    make_run()
    world = desk()
    found((1, 2))(world)
    make_run()
    return world


def moved() -> Desk:
    world = desk()
    update_article_facts()
    Article.objects.filter(pk=world.ids[2]).update(date=DAY + datetime.timedelta(days=2))
    return world


# ---- the writers ----


def found(*places: tuple[int, int], score: float = 0.8) -> Any:
    """Return a writer that stores these pairs of articles, as a pass proposes them."""

    def writer(world: Desk) -> int:
        pairs = [Candidate(world.ids[left], world.ids[right], "title", score) for left, right in places]
        return write_block(a_run().pk, "title", pairs, WINDOW, Tally()).pairs

    return writer


def undo_latest(world: Desk) -> str:
    latest = decisions.decisions_on(world.pairs[0]).latest("pk")
    return decisions.undo(latest.pk, user=world.editors[1]).kind


def build(*, only_changed: bool, questions: bool = True) -> Any:
    def writer(_world: Desk) -> None:
        update_clusters(only_changed=only_changed)
        if questions:
            update_questions(None)

    return writer


def judge(verdict: str) -> Any:
    def writer(world: Desk) -> None:
        row = JudgedRow(world.pairs[0].pk, verdict, 0.9, 0.1, json.dumps(["By words."]), verdict == "duplicate", 1, 1)
        with transaction.atomic():
            store_rows([row], {})

    return writer


def let_versions_join(_world: Desk) -> None:
    with transaction.atomic():
        Profile.objects.filter(is_default=True).update(same_as="updates")
        update_version_implications()
    rebuild_clusters()


def bounds() -> dict[str, Any]:
    """Return what a run of everything has covered by the headlines."""
    covered = {"since": None, "until": None, "newspaper_ids": None, "newer_than": None}
    return covered | judged_by("title", PASSES["title"].config_class(), Scope())


def forget(_world: Desk) -> None:
    mark_stale(make_run(), "title", bounds())
    update_best_scores()


def hubs_with(neighbours: int) -> Any:
    def writer(world: Desk) -> None:
        with transaction.atomic():
            store_hubs(a_run().pk, "trigram", dict.fromkeys(world.ids, neighbours), only_new=True)

    return writer


def regroup(_world: Desk) -> None:
    forget_hubs(make_run(), "trigram", only_new=False)
    update_groups()


def append_batch(world: Desk) -> None:
    links = {(world.ids[0], world.ids[1]): Link.Kind.MUST}
    decisions.append_batch(world.ids[:2], links, user=world.editors[0], note="")


# ---- what a reader sees ----


def with_scores(world: Desk) -> Any:
    """Return the state of a desk, and what passes say of its pairs; whose questions follow at the end of the run."""
    pairs = Pair.objects.among(world.ids).order_by("left", "right").values_list("best_score", "verdict", "joins")
    evidence = Evidence.objects.filter(pair__left__in=world.ids).order_by("pair__left", "pair__right", "pass_name")
    return state_of(world)[:3], tuple(pairs), tuple(evidence.values_list("pass_name", "score", "stale"))


def days_apart(world: Desk) -> Any:
    return tuple(Pair.objects.among(world.ids).order_by("left", "right").values_list("days_apart", flat=True))


def groups_of(world: Desk) -> Any:
    rows = DenseGroup.objects.filter(members__article__in=world.ids).distinct()
    return tuple((row.size, row.ruled_by is not None) for row in rows), state_of(world)[0]


def doing(act: Callable[..., object], *arguments: object) -> Any:
    """Return a writer of a run that needs to know no desk."""

    def writer(_world: Desk) -> None:
        act(*arguments)

    return writer


_REJECT = decide(0, "reject", seen=None)
REBUILD, ASK, CORRECT_FACTS = doing(rebuild_clusters), doing(update_questions, None), doing(update_article_facts)
RULE_GROUP = ruling(make_group_rule, 0)
PLAYS = {
    "a pair that is found while its cluster is confirmed is decided": Play(
        in_a_new_run(desk), (found((1, 2)), confirm), with_scores, waits=True,
        ends=lambda seen: seen[0][0][2][:3] == (1, 2, "confirmed"),
    ),
    "a pair that is found while what implies it is undone is undecided": Play(
        in_a_new_run(confirmed), (found((1, 2)), undo_latest), with_scores,
        ends=lambda seen: seen[0][0][2] == (1, 2, "undecided", False),
    ),
    "clusters are built with the decisions of the moment": Play(
        desk, (build(only_changed=False), _REJECT), state_of, ends=is_sound
    ),
    "clusters that changed are built with the decisions of the moment": Play(
        changed, (build(only_changed=True), confirm), state_of, (ReviewError,), ends=is_sound
    ),
    "a verdict that comes while clusters are built is not forgotten": Play(
        built, (build(only_changed=True, questions=False), judge("similar")),
        lambda world: (state_of(world)[1], len(changed_since_rebuilt() or ())),
        in_turn=lambda seen: [number for _, number in seen] == [2, 0],
    ),
    "all clusters and a decision give the clusters of both": Play(desk, (REBUILD, _REJECT), state_of, ends=is_sound),
    "all questions and a decision give the questions of both": Play(desk, (ASK, _REJECT), state_of, ends=is_sound),
    "whether versions join and a decision on versions give the same in either order": Play(
        joining, (let_versions_join, decide(1, "version", pair=1, seen=None)),
        lambda world: (state_of(world)[0], state_of(world)[3]), ends=lambda seen: "tied" not in seen[1],
    ),
    "a verdict and a rule on the same pair come one after the other": Play(
        grouped, (judge("duplicate"), RULE_GROUP), with_scores, in_turn=lambda seen: seen[0] != seen[1]
    ),
    "evidence is stale or found again": Play(found_earlier, (forget, found((1, 2), score=0.9)), with_scores),
    "the facts of articles and a new pair agree": Play(
        moved, (CORRECT_FACTS, CORRECT_FACTS), days_apart, ends=always((0, 2))
    ),
    "the highest number of neighbours counts": Play(
        desk, (hubs_with(60), hubs_with(90)),
        lambda world: tuple(CrowdedArticle.objects.filter(article__in=world.ids).values_list("near", flat=True)),
        ends=always((90, 90, 90)),
    ),
    "groups are updated before or after they get a rule": Play(
        loose, (regroup, RULE_GROUP), groups_of, (RuleError,)
    ),
}  # fmt: skip

# What each begins with, and the writer: those that both wait for the lock and are one transaction, then the others.
WRITERS: dict[str, tuple[Any, Any]] = {
    "write_block": (in_a_new_run(desk), found((1, 2))),
    "store_rows": (desk, judge("template")),
    "update_clusters": (desk, build(only_changed=False, questions=False)),
    "update_groups": (loose, doing(update_groups)),
    "store_hubs": (desk, hubs_with(60)),
}
ONLY_WAIT: dict[str, tuple[Any, Any]] = {
    "append_batch": (desk, append_batch),
    "mark_stale": (desk, lambda _world: mark_stale(a_run(), "title", bounds())),
    "update_best_scores": (desk, doing(update_best_scores)),
    "update_article_facts": (desk, CORRECT_FACTS),
    "forget_hubs": (desk, lambda _world: forget_hubs(a_run(), "trigram", only_new=False)),
    "update_clusters of what changed": (built, build(only_changed=True, questions=False)),
    "rebuild_clusters": (desk, REBUILD),
    "update_questions": (desk, ASK),
    "update_version_implications": (versions, doing(update_version_implications)),
}
