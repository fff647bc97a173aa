"""Which of many answers contradict the decisions in force, and what the others would do to the clusters. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from dedup.detection.clustering.components import neighbours_in
from dedup.detection.kernels.disjoint_sets import DisjointSets

Articles = tuple[int, ...]


class Joins(NamedTuple):
    """What confirming would do to clusters."""

    new: int  # clusters of articles that are in none
    grown: int  # clusters that get more articles
    joined: int  # clusters that become one with others
    into: int  # the clusters that these become


class _Groups:
    """Disjoint groups of articles, and which of them must stay apart; everything is named by article or group ids."""

    def __init__(self, group_of: Mapping[int, int], apart: Iterable[tuple[int, int]]) -> None:
        self._group_of = group_of
        self._sets = DisjointSets()
        self._enemies = neighbours_in(apart)

    def roots(self, articles: Articles) -> set[int]:
        return {self._sets.root(self._group_of.get(article, article)) for article in articles}

    def are_apart(self, roots: Collection[int]) -> bool:
        return any(not self._enemies.get(root, set()).isdisjoint(roots) for root in roots)

    def join(self, roots: Collection[int]) -> None:
        """Make one group of these; of one alone, nothing changes."""
        first, *others = sorted(roots)
        for other in others:
            enemies = self._enemies.pop(other, set())
            for enemy in enemies:
                self._enemies[enemy].discard(other)
                self._enemies[enemy].add(first)
            if enemies:
                self._enemies.setdefault(first, set()).update(enemies)
            self._sets.unite(first, other)


def contradictions_of_joining(
    items: Sequence[Articles], group_of: Mapping[int, int], apart: Iterable[tuple[int, int]]
) -> set[int]:
    """Return the places of the items that must not be joined, in order: each joins its articles unless it is one.

    `group_of` names the group of articles that decisions in force tie to each other; an article that is in none is a
    group of its own. `apart` has the groups that must stay apart, two by two. An item contradicts them if it, with the
    items joined before it, would bring together two such groups.
    """
    groups = _Groups(group_of, apart)
    found = set()
    for place, articles in enumerate(items):
        roots = groups.roots(articles)
        if groups.are_apart(roots):
            found.add(place)
        else:
            groups.join(roots)
    return found


def contradictions_of_parting(items: Sequence[Articles], group_of: Mapping[int, int]) -> set[int]:
    """Return the places of the pairs that must not be parted: both articles are in one group."""
    return {
        place for place, (left, right) in enumerate(items) if left in group_of and group_of[left] == group_of.get(right)
    }


def joins(items: Iterable[Articles], cluster_of: Mapping[int, int]) -> Joins:
    """Return what joining the articles of each item would do to the clusters that articles are in now."""
    # Clusters have negative numbers here, so that none is taken for an article.
    groups = _Groups({article: -cluster for article, cluster in cluster_of.items()}, ())
    named: set[int] = set()
    for articles in items:
        named |= {-cluster_of[article] if article in cluster_of else article for article in articles}
        groups.join(groups.roots(articles))
    parts: dict[int, list[int]] = {}
    for member in named:
        (root,) = groups.roots((member,))
        parts.setdefault(root, []).append(member)
    kinds = [(sum(member < 0 for member in part), len(part)) for part in parts.values()]
    several = [clusters for clusters, _ in kinds if clusters > 1]
    return Joins(
        new=sum(clusters == 0 for clusters, _ in kinds),
        grown=sum(clusters == 1 and size > 1 for clusters, size in kinds),
        joined=sum(several),
        into=len(several),
    )
