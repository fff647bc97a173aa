"""What holds a cluster together: its strongest ties, the weakest of these, and the parts that they join. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dedup.detection.clustering.components import DisjointSets, lowest_connected


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
