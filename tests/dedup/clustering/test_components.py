"""Clusters from edges and decisions, checked against an independent oracle on random graphs."""

import random

import pytest

from dedup.clustering.components import Component, Edge, cluster


def members(edges: list[Edge], **links: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    return [component.articles for component in cluster(edges, **links).components]


def test_edges_join_into_components() -> None:
    assert members([Edge(1, 2, 0.9), Edge(2, 5, 0.7), Edge(8, 9, 1.0)]) == [(1, 2, 5), (8, 9)]


def test_the_lowest_score_is_that_of_the_weakest_edge_needed() -> None:
    edges = [Edge(1, 2, 0.9), Edge(2, 3, 0.8), Edge(1, 3, 0.4)]
    assert cluster(edges).components == [Component((1, 2, 3), 0.8, confirmed=False)]


def test_a_rejected_pair_is_not_joined() -> None:
    assert members([Edge(1, 2, 1.0)], cannot=[(1, 2)]) == []


def test_the_weakest_edge_of_a_chain_gives_way_to_a_cannot_link() -> None:
    chain = [Edge(1, 2, 0.9), Edge(2, 3, 0.6), Edge(3, 4, 0.8)]
    assert members(chain, cannot=[(1, 4)]) == [(1, 2), (3, 4)]


def test_must_links_join_without_any_edge_and_are_confirmed() -> None:
    assert cluster([], must=[(1, 2), (2, 3)]).components == [Component((1, 2, 3), 1.0, confirmed=True)]


def test_a_cluster_is_not_confirmed_while_one_article_depends_on_an_edge() -> None:
    assert cluster([Edge(2, 3, 0.9)], must=[(1, 2)]).components == [Component((1, 2, 3), 0.9, confirmed=False)]


def test_two_confirmed_groups_joined_by_an_edge_are_not_one_confirmed_cluster() -> None:
    [component] = cluster([Edge(2, 3, 0.9)], must=[(1, 2), (3, 4)]).components
    assert component == Component((1, 2, 3, 4), 0.9, confirmed=False)


def test_a_contradiction_is_reported_and_the_must_links_hold() -> None:
    result = cluster([], must=[(1, 2), (2, 3)], cannot=[(1, 3)])
    assert [component.articles for component in result.components] == [(1, 2, 3)]
    assert result.contradictions == [(1, 3)]


def test_a_cannot_link_applies_to_whole_must_link_groups() -> None:
    assert members([Edge(2, 3, 1.0)], must=[(1, 2), (3, 4)], cannot=[(1, 4)]) == [(1, 2), (3, 4)]


def test_a_chain_does_not_join_groups_that_are_mostly_apart() -> None:
    """Two pairs of copies joined by one weak edge, while three other pairs between them are templates."""
    edges = [Edge(1, 2, 0.99), Edge(3, 4, 0.98), Edge(2, 3, 0.55)]
    assert members(edges, apart=[(1, 3), (1, 4)]) == [(1, 2), (3, 4)]
    assert members(edges, apart=[(1, 3)]) == [(1, 2, 3, 4)]
    assert members([*edges, Edge(1, 4, 0.6)], apart=[(1, 3), (2, 4)]) == [(1, 2, 3, 4)]


def test_decisions_outweigh_pairs_found_apart() -> None:
    assert members([], must=[(1, 2), (2, 3)], apart=[(1, 3), (1, 2)]) == [(1, 2, 3)]


def test_a_series_whose_consecutive_articles_are_similar_does_not_become_one_cluster() -> None:
    chain = [Edge(day, day + 1, 0.6) for day in range(1, 30)]
    apart = [(one, other) for one in range(1, 31) for other in range(one + 2, min(one + 5, 31))]
    assert max(map(len, members(chain, apart=apart))) <= 3


def test_the_order_of_the_edges_does_not_matter() -> None:
    edges = [Edge(1, 2, 0.9), Edge(2, 3, 0.9), Edge(3, 4, 0.7), Edge(5, 6, 0.6), Edge(4, 5, 0.6)]
    expected = cluster(edges, cannot=[(1, 6)])
    for seed in range(20):
        shuffled = edges[:]
        random.Random(seed).shuffle(shuffled)
        assert cluster(shuffled, cannot=[(1, 6)]) == expected


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
    joined = {article: each for each in members(edges, cannot=cannot) for article in each}
    for edge in edges:  # every edge that was left out would have broken a cannot-link
        one, other = joined.get(edge.left, (edge.left,)), joined.get(edge.right, (edge.right,))
        if one != other:
            assert any(set(pair) <= {*one, *other} for pair in cannot)


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
            frontier = {other for each in frontier for other in neighbours[each]} - group
        if start not in seen:
            found.append(tuple(sorted(group)))
        seen |= group
    return found
