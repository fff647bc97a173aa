"""What counts as the same: which relations put two articles into one cluster. Pure.

JOINING says it, for a pair that is being judged, and for the query on pairs that are stored (clustering/joins.py).
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from dedup.detection.types import Relation, SameAs

# Duplicates join from this probability on, and a longer article may lack this share of its words in the shorter one.
# Of the labelled pairs that join, judged by models that saw no other pair of their collection, 99 in 100 are
# duplicates, versions left out, and 94 in 100 if they count as others; 84 in 100 duplicates join. At 0.8 and 0.5, it
# would be 97 in 100, versions counted, and 68 of 100.
JOINS_FROM: Final = 0.6
MOST_OWN: Final = 0.75


class _Least(NamedTuple):
    """What a pair needs: its probability of duplicates, and the share of each article that the other one has."""

    probability: float
    matched: float = 0.0


_COPIES: Final = {Relation.COPY: _Least(JOINS_FROM)}
_STATES: Final = _COPIES | {Relation.CONTAINS: _Least(JOINS_FROM)}
# The relations that join under each policy; a pair of any other one joins by a decision alone.
JOINING: Final[Mapping[SameAs, Mapping[Relation, _Least]]] = {
    SameAs.COPIES: _COPIES,
    SameAs.CROPPED: _COPIES | {Relation.CONTAINS: _Least(JOINS_FROM, 1 - MOST_OWN)},
    SameAs.STATES: _STATES,
    # That it is an update is a verdict, so the pair is hardly a duplicate.
    SameAs.UPDATES: _STATES | {Relation.UPDATE: _Least(0.0)},
}
RULES: Final = {
    SameAs.COPIES: "Copies: each has nearly all of the other.",
    SameAs.CROPPED: f"Copies, and articles that stand in a longer one, of which at most {MOST_OWN:.0%} is new.",
    SameAs.STATES: "Copies, and articles that stand in a longer one, whatever it adds.",
    SameAs.UPDATES: "All that, and later states of a story.",
}


def is_same(same_as: SameAs, relation: str, probability: float, matched: Iterable[float]) -> bool:
    """Return whether a judged pair joins a cluster, given its probability of duplicates and both matched shares."""
    least = JOINING[same_as].get(Relation(relation))
    return least is not None and probability >= least.probability and min(matched) >= least.matched
