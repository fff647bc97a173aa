"""Whoever writes pairs, clusters or decisions waits for the lock of reviews before the first write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from dedup.detection.clustering.changes import update_clusters
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.clustering.implications import update_version_implications
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.runs.dense_groups import forget_crowded, update_groups
from dedup.detection.runs.evidence import mark_stale, update_article_facts, update_best_scores
from dedup.models import DetectionRun, Link
from dedup.review.answers import decisions
from tests.factories import make_run
from tests.interleavings import test_reviews as reviews
from tests.interleavings import test_runs as runs
from tests.interleavings.schedule import lanes, waits_before_it_writes
from tests.interleavings.world import Desk, desk, editors

pytestmark = pytest.mark.django_db(transaction=True)


def stale(_world: Desk) -> None:
    mark_stale(runs.a_run(), "title", runs.bounds())


def append_batch(world: Desk) -> None:
    links = {(world.ids[0], world.ids[1]): Link.Kind.MUST}
    decisions.append_batch(world.ids[:2], links, user=world.editors[0], note="")


def built() -> None:
    """Build all clusters, so that none has changed."""
    desk()
    update_clusters(only_changed=False)


# What each begins with, and the writer.
WRITERS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "decide_pair": (desk, reviews.decide(0, "reject")),
    "undo": (reviews.decided, reviews.undo(0)),
    "confirm_cluster": (desk, reviews.confirm),
    "reject_cluster": (desk, reviews.reject),
    "confirm_group": (reviews.grouped, reviews.confirm_group),
    "append_batch": (desk, append_batch),
    "take_out": (desk, reviews.take_out),
    "keep_article": (desk, reviews.keep),
    "split_cluster": (desk, reviews.split),
    "merge_clusters": (reviews.two_clusters, reviews.merge),
    "declare_pair": (reviews.apart, reviews.declare(0, "confirm")),
    "make_group_rule": (reviews.grouped, reviews.rule_group(0)),
    "end_group_rule": (reviews.ruled, reviews.end_group_rule),
    "make_rule": (reviews.series, reviews.rule_series(0)),
    "end_rule": (reviews.ruled_series, reviews.end_series_rule),
    "answer_collision": (reviews.decided, reviews.contest),
    "settle": (reviews.contested, reviews.settle(0, "reject")),
    "begin a batch": (reviews.two_pairs, reviews.begin),
    "decide a batch": (reviews.sampled, reviews.decide_batch(0)),
    "write_block": (runs.in_a_new_run(desk), runs.found((1, 2))),
    "mark_stale": (desk, stale),
    "update_best_scores": (desk, lambda _world: update_best_scores()),
    "update_article_facts": (desk, lambda _world: update_article_facts()),
    "store_crowded": (desk, runs.crowd(60)),
    "forget_crowded": (desk, lambda _world: forget_crowded(runs.a_run(), "trigram", only_new=False)),
    "update_groups": (runs.loose, lambda _world: update_groups()),
    "store_rows": (desk, runs.judge("template")),
    "update_clusters": (built, lambda _world: update_clusters(only_changed=True)),
    "rebuild_clusters": (desk, lambda _world: rebuild_clusters()),
    "update_questions": (desk, lambda _world: update_questions(None)),
    "update_version_implications": (reviews.versions, lambda _world: update_version_implications()),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_waits_for_the_lock_before_it_writes(name: str) -> None:
    prepare, writer = WRITERS[name]
    editors()
    if not DetectionRun.objects.exists():
        make_run()
    world = prepare()
    with lanes() as (lane, _):
        with transaction.atomic():
            lock_review()
            assert waits_before_it_writes(lane, lambda: writer(world))
        lane.run_to_its_end()
        assert not isinstance(lane.result, BaseException), lane.result
