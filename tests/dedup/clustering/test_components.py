"""Clusters from edges and decisions, and what holds one together, checked against independent oracles."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.detection.clustering.components import (
    LEAST_IN_COMMON,
    Apart,
    Component,
    Edge,
    Rank,
    Tie,
    cluster,
    parts_of,
    strongest_tree,
    weakest_bridge,
)


def members(edges: list[Edge], **links: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    return [component.articles for component in cluster(edges, **links).components]


CHAIN = [Edge(1, 2, 0.9), Edge(2, 3, 0.6), Edge(3, 4, 0.8)]
# Two pairs of copies, joined by one weak edge.
WEAKLY_JOINED = [Edge(1, 2, 0.99), Edge(3, 4, 0.98), Edge(2, 3, 0.6)]
DOUBTFUL = [Edge(1, 2, 0.95), Edge(2, 3, 0.6)]
CERTAIN = [Edge(1, 2, 0.95), Edge(2, 3, 0.95)]
STAY = [Edge(1, 2, 1.0, Rank.DECISION), Edge(2, 3, 1.0, Rank.DECISION)]
NEVER = [Apart(1, 3, 0.0), Apart(1, 2, 0.0)]


@pytest.mark.parametrize(
    ("edges", "links", "expected"),
    [
        ([Edge(1, 2, 0.9), Edge(2, 5, 0.7), Edge(8, 9, 1.0)], {}, [(1, 2, 5), (8, 9)]),
        # A rejected pair is not joined, and the weakest edge of a chain gives way to a cannot-link.
        ([Edge(1, 2, 1.0)], {"cannot": [(1, 2)]}, []),
        (CHAIN, {"cannot": [(1, 4)]}, [(1, 2), (3, 4)]),
        # A cannot-link applies to whole groups of must-links.
        ([Edge(2, 3, 1.0)], {"must": [(1, 2), (3, 4)], "cannot": [(1, 4)]}, [(1, 2), (3, 4)]),
        # A chain does not join groups that are mostly apart, because other pairs between them are templates.
        (WEAKLY_JOINED, {"apart": [Apart(1, 3, 0.3), Apart(1, 4, 0.3)]}, [(1, 2), (3, 4)]),
        (WEAKLY_JOINED, {"apart": [Apart(1, 3, 0.45), Apart(1, 4, 0.45)]}, [(1, 2, 3, 4)]),
        ([*WEAKLY_JOINED, Edge(1, 4, 0.6)], {"apart": [Apart(1, 3, 0.45), Apart(2, 4, 0.4)]}, [(1, 2, 3, 4)]),
        # One certain verdict against outweighs one doubtful verdict for; with none against, any edge joins.
        (DOUBTFUL, {"apart": [Apart(1, 3, 0.39)]}, [(1, 2)]),
        (DOUBTFUL, {"apart": [Apart(1, 3, 0.41)]}, [(1, 2, 3)]),
        ([Edge(1, 2, 0.3, Rank.VERSION)], {"apart": [Apart(1, 3, 0.0)]}, [(1, 2)]),
        # No verdict is certain enough to outweigh several.
        (CERTAIN, {"apart": NEVER[:1]}, [(1, 2)]),
        ([*CERTAIN, Edge(1, 4, 0.9), Edge(3, 4, 0.9)], {"apart": NEVER[:1]}, [(1, 2, 3, 4)]),
        # Decisions outweigh pairs found apart.
        ([], {"must": [(1, 2), (2, 3)], "apart": NEVER}, [(1, 2, 3)]),
        (STAY, {"apart": NEVER}, [(1, 2, 3)]),
        (STAY, {"apart": NEVER, "cannot": [(2, 3)]}, [(1, 2)]),
    ],
)
def test_what_is_joined(edges, links, expected) -> None:
    assert members(edges, **links) == expected


@pytest.mark.parametrize(
    ("edges", "must", "lowest_score", "confirmed"),
    [
        # The lowest score is that of the weakest edge needed.
        ([Edge(1, 2, 0.9), Edge(2, 3, 0.8), Edge(1, 3, 0.4)], [], 0.8, False),
        # Must-links join without any edge and confirm; what depends on an edge is not confirmed.
        ([], [(1, 2), (2, 3)], 1.0, True),
        ([Edge(2, 3, 0.9)], [(1, 2)], 0.9, False),
        ([Edge(2, 3, 0.9)], [(1, 2), (3, 4)], 0.9, False),
    ],
)
def test_what_is_said_of_a_component(edges, must, lowest_score, confirmed) -> None:
    articles = tuple(range(1, 5 if (3, 4) in must else 4))
    assert cluster(edges, must).components == [Component(articles, lowest_score, confirmed)]


def test_a_series_whose_consecutive_articles_are_similar_does_not_become_one_cluster() -> None:
    chain = [Edge(day, day + 1, 0.6) for day in range(1, 30)]
    apart = [Apart(one, other, 0.1) for one in range(1, 31) for other in range(one + 2, min(one + 5, 31))]
    assert max(map(len, members(chain, apart=apart))) <= 3


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs_match_plain_search_and_keep_every_cannot_link(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    articles = range(1, 40)
    edges = [Edge(*sorted(dice.sample(articles, 2)), round(dice.random(), 2)) for _ in range(45)]
    assert members(edges) == reachable(edges)
    cannot = sorted({tuple(sorted(dice.sample(articles, 2))) for _ in range(12)})
    for component in members(edges, cannot=cannot):
        assert not [pair for pair in cannot if set(pair) <= set(component)]
    joined = {article: member for member in members(edges, cannot=cannot) for article in member}
    for edge in edges:  # every edge that was left out would have broken a cannot-link
        one, other = joined.get(edge.left, (edge.left,)), joined.get(edge.right, (edge.right,))
        if one != other:
            assert any(set(pair) <= {*one, *other} for pair in cannot)


def edge_of(texts: dict[int, set[int]], left: int, right: int, score: float = 0.9) -> Edge:
    """Return the edge of two articles whose texts are these sets of words."""
    common = len(texts[left] & texts[right])
    return Edge(left, right, score, Rank.DUPLICATE, common / len(texts[left]), common / len(texts[right]))


def spans(*ends: tuple[int, int]) -> dict[int, set[int]]:
    """Return texts, numbered from 1: each has the words of a long text from the first to before the second."""
    return {number: set(range(*bounds)) for number, bounds in enumerate(ends, start=1)}


CROPS = spans((0, 50), (0, 100), (20, 70))
PARTS = spans((0, 30), (0, 100), (60, 100))


@pytest.mark.parametrize(
    ("texts", "scores", "links", "expected"),
    [
        # An article that contains two others joins the more probable one, and so does a short text in two long ones.
        (PARTS, {(1, 2): 0.96, (2, 3): 0.97}, {}, [(2, 3)]),
        (PARTS, {(1, 2): 0.98, (2, 3): 0.97}, {}, [(1, 2)]),
        (spans((0, 100), (90, 100), (90, 190)), {(1, 2): 0.9, (2, 3): 0.8}, {}, [(1, 2)]),
        # Two crops that an edge joins stay with the whole.
        (CROPS, {(1, 2): 0.9, (2, 3): 0.9}, {}, [(1, 2)]),
        (CROPS, {(1, 2): 0.9, (2, 3): 0.9, (1, 3): 0.6}, {}, [(1, 2, 3)]),
        # Each has three quarters of the whole, so they share at least half of it, two thirds of either: no edge needed.
        (spans((0, 75), (0, 100), (25, 100)), {(1, 2): 0.9, (2, 3): 0.9}, {}, [(1, 2, 3)]),
        # A crop of a crop belongs to the whole.
        (spans((0, 100), (0, 50), (0, 20)), {(1, 2): 0.9, (2, 3): 0.9}, {}, [(1, 2, 3)]),
        # Parts 1 and 2; the whole twice, 3 and 4, each with an edge to one part: copies of the whole bridge no parts.
        (spans((0, 40), (60, 100), (0, 100), (0, 100)), {(1, 3): 0.97, (2, 4): 0.96, (3, 4): 0.5}, {}, [(1, 3, 4)]),
        # Copies of a part join it when the whole has gone to the other part.
        (
            spans((0, 40), (60, 100), (0, 100), (60, 100), (60, 99)),
            {(1, 3): 0.99, **dict.fromkeys(combinations((2, 3, 4, 5), 2), 0.9)},
            {},
            [(1, 3), (2, 4, 5)],
        ),
        # An edition edited in steps is one cluster.
        (
            spans(*((start, start + 100) for start in range(10, 80, 10))),
            {(step, step + 1): 0.9 for step in range(1, 7)},
            {},
            [(1, 2, 3, 4, 5, 6, 7)],
        ),
        # Near copies join before a more probable part.
        (spans((0, 40), (0, 100), (0, 95)), {(1, 2): 0.99, (2, 3): 0.6}, {"cannot": [(1, 3)]}, [(2, 3)]),
        # Decisions join what an article contains.
        (PARTS, {(1, 2): 0.96, (2, 3): 0.97}, {"must": [(1, 2)]}, [(1, 2, 3)]),
        (PARTS, {(1, 2): 0.96, (2, 3): 0.97}, {"must": [(1, 3)]}, [(1, 2, 3)]),
        (PARTS, {(1, 2): 0.96, (2, 3): 0.97}, {"must": [(1, 2)], "cannot": [(1, 3)]}, [(1, 2)]),
    ],
)
def test_texts_of_which_one_contains_the_other(texts, scores, links, expected) -> None:
    assert members([edge_of(texts, *ends, score) for ends, score in scores.items()], **links) == expected


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[int, set[int]], list[Edge]]:
    """Draw texts cut from one long text, and edges between some that share most of the shorter one."""
    cuts = draw(st.lists(st.tuples(st.integers(0, 20), st.integers(2, 20)), min_size=2, max_size=9))
    texts = spans(*((start, start + length) for start, length in cuts))
    likely = [
        ends
        for ends in combinations(texts, 2)
        if len(texts[ends[0]] & texts[ends[1]]) >= 0.6 * min(len(texts[end]) for end in ends)
    ]
    chosen = draw(st.lists(st.sampled_from(likely), unique=True)) if likely else []
    scores = draw(st.lists(st.sampled_from([0.5, 0.7, 0.9]), min_size=len(chosen), max_size=len(chosen)))
    return texts, [edge_of(texts, *ends, score) for ends, score in zip(chosen, scores, strict=True)]


ENDS = st.sampled_from(list(combinations(range(1, 10), 2)))
SOME_PAIRS = st.lists(ENDS, unique=True, max_size=4)
SOME_APART = st.dictionaries(ENDS, st.sampled_from([0.0, 0.1, 0.3, 0.5]), max_size=6).map(
    lambda scores: [Apart(*ends, score) for ends, score in scores.items()]
)


@given(graphs(), SOME_PAIRS, SOME_PAIRS, SOME_APART, st.randoms(use_true_random=False))
def test_no_order_matters_and_decisions_hold(graph, must, cannot, apart, dice) -> None:
    _, edges = graph
    found = cluster(edges, must, cannot, apart)
    assert cluster(*(dice.sample(pairs, len(pairs)) for pairs in (edges, must, cannot, apart))) == found
    of = {article: component.articles for component in found.components for article in component.articles}
    assert all(right in of[left] for left, right in must)
    inside = [ends for ends in cannot if ends[1] in of.get(ends[0], ())]
    assert inside == sorted(inside, key=cannot.index)
    assert sorted(inside) == found.contradictions


@given(graphs(), SOME_PAIRS, SOME_APART)
def test_parts_that_nothing_connects_are_clustered_as_if_alone(graph, must, apart) -> None:
    _, edges = graph
    whole = cluster(edges, must, apart=apart).components
    alone = []
    for group in reachable([*edges, *(Edge(*ends, 1.0) for ends in must)]):
        inside = [[pair for pair in pairs if {*pair[:2]} <= {*group}] for pairs in (edges, must, apart)]
        alone += cluster(inside[0], inside[1], apart=inside[2]).components
    assert sorted(alone, key=lambda component: component.articles) == whole


@given(graphs())
def test_no_cluster_is_held_together_by_an_article_that_contains_strangers(graph) -> None:
    """Without near copies, every two members have an edge, or share as much as LEAST_IN_COMMON promises."""
    texts, edges = graph
    edges = [edge for edge in edges if not edge.is_near]
    joined = {edge[:2] for edge in edges}
    for component in members(edges):
        for one, other in combinations(component, 2):
            common = len(texts[one] & texts[other]) / min(len(texts[one]), len(texts[other]))
            assert (one, other) in joined or common >= LEAST_IN_COMMON - 1e-9


def reachable(edges: list[Edge]) -> list[tuple[int, ...]]:
    neighbours: dict[int, set[int]] = {}
    for left, right, *_ in edges:
        neighbours.setdefault(left, set()).add(right)
        neighbours.setdefault(right, set()).add(left)
    found, seen = [], set()
    for start in sorted(neighbours):
        group, frontier = set(), {start}
        while frontier:
            group |= frontier
            frontier = {other for node in frontier for other in neighbours[node]} - group
        if start not in seen:
            found.append(tuple(sorted(group)))
        seen |= group
    return found


def unchecked(edges: list[Edge], groups: dict[int, int], apart: tuple[Apart, ...] = ()) -> list[tuple[int, int]]:
    return list(cluster(edges, apart=apart, groups=groups).unchecked)


def in_one_group(articles: int) -> dict[int, int]:
    return dict.fromkeys(range(1, articles + 1), 7)


def edited(left: int, right: int, score: float) -> Edge:
    return Edge(left, right, score, left_matched=0.9, right_matched=0.9)


def test_outside_dense_groups_no_further_pair_is_asked_for() -> None:
    edges = [edited(1, 2, 0.9), edited(2, 3, 0.9)]
    assert unchecked(edges, {}) == unchecked(edges, {1: 7, 2: 8, 3: 9}) == []


def test_before_an_article_joins_a_dense_group_three_of_its_pairs_are_compared() -> None:
    edges = [edited(1, 2, 0.99), edited(2, 3, 0.98), edited(3, 4, 0.97), edited(4, 5, 0.96)]
    assert unchecked(edges, in_one_group(3)) == [(1, 3)]
    asked = unchecked(edges, in_one_group(5))
    assert len([pair for pair in asked if 5 in pair]) == 2
    assert not {edge[:2] for edge in edges} & set(asked)


def test_before_two_parts_of_a_dense_group_join_six_pairs_are_compared_spread_over_both() -> None:
    parts = [
        edited(left, right, 0.99) for part in ((1, 2, 3, 4), (5, 6, 7, 8)) for left, right in combinations(part, 2)
    ]
    asked = unchecked([*parts, edited(4, 5, 0.9)], in_one_group(8))
    assert len(asked) == 5
    assert all(left <= 4 < right for left, right in asked)
    assert min(len({left for left, _ in asked}), len({right for _, right in asked})) >= 3


def test_pairs_that_keep_parts_of_a_dense_group_apart_are_checked_too() -> None:
    edges = [edited(1, 2, 0.99), edited(3, 4, 0.99), edited(2, 3, 0.9)]
    assert unchecked(edges, in_one_group(4), (Apart(1, 4, 0.01),)) == [(1, 3), (2, 4)]
    compared = (Apart(1, 4, 0.01), Apart(1, 3, 0.01), Apart(2, 4, 0.01))
    assert unchecked(edges, in_one_group(4), compared) == []


def test_equal_texts_of_a_dense_group_are_not_checked() -> None:
    assert unchecked([Edge(1, copy, 0.99) for copy in range(2, 9)], in_one_group(8)) == []


def test_an_article_that_is_left_out_in_doubt_meets_more_of_its_dense_group() -> None:
    edges = [Edge(left, right, 0.99) for left, right in combinations((1, 2, 3), 2)]
    asked = unchecked(edges, in_one_group(4), (Apart(1, 4, 0.69),))
    assert asked == [(2, 4), (3, 4)]
    assert unchecked(edges, in_one_group(4), (Apart(1, 4, 0.2),)) == []


# ---- what holds a cluster together -----------------------------------------------------------------


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
