"""How much two clusterings of the same articles agree. Pure, and sparse: no table of all pairs is made.

All measures rest on the sizes of the clusters and of their overlaps. A clustering names the cluster of each article; an
article alone in its cluster is a cluster too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shares:
    """Precision, recall and F1, each 0..1; None for a share of nothing."""

    precision: float | None
    recall: float | None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; 0 if both are 0."""
        if self.precision is None or self.recall is None:
            return None
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """How much a clustering agrees with a reference.

    `pairwise`: of the pairs of articles that it puts together, the share that the reference puts together, and the
    other way round. `rand`: the adjusted Rand index, 1 if both are the same, and 0 on average for chance. `b_cubed`:
    the same question for each article and those in its cluster, itself included, averaged over the articles.
    """

    articles: int
    clusters: int  # of two or more articles
    reference_clusters: int
    pairs: int
    reference_pairs: int
    common_pairs: int
    pairwise: Shares
    rand: float
    b_cubed: Shares


def agreement_of(clusters: Sequence[Hashable], reference: Sequence[Hashable]) -> Agreement:
    """Return how much two clusterings agree: the cluster of each article in the one, and in the other.

    Raises ValueError if they do not have the same number of articles.
    """
    found, wanted = Counter(clusters), Counter(reference)
    both = Counter(zip(clusters, reference, strict=True))
    pairs, reference_pairs, common = _pairs(found.values()), _pairs(wanted.values()), _pairs(both.values())
    count = len(clusters)
    return Agreement(
        count,
        sum(size > 1 for size in found.values()),
        sum(size > 1 for size in wanted.values()),
        pairs,
        reference_pairs,
        common,
        Shares(common / pairs if pairs else None, common / reference_pairs if reference_pairs else None),
        _adjusted_rand(pairs, reference_pairs, common, count),
        Shares(
            sum(size * size / found[cluster] for (cluster, _), size in both.items()) / count if count else None,
            sum(size * size / wanted[cluster] for (_, cluster), size in both.items()) / count if count else None,
        ),
    )


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def _adjusted_rand(pairs: int, reference_pairs: int, common: int, articles: int) -> float:
    """Return the adjusted Rand index (Hubert and Arabie, "Comparing partitions", Journal of Classification 2, 1985).

    It is 1 for equal clusterings, also where chance could give no other: all articles alone, or all together.
    """
    expected = pairs * reference_pairs / _pairs([articles]) if articles > 1 else 0.0
    most = (pairs + reference_pairs) / 2
    return (common - expected) / (most - expected) if most != expected else 1.0
