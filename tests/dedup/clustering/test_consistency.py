"""Which answers of a batch contradict decisions, against brute force."""

import random

from dedup.detection.clustering.consistency import Joins, contradictions_of_joining, contradictions_of_parting, joins


def brute_force(items: list[tuple[int, ...]], group_of: dict[int, int], apart: set[tuple[int, int]]) -> set[int]:
    """Join item by item into lists of groups, and look whether a list has two that must stay apart."""
    every = {group_of.get(member, member) for item in items for member in item} | {
        end for pair in apart for end in pair
    }
    parts = [{member} for member in every]
    found = set()
    for place, item in enumerate(items):
        wanted = {group_of.get(member, member) for member in item}
        touched = [part for part in parts if part & wanted]
        joined = set().union(*touched)
        if any(one in joined and other in joined for one, other in apart):
            found.add(place)
        else:
            parts = [part for part in parts if not part & wanted] + [joined]
    return found


def test_the_same_items_contradict_as_by_brute_force() -> None:
    for seed in range(200):
        dice = random.Random(seed)
        group_of = {article: article - article % 3 for article in range(3, 12) if dice.random() < 0.6}
        items = [tuple(sorted(dice.sample(range(1, 20), dice.choice((2, 2, 3))))) for _ in range(15)]
        names = sorted({group_of.get(number, number) for number in range(1, 20)})
        apart = {tuple(sorted(dice.sample(names, 2))) for _ in range(6)}
        assert contradictions_of_joining(items, group_of, apart) == brute_force(items, group_of, apart), seed
    assert contradictions_of_joining([(1,), (1, 2), (2, 3), (1, 3)], {}, [(1, 3)]) == {2, 3}


def test_only_pairs_of_one_group_cannot_be_parted() -> None:
    assert contradictions_of_parting([(1, 2), (1, 3), (4, 5)], {1: 1, 2: 1, 3: 3, 4: 9}) == {0}
    assert contradictions_of_parting([(1, 2), (2, 3), (3, 1)], {3: 3, 1: 3}) == {2}


def test_what_joining_does_to_clusters_matches_a_plain_search() -> None:
    for seed in range(100):
        dice = random.Random(seed)
        cluster_of = {article: dice.randrange(1, 7) for article in range(1, 14) if dice.random() < 0.6}
        items = [tuple(sorted(dice.sample(range(1, 14), dice.choice((1, 2, 3))))) for _ in range(dice.randrange(6))]
        named = [
            {("cluster", cluster_of[member]) if member in cluster_of else member for member in item} for item in items
        ]
        parts: list[set[object]] = []
        for item in named:
            touched = [part for part in parts if part & item]
            parts = [part for part in parts if not part & item] + [item.union(*touched)]
        kinds = [(sum(isinstance(member, tuple) for member in part), len(part)) for part in parts]
        assert joins(items, cluster_of) == Joins(
            new=sum(clusters == 0 for clusters, _ in kinds),
            grown=sum(clusters == 1 and size > 1 for clusters, size in kinds),
            joined=sum(clusters for clusters, _ in kinds if clusters > 1),
            into=sum(clusters > 1 for clusters, _ in kinds),
        ), seed
