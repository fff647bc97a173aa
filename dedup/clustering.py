"""Clusters from pairs: connected components that respect what editors decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Edge(NamedTuple):
    """A pair of article ids that evidence holds together, and its score in 0..1."""

    left: int
    right: int
    score: float


@dataclass(frozen=True, slots=True)
class Component:
    """The articles of one cluster, ascending, and the score of the weakest edge that was needed to join them."""

    articles: tuple[int, ...]
    lowest_score: float
    confirmed: bool  # every article is tied to every other by editors' decisions alone


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters, ordered by their first article, and the cannot-links that must-links contradict."""

    components: list[Component]
    contradictions: list[tuple[int, int]]


class _Forest:
    """Disjoint sets of articles (Tarjan 1975), each with the articles that must not join it."""

    def __init__(self, cannot: Iterable[tuple[int, int]]) -> None:
        self.parent: dict[int, int] = {}
        self.barred: dict[int, set[int]] = {}
        self.lowest: dict[int, float] = {}
        for left, right in cannot:
            self.barred.setdefault(left, set()).add(right)
            self.barred.setdefault(right, set()).add(left)

    def root(self, article: int) -> int:
        self.parent.setdefault(article, article)
        while self.parent[article] != article:
            self.parent[article] = self.parent[self.parent[article]]
            article = self.parent[article]
        return article

    def bars(self, left: int, right: int) -> bool:
        """Return whether a cannot-link stands between the sets of these roots."""
        fewer, other = sorted((left, right), key=lambda root: len(self.barred.get(root, ())))
        return any(self.root(article) == other for article in self.barred.get(fewer, ()))

    def join(self, left: int, right: int, score: float) -> None:
        """Join the sets of two different roots under the smaller article."""
        kept, gone = min(left, right), max(left, right)
        self.parent[gone] = kept
        self.barred.setdefault(kept, set()).update(self.barred.pop(gone, ()))
        self.lowest[kept] = min(self.lowest.get(kept, 1.0), self.lowest.pop(gone, 1.0), score)


def cluster(
    edges: Iterable[Edge], must: Sequence[tuple[int, int]] = (), cannot: Sequence[tuple[int, int]] = ()
) -> Clustering:
    """Return the clusters of two articles and more.

    Must-links join first, in order; then edges, the strongest first (ties by ids). An edge that would bring
    two cannot-linked articles into one cluster is left out, so the weakest tie of the chain gives way. A
    must-link that would do so joins all the same, and the cannot-links it breaks are reported.
    """
    forest = _Forest(cannot)
    for left, right in must:
        first, second = forest.root(left), forest.root(right)
        if first != second:
            forest.join(first, second, 1.0)
    confirmed = {article: forest.root(article) for article in list(forest.parent)}
    contradictions = sorted({pair for pair in cannot if forest.root(pair[0]) == forest.root(pair[1])})
    for edge in sorted(edges, key=lambda edge: (-edge.score, edge.left, edge.right)):
        first, second = forest.root(edge.left), forest.root(edge.right)
        if first != second and not forest.bars(first, second):
            forest.join(first, second, edge.score)
    return Clustering(_components(forest, confirmed), contradictions)


def _components(forest: _Forest, confirmed: dict[int, int]) -> list[Component]:
    members: dict[int, list[int]] = {}
    for article in sorted(forest.parent):
        members.setdefault(forest.root(article), []).append(article)
    return [
        Component(
            articles=tuple(articles),
            lowest_score=forest.lowest[root],
            # One group of must-links that holds them all.
            confirmed=len({confirmed.get(article, -article) for article in articles}) == 1,
        )
        for root, articles in members.items()
        if len(articles) > 1
    ]
