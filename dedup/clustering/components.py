"""Clusters from pairs: connected components that respect editors' decisions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Neighbours = dict[int, set[int]]


class Edge(NamedTuple):
    """A pair of article ids that its verdict joins, and its score in 0..1. Lower ranks join first."""

    left: int
    right: int
    score: float
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Component:
    """The articles of one cluster, ascending, and the score of the weakest edge needed to join them."""

    articles: tuple[int, ...]
    lowest_score: float
    confirmed: bool  # editors' decisions alone connect all articles


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters, ordered by their first article, and the cannot-links that must-links contradict."""

    components: list[Component]
    contradictions: list[tuple[int, int]]


class _Forest:
    """Disjoint sets of articles (Tarjan 1975), each with its members."""

    def __init__(self) -> None:
        self.parent: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}
        self.lowest: dict[int, float] = {}

    def root(self, article: int) -> int:
        if article not in self.parent:
            self.parent[article] = article
            self.members[article] = [article]
        while self.parent[article] != article:
            self.parent[article] = self.parent[self.parent[article]]
            article = self.parent[article]
        return article

    def between(self, left: int, right: int, neighbours: Neighbours) -> int:
        """Return how many pairs of neighbours connect the sets of these two roots."""
        fewer, other = sorted((left, right), key=lambda root: len(self.members[root]))
        near = (each for article in self.members[fewer] for each in neighbours.get(article, ()))
        return sum(self.root(each) == other for each in near if each in self.parent)

    def join(self, left: int, right: int, score: float) -> None:
        """Join the sets of two different roots under the one with more members."""
        gone, kept = sorted((left, right), key=lambda root: (len(self.members[root]), -root))
        self.parent[gone] = kept
        self.members[kept] += self.members.pop(gone)
        self.lowest[kept] = min(self.lowest.get(kept, 1.0), self.lowest.pop(gone, 1.0), score)


def cluster(
    edges: Sequence[Edge],
    must: Sequence[tuple[int, int]] = (),
    cannot: Sequence[tuple[int, int]] = (),
    apart: Sequence[tuple[int, int]] = (),
) -> Clustering:
    """Return the clusters of two or more articles.

    Must-links join first, in order; then edges by rank, the strongest first (equal scores by id). An edge is left out
    if it would bring two cannot-linked articles into one cluster, so the weakest edge of a chain gives way. It is
    also left out between two groups that have more pairs `apart` than edges: a chain must not absorb a series.
    A must-link joins its articles even if that breaks cannot-links, which are reported as contradictions.
    """
    forest = _Forest()
    for left, right in must:
        first, second = forest.root(left), forest.root(right)
        if first != second:
            forest.join(first, second, 1.0)
    confirmed = {article: forest.root(article) for article in list(forest.parent)}
    contradictions = sorted({pair for pair in cannot if forest.root(pair[0]) == forest.root(pair[1])})
    barred, parted, tied = _neighbours(cannot), _neighbours(apart), _neighbours(edge[:2] for edge in edges)
    for edge in sorted(edges, key=lambda edge: (edge.rank, -edge.score, edge.left, edge.right)):
        first, second = forest.root(edge.left), forest.root(edge.right)
        if first == second or forest.between(first, second, barred):
            continue
        against = forest.between(first, second, parted)
        if not against or against <= forest.between(first, second, tied):
            forest.join(first, second, edge.score)
    return Clustering(_components(forest, confirmed), contradictions)


def _neighbours(pairs: Iterable[tuple[int, int]]) -> Neighbours:
    neighbours: Neighbours = {}
    for left, right in pairs:
        neighbours.setdefault(left, set()).add(right)
        neighbours.setdefault(right, set()).add(left)
    return neighbours


def _components(forest: _Forest, confirmed: dict[int, int]) -> list[Component]:
    found = [
        Component(
            articles=tuple(sorted(articles)),
            lowest_score=forest.lowest[root],
            # All are in one group of must-links.
            confirmed=len({confirmed.get(article, -article) for article in articles}) == 1,
        )
        for root, articles in forest.members.items()
        if len(articles) > 1
    ]
    return sorted(found, key=lambda component: component.articles)
