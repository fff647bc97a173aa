"""Clusters from pairs: connected components that respect editors' decisions; and what holds one together. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import count, islice, product
from math import fsum, gcd, log
from typing import NamedTuple

from dedup.detection.kernels.disjoint_sets import DisjointSets, lowest_connected

Neighbours = dict[int, set[int]]
Weights = dict[int, dict[int, float]]

# Two articles that no edge joins may be in one cluster if they have at least this share of the shorter one in common.
# With less, they are not the same article: a new version of a story repeats up to 60 % of its wording.
LEAST_IN_COMMON = 0.6
# An edge joins near copies if each has this share of the other. Two near copies of a third article then have
# LEAST_IN_COMMON of it in common: each lacks at most a fifth of it.
NEAR = (1 + LEAST_IN_COMMON) / 2
# Before two parts of a dense group join, or an edge between them is left out, at least this many pairs between them are
# compared, if there are so many; half of them for a single article.
PAIRS_BETWEEN = 6
_GOLDEN = 0.618
# A pair that no verdict joins, although it is more likely a duplicate than not, may be the only one of its article.
_LIKELY = 0.5
# No single pair counts as more certain than this, for or against: verdicts can be wrong.
_MOST_CERTAIN = 0.98


class Rank(IntEnum):
    """What joins two articles; lower ranks join first."""

    DECISION = 0  # not outweighed by verdicts
    DUPLICATE = 1
    VERSION = 2


class Edge(NamedTuple):
    """A pair of article ids that its verdict or a decision joins, and its score in 0..1.

    `left_matched` is the share of the left article's words that the right one has, 0..1, and the other way round.
    """

    left: int
    right: int
    score: float
    rank: Rank = Rank.DUPLICATE
    left_matched: float = 1.0
    right_matched: float = 1.0

    @property
    def is_near(self) -> bool:
        """Whether the two are near copies; if not, one of them has much that the other lacks."""
        return min(self.left_matched, self.right_matched) >= NEAR

    @property
    def is_whole(self) -> bool:
        """Whether each has all of the other: the pairs of the one say what those of the other would."""
        return self.left_matched == self.right_matched == 1.0


class Apart(NamedTuple):
    """A pair of article ids that its verdict does not join, and the probability of joining it nevertheless, 0..1."""

    left: int
    right: int
    score: float


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
    unchecked: tuple[tuple[int, int], ...] = ()  # pairs to compare before parts of dense groups join, left < right


class _Forest(DisjointSets):
    """Disjoint sets of articles, each with its members and its editions.

    An edition is a set as it was when `name_editions` was called, named by one of its articles.
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[int, list[int]] = {}
        self.editions: dict[int, list[int]] = {}
        self.lowest: dict[int, float] = {}

    def added(self, article: int) -> None:
        self.members[article] = [article]
        self.editions[article] = [article]

    def touch(self, left: int, right: int, neighbours: Neighbours) -> bool:
        """Return whether neighbours connect the sets of these two roots."""
        if not neighbours:
            return False
        fewer, other = sorted((left, right), key=lambda root: len(self.members[root]))
        near = (neighbour for article in self.members[fewer] for neighbour in neighbours.get(article, ()))
        return any(self.root(neighbour) == other for neighbour in near if neighbour in self.parent)

    def balance(self, left: int, right: int, weights: Weights) -> float:
        """Return the sum of the weights between the sets of these two roots."""
        fewer, other = sorted((left, right), key=lambda root: len(self.members[root]))
        near = (pair for article in self.members[fewer] for pair in weights.get(article, {}).items())
        # An exact sum: its sign must not depend on the order.
        return fsum(weight for neighbour, weight in near if neighbour in self.parent and self.root(neighbour) == other)

    def join(self, left: int, right: int, score: float) -> None:
        """Join the sets of two different roots under the one with more members."""
        gone, kept = sorted((left, right), key=lambda root: (len(self.members[root]), -root))
        self.parent[gone] = kept
        self.members[kept] += self.members.pop(gone)
        self.editions[kept] += self.editions.pop(gone)
        self.lowest[kept] = min(self.lowest.get(kept, 1.0), self.lowest.pop(gone, 1.0), score)

    def name_editions(self) -> dict[int, int]:
        """Make each set an edition; return the edition of each article seen so far."""
        self.editions = {root: [root] for root in self.members}
        return {article: self.root(article) for article in list(self.parent)}


