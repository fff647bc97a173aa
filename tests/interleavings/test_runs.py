"""A run writes pairs, evidence, verdicts and clusters while an editor decides: as if one came after the other."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from articles.models import Article
from dedup.detection.clustering.changes import changed_since_rebuilt, update_clusters
from dedup.detection.clustering.implications import update_version_implications
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.passes import PASSES
from dedup.detection.runs.dense_groups import forget_crowded, store_crowded, update_groups
from dedup.detection.runs.earlier_runs import judged_by
from dedup.detection.runs.evidence import mark_stale, update_article_facts, update_best_scores, write_block
from dedup.detection.runs.judging import store_rows
from dedup.detection.runs.scope import Scope
from dedup.detection.types import Candidate, Tally, Window
from dedup.models import CrowdedArticle, DenseGroup, DetectionRun, Evidence, Pair, Profile
from dedup.review.answers import decisions
from dedup.review.answers.decisions import ReviewError
from dedup.review.rules import rules as series_rules
from dedup.review.rules.rules import RuleError
from tests.dense import write_group
from tests.factories import make_run
from tests.interleavings.schedule import Play
from tests.interleavings.world import Desk, desk, state_of

pytestmark = pytest.mark.django_db(transaction=True)
DAY = datetime.date(2026, 3, 2)
WINDOW = Window(DAY, DAY)


def confirm(world: Desk) -> str:
    return decisions.confirm_cluster(world.cluster, world.ids, user=world.editors[0]).kind


def reject(world: Desk) -> str:
    return decisions.decide_pair(world.pairs[0].pk, "reject", user=world.editors[0]).kind


def a_run() -> DetectionRun:
    """Return the latest run, or one if there is none."""
    return DetectionRun.objects.order_by("pk").last() or make_run()


def in_a_new_run(prepare: Callable[[], Desk]) -> Callable[[], Desk]:
    """Return what prepares the same, and a run that has stored no block: no run stores one twice."""

    def prepared() -> Desk:
        make_run()
        return prepare()

    return prepared


def found(*places: tuple[int, int], score: float = 0.8) -> Any:
    """Return a writer that stores these pairs of articles, as a pass proposes them."""

    def writer(world: Desk) -> int:
        pairs = [Candidate(world.ids[left], world.ids[right], "title", score) for left, right in places]
        return write_block(a_run().pk, "title", pairs, WINDOW, Tally()).pairs

    return writer


def with_scores(world: Desk) -> Any:
    """Return the state of a desk, and what passes say of its pairs; whose questions follow at the end of the run."""
    pairs = Pair.objects.among(world.ids).order_by("left", "right").values_list("best_score", "verdict", "joins")
    evidence = Evidence.objects.filter(pair__left__in=world.ids).order_by("pair__left", "pair__right", "pass_name")
    return state_of(world)[:3], tuple(pairs), tuple(evidence.values_list("pass_name", "score", "stale"))


def test_a_pair_that_is_found_while_its_cluster_is_confirmed_is_decided() -> None:
    play = Play(in_a_new_run(desk), (found((1, 2)), confirm), with_scores)
    for ending in play.check():
        pairs = ending.seen[0][0]
        assert pairs[2] == (1, 2, "confirmed", False) or pairs[2] == (1, 2, "confirmed", True)
    assert play.waited


def test_a_pair_that_is_found_while_what_implies_it_is_undone_is_undecided() -> None:
    def confirmed() -> Desk:
        world = desk()
        confirm(world)
        return world

    def undo(world: Desk) -> str:
        latest = decisions.decisions_on(world.pairs[0]).latest("pk")
        return decisions.undo(latest.pk, user=world.editors[1]).kind

    for ending in Play(in_a_new_run(confirmed), (found((1, 2)), undo), with_scores).check():
        assert ending.seen[0][0][2] == (1, 2, "undecided", False)


def test_clusters_are_built_with_the_decisions_of_the_moment() -> None:
    def run(_world: Desk) -> str:
        update_clusters(only_changed=False)
        update_questions(None)
        return "built"

    for ending in Play(desk, (run, reject), state_of).check():
        assert ending.seen[-1] == ()


def test_clusters_that_changed_are_built_with_the_decisions_of_the_moment() -> None:
    def built() -> Desk:
        update_clusters(only_changed=False)
        world = desk()
        Pair.objects.filter(pk=world.pairs[1].pk).update(joins=False, verdict="similar")
        return world

    def run(_world: Desk) -> str:
        update_clusters(only_changed=True)
        update_questions(None)
        return "built"

    for ending in Play(built, (run, confirm), state_of, (ReviewError,)).check():
        assert ending.seen[-1] == ()


def test_a_verdict_that_comes_while_clusters_are_built_is_not_forgotten() -> None:
    def built() -> Desk:
        world = desk()
        update_clusters(only_changed=False)
        return world

    def run(_world: Desk) -> str:
        update_clusters(only_changed=True)
        return "built"

    def left(world: Desk) -> Any:
        return state_of(world)[1], len(changed_since_rebuilt() or ())

    endings = Play(built, (run, judge("similar")), left).check()
    assert [number for _, number in (ending.seen for ending in endings)] == [2, 0]


def test_all_clusters_and_a_decision_give_the_clusters_of_both() -> None:
    def rebuild(_world: Desk) -> str:
        rebuild_clusters()
        return "rebuilt"

    for ending in Play(desk, (rebuild, reject), state_of).check():
        assert ending.seen[-1] == ()


def test_all_questions_and_a_decision_give_the_questions_of_both() -> None:
    def ask(_world: Desk) -> str:
        update_questions(None)
        return "asked"

    for ending in Play(desk, (ask, reject), state_of).check():
        assert ending.seen[-1] == ()


def test_whether_versions_join_and_a_decision_on_versions_give_the_same_in_either_order() -> None:
    def joining() -> Desk:
        world = desk(clustered=False)
        Profile.objects.filter(is_default=True).update(versions_join=False)
        decisions.decide_pair(world.pairs[0].pk, "version", user=world.editors[0])
        return world

    def change(_world: Desk) -> str:
        with transaction.atomic():
            Profile.objects.filter(is_default=True).update(versions_join=True)
            update_version_implications()
        rebuild_clusters()
        return "changed"

    def version(world: Desk) -> str:
        return decisions.decide_pair(world.pairs[1].pk, "version", user=world.editors[1]).kind

    def tied(world: Desk) -> Any:
        return state_of(world)[0], state_of(world)[3]

    for ending in Play(joining, (change, version), tied).check():
        assert "tied" not in ending.seen[1]


def judge(verdict: str) -> Any:
    def writer(world: Desk) -> str:
        row = JudgedRow(world.pairs[0].pk, verdict, 0.9, 0.1, json.dumps(["By words."]), verdict == "duplicate", 1, 1)
        with transaction.atomic():
            store_rows([row], {})
        return "judged"

    return writer


def grouped() -> Desk:
    world = desk()
    write_group(*world.articles)
    update_questions(rebuild_clusters(world.ids).articles)
    return world._replace(other=DenseGroup.objects.get(members__article=world.ids[0]).pk)


def rule(world: Desk) -> str:
    series_rules.make_group_rule(world.other, user=world.editors[0])
    return "ruled"


def test_a_verdict_and_a_rule_on_the_same_pair_come_one_after_the_other() -> None:
    one, other = Play(grouped, (judge("duplicate"), rule), with_scores).check()
    assert one != other


def bounds() -> dict[str, Any]:
    """Return what a run of everything has covered by the headlines."""
    covered = {"since": None, "until": None, "newspaper_ids": None, "newer_than": None}
    return covered | judged_by("title", PASSES["title"].config_class(), Scope())


def test_evidence_is_stale_or_found_again() -> None:
    def earlier() -> Desk:
        make_run()
        world = desk()
        found((1, 2))(world)
        make_run()
        return world

    def forget(_world: Desk) -> str:
        mark_stale(make_run(), "title", bounds())
        update_best_scores()
        return "forgotten"

    Play(earlier, (forget, found((1, 2), score=0.9)), with_scores).check()


def test_the_facts_of_articles_and_a_new_pair_agree() -> None:
    def moved() -> Desk:
        world = desk()
        update_article_facts()
        Article.objects.filter(pk=world.ids[2]).update(date=DAY + datetime.timedelta(days=2))
        return world

    def facts(_world: Desk) -> str:
        update_article_facts()
        return "corrected"

    def days(world: Desk) -> Any:
        return tuple(Pair.objects.among(world.ids).order_by("left", "right").values_list("days_apart", flat=True))

    for ending in Play(moved, (facts, facts), days).check():
        assert ending.seen == (0, 2)


def crowd(near: int) -> Any:
    def writer(world: Desk) -> str:
        with transaction.atomic():
            store_crowded(a_run().pk, "trigram", dict.fromkeys(world.ids, near), only_new=True)
        return "stored"

    return writer


def test_the_highest_number_of_near_articles_counts() -> None:
    def near(world: Desk) -> Any:
        return tuple(CrowdedArticle.objects.filter(article__in=world.ids).values_list("near", flat=True))

    for ending in Play(desk, (crowd(60), crowd(90)), near).check():
        assert ending.seen == (90, 90, 90)


def loose() -> Desk:
    world = grouped()
    Evidence.objects.filter(pair__left__in=world.ids).update(stale=True)
    CrowdedArticle.objects.filter(article__in=world.ids).delete()
    return world


def test_groups_are_updated_before_or_after_they_get_a_rule() -> None:
    def regroup(_world: Desk) -> str:
        forget_crowded(make_run(), "trigram", only_new=False)
        update_groups()
        return "regrouped"

    def groups(world: Desk) -> Any:
        rows = DenseGroup.objects.filter(members__article__in=world.ids).distinct()
        return tuple((row.size, row.ruled_by is not None) for row in rows), state_of(world)[0]

    Play(loose, (regroup, rule), groups, (RuleError,)).check()
