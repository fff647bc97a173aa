"""What holds a cluster together, held against a search through all cuts; and which article is kept."""

from __future__ import annotations

import datetime
import random
from itertools import combinations

import pytest

from dedup.detection.clustering.components import Tie, parts_of, strongest_tree, weakest_bridge
from dedup.detection.clustering.policies import Member, kept_by

DAY = datetime.date(2026, 3, 2)


def strongest_across(ties: list[Tie], part: set[int]) -> float:
    """Return the strength of the strongest tie that leaves a part; -1 if none does."""
    return max((tie.strength for tie in ties if (tie.left in part) != (tie.right in part)), default=-1.0)


@pytest.mark.parametrize("seed", range(20))
def test_no_cut_is_weaker_than_the_weakest_bridge(seed: int) -> None:
    dice = random.Random(seed)
    nodes = range(1, dice.randint(3, 8))
    ties = [Tie(*ends, round(dice.random(), 3)) for ends in combinations(nodes, 2) if dice.random() < 0.7]
    cuts = [{1, *others} for size in range(len(nodes) - 1) for others in combinations(nodes[1:], size)]
    weakest = min(strongest_across(ties, cut) for cut in cuts)

    bridge = weakest_bridge(nodes, ties)
    if weakest < 0:
        assert bridge is None
        return
    assert bridge is not None
    one, other = bridge.parts
    assert (bridge.tie.left in one, bridge.tie.right in other) == (True, True)
    assert sorted(one + other) == list(nodes)
    assert bridge.tie.strength == strongest_across(ties, set(one)) == weakest


def test_decisions_are_no_weak_bridge_and_parts_fall_apart_at_the_weakest_ties() -> None:
    ties = [Tie(1, 2, 0.9), Tie(2, 3, 0.8), Tie(1, 3, 0.1), Tie(3, 4, 0.0, decided=True), Tie(4, 5, 0.6)]

    assert strongest_tree(ties) == [ties[3], ties[0], ties[1], ties[4]]
    assert parts_of(range(1, 7), ties, at_most=1) == [(1, 2, 3, 4, 5), (6,)]
    assert parts_of(range(1, 7), ties, at_most=4) == [(1, 2), (3, 4), (5,), (6,)]
    assert weakest_bridge([3, 4], [ties[3]]) is None
    assert weakest_bridge([1, 2, 9], ties[:1]) is None


def test_the_rule_chooses_the_article_to_keep() -> None:
    noon = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.UTC)
    own = Member(1, 1, DAY, None, characters=900)
    early = Member(2, 1, DAY - datetime.timedelta(days=1), None, characters=300)
    wire = Member(3, 2, DAY, noon, agency="AFP", characters=400)
    copy = Member(4, 1, DAY, noon - datetime.timedelta(hours=1), agency="AFP", characters=900)
    every = [own, early, wire, copy]

    assert [kept_by(rule, every) for rule in ("earliest", "agency", "longest")] == [2, 4, 1]
    assert kept_by("agency", [own, early]) == 2