class _Editions:
    """How much of each other's text editions have."""

    def __init__(self, edition_of: dict[int, int], edges: Iterable[Edge]) -> None:
        # The share of the first edition's words that the second one has.
        self._matched: dict[int, dict[int, float]] = {}
        for edge in edges:
            left, right = (edition_of.get(article, article) for article in edge[:2])
            if left != right:
                self._note(left, right, edge.left_matched)
                self._note(right, left, edge.right_matched)

    def _note(self, one: int, other: int, share: float) -> None:
        shares = self._matched.setdefault(one, {})
        shares[other] = max(share, shares.get(other, 0.0))

    def editions_apart(self, some: Iterable[int], others: Sequence[int]) -> tuple[int, int] | None:
        """Return an edition of each group that do not meet, if there are such two.

        Two meet if an edge joins them, or if a third one shows that they have enough in common.
        """
        for one, other in product(some, others):
            of_one, of_other = self._matched.get(one, {}), self._matched.get(other, {})
            between = of_one.keys() & of_other.keys()
            if other not in of_one and all(
                self._least_in_common(one, third, other) < LEAST_IN_COMMON for third in between
            ):
                return one, other
        return None

    def _least_in_common(self, one: int, between: int, other: int) -> float:
        """Return the lowest share of the shorter edition that the two must have in common.

        If one has a share x of the edition between them, and the other a share y, they share at least x + y - 1 of it.
        """
        has_one, has_other = self._matched[between][one], self._matched[between][other]
        common = has_one + has_other - 1
        if common <= 0:
            return 0.0
        # The two editions' lengths follow from what each has of the one between, and it of them.
        return max(common * self._matched[one][between] / has_one, common * self._matched[other][between] / has_other)


class _Joining:
    """Joins sets along edges, unless something speaks against it."""

    def __init__(
        self,
        forest: _Forest,
        edges: Iterable[Edge],
        cannot: Iterable[tuple[int, int]],
        apart: Iterable[Apart],
        groups: Mapping[int, int],
    ) -> None:
        self.unchecked: set[tuple[int, int]] = set()
        self._forest = forest
        self._groups = groups
        self._barred = neighbours_in(cannot)
        self._weights: Weights = {}
        for edge in edges:
            self._weigh(edge.left, edge.right, max(_log_odds(edge.score), 0.0))
        may_join = self._weights.keys() | forest.parent.keys() | groups.keys()
        for pair in apart:
            if pair.left in may_join and pair.right in may_join:
                self._weigh(pair.left, pair.right, min(_log_odds(pair.score), 0.0))

    def _weigh(self, left: int, right: int, weight: float) -> None:
        for one, other in ((left, right), (right, left)):
            weights = self._weights.setdefault(one, {})
            weights[other] = weights.get(other, 0.0) + weight

    def join(self, edge: Edge, editions: _Editions | None = None) -> None:
        """Join the sets of both ends; given editions, only if each of the one set meets each of the other."""
        forest = self._forest
        first, second = forest.root(edge.left), forest.root(edge.right)
        if first == second or forest.touch(first, second, self._barred):
            return
        if not edge.is_whole:
            self._check(first, second)
        if edge.rank != Rank.DECISION and forest.balance(first, second, self._weights) < 0:
            return
        if editions and (apart := editions.editions_apart(forest.editions[first], forest.editions[second])):
            # They do not meet, whatever joins later: the next edge need not look again.
            _connect(self._barred, *apart)
            return
        forest.join(first, second, edge.score)

    def check(self, left: int, right: int) -> None:
        """Note which pairs are to be compared between the sets of two articles that a likely duplicate leaves apart."""
        first, second = self._forest.root(left), self._forest.root(right)
        if first != second and not self._forest.touch(first, second, self._barred):
            self._check(first, second)

    def _check(self, first: int, second: int) -> None:
        """Note which pairs are to be compared between two parts of a dense group, spread over both."""
        group = self._groups.get(first)
        if group is None or self._groups.get(second) != group:
            return
        fewer, other = sorted((first, second), key=lambda root: (len(self._forest.members[root]), root))
        some, others = self._forest.members[fewer], self._forest.members[other]
        wanted = PAIRS_BETWEEN if len(some) > 1 else PAIRS_BETWEEN // 2
        every = len(some) * len(others)
        lacking = min(wanted, every) - self._compared(some, other)
        # A stride that has no divisor in common with the number of pairs visits each once, far from the last one.
        stride = next(step for step in count(int(every * _GOLDEN) + 1) if gcd(step, every) == 1)
        for place in range(0, every * stride, stride):
            if lacking <= 0:
                return
            one, another = some[place % every // len(others)], others[place % len(others)]
            pair = (min(one, another), max(one, another))
            if another not in self._weights.get(one, {}) and pair not in self.unchecked:
                self.unchecked.add(pair)
                lacking -= 1

    def _compared(self, some: Iterable[int], other: int) -> int:
        """Return how many pairs of these articles with a set were compared; no more than matter."""
        parent, root = self._forest.parent, self._forest.root
        between = (
            neighbour
            for one in some
            for neighbour in self._weights.get(one, ())
            if neighbour in parent and root(neighbour) == other
        )
        return sum(1 for _ in islice(between, PAIRS_BETWEEN))


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1 - _MOST_CERTAIN), _MOST_CERTAIN)
    return log(bounded / (1 - bounded))


def cluster(
    edges: Sequence[Edge],
    must: Sequence[tuple[int, int]] = (),
    cannot: Sequence[tuple[int, int]] = (),
    apart: Sequence[Apart] = (),
    groups: Mapping[int, int] | None = None,
) -> Clustering:
    """Return the clusters of two or more articles.

    Must-links join first, in order; then near copies, then the other edges, each by rank, the strongest first (equal
    scores by id). A must-link joins its articles even if that breaks cannot-links, which are reported as
    contradictions. An edge is left out if it would bring together

    - two cannot-linked articles: the weakest edge of a chain gives way;
    - two groups between which the pairs `apart` outweigh the edges, by the sum of their log-odds: one wrong verdict
      must not join two groups, nor a chain absorb a series;
    - unless it is between near copies, two articles that no edge joins and that may have less than LEAST_IN_COMMON in
      common: an article that contains two others joins only one of them.

    `groups` has the dense group of each article that is in one. There, only some pairs were compared: the result says
    which others must be, so that one wrong verdict does not join two groups.
    """
    forest = _Forest()
    for left, right in must:
        first, second = forest.root(left), forest.root(right)
        if first != second:
            forest.join(first, second, 1.0)
    confirmed = {article: forest.root(article) for article in list(forest.parent)}
    contradictions = sorted({pair for pair in cannot if forest.root(pair[0]) == forest.root(pair[1])})
    joining = _Joining(forest, edges, cannot, apart, groups or {})
    ordered = sorted(edges, key=lambda edge: (edge.rank, -edge.score, edge.left, edge.right))
    for edge in ordered:
        if edge.is_near:
            joining.join(edge)
    editions = _Editions(forest.name_editions(), edges)
    for edge in ordered:
        if not edge.is_near:
            joining.join(edge, editions)
    for pair in apart:
        if pair.score > _LIKELY:
            joining.check(pair.left, pair.right)
    return Clustering(_components(forest, confirmed), contradictions, tuple(sorted(joining.unchecked)))


def neighbours_in(pairs: Iterable[tuple[int, int]]) -> Neighbours:
    """Return for each number those that it is in a pair with."""
    neighbours: Neighbours = {}
    for left, right in pairs:
        _connect(neighbours, left, right)
    return neighbours


def _connect(neighbours: Neighbours, left: int, right: int) -> None:
    neighbours.setdefault(left, set()).add(right)
    neighbours.setdefault(right, set()).add(left)


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


# ---- what holds a cluster together -----------------------------------------------------------------


class Tie(NamedTuple):
    """Two nodes that belong together, and how strongly, 0..1; a decision is stronger than any verdict."""

    left: int
    right: int
    strength: float
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Bridge:
    """The weakest tie of the strongest tree, and the two parts that nothing stronger joins: the left end's first."""

    tie: Tie
    parts: tuple[tuple[int, ...], tuple[int, ...]]


def strongest_tree(ties: Iterable[Tie]) -> list[Tie]:
    """Return the maximum spanning forest, the strongest tie first (Kruskal 1956); equal ties by their nodes."""
    ordered = sorted(ties, key=lambda tie: (not tie.decided, -tie.strength, tie.left, tie.right))
    sets = DisjointSets()
    return [tie for tie in ordered if sets.unite(tie.left, tie.right)]


def weakest_bridge(nodes: Collection[int], ties: Iterable[Tie]) -> Bridge | None:
    """Return the weakest bridge of these nodes; None if decisions alone join them, or if the ties do not join all."""
    tree = strongest_tree(ties)
    if not tree or len(tree) != len(nodes) - 1 or tree[-1].decided:
        return None
    weakest = tree[-1]
    one, other = _joined(nodes, tree[:-1])
    return Bridge(weakest, (one, other) if weakest.left in one else (other, one))


def parts_of(nodes: Collection[int], ties: Iterable[Tie], *, at_most: int) -> list[tuple[int, ...]]:
    """Return the parts that remain joined if the weakest ties are cut, as many parts as allowed, by their first node.

    Nodes that no tie joins are parts of their own, even if these are more than `at_most`.
    """
    tree = strongest_tree(ties)
    apart = len(nodes) - len(tree)
    return _joined(nodes, tree[: len(tree) - max(at_most - apart, 0)])


def _joined(nodes: Collection[int], ties: Iterable[Tie]) -> list[tuple[int, ...]]:
    firsts = lowest_connected((tie.left, tie.right) for tie in ties)
    parts: dict[int, list[int]] = {}
    for node in sorted(nodes):
        parts.setdefault(firsts.get(node, node), []).append(node)
    return sorted(tuple(part) for part in parts.values())
