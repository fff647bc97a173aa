"""The graph of a cluster: its nodes on one circle or, if a weak bridge joins two parts, on two. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

# All lengths are in pixels.
_APART = 44  # of neighbours on a circle
_LEAST_RADIUS = 52
_BETWEEN = 130  # of the two circles
_MARGIN = 34
_RADIUS = 14


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph: its number, the text in it, and how many articles it is."""

    number: int
    label: str
    articles: int = 1
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """What connects two nodes: "confirmed", "held", "rejected", "joins" or "apart", and how probably, 0..1."""

    left: int
    right: int
    kind: str
    chance: float
    bridge: bool = False


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node and its circle."""

    node: Node
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line with its ends, its width, and the place of its label."""

    line: Line
    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    label: tuple[float, float]


@dataclass(frozen=True)
class Graph:
    """The drawn graph; the lines that matter least come first, so that the others lie on top."""

    width: int
    height: int
    nodes: list[DrawnNode]
    lines: list[DrawnLine]

    @property
    def has_rings(self) -> bool:
        """Whether a node is more than one article."""
        return any(drawn.node.articles > 1 for drawn in self.nodes)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """The kinds of lines in it, and what each says."""
        kinds = {"bridge" if drawn.line.bridge else drawn.line.kind for drawn in self.lines}
        return [(kind, text) for kind, text in _LEGEND.items() if kind in kinds]


_LEGEND = {
    "confirmed": "editors decided: duplicates",
    "held": "held together by a decision",
    "rejected": "editors decided: no duplicates",
    "joins": "judged duplicates; the wider, the more probable",
    "apart": "judged something else, and not decided",
    "bridge": "the weakest link",
}
_ORDER = {"apart": 0, "joins": 1, "rejected": 2, "held": 3, "confirmed": 4}


def draw_graph(nodes: Sequence[Node], lines: Sequence[Line], parts: Sequence[Sequence[int]] = ()) -> Graph:
    """Return where the nodes and lines go; `parts` has the nodes' numbers of two parts to draw apart, if any."""
    groups = [list(part) for part in parts] or [[node.number for node in nodes]]
    if bridge := next((candidate for candidate in lines if candidate.bridge and len(groups) == 2), None):
        groups = [_facing(groups[0], bridge.left), _facing(groups[1], bridge.right)]
    radii = [_circle(len(group)) for group in groups]
    middle = max(radii) + _MARGIN
    places: dict[int, tuple[float, float]] = {}
    left = float(_MARGIN)
    for position, (group, radius) in enumerate(zip(groups, radii, strict=True)):
        # The first node of each part faces the other part. One circle begins at the top, and so do two nodes: in one
        # line with the bridge, the one would hide what connects the other.
        start = -pi / 2 if len(groups) == 1 or len(group) == 2 else position * pi
        for place, number in enumerate(group):
            angle = start + 2 * pi * place / len(group)
            places[number] = (left + radius + radius * cos(angle), middle + radius * sin(angle))
        left += 2 * radius + _BETWEEN
    width, height = left - _BETWEEN + _MARGIN, 2 * middle
    ordered = sorted(lines, key=lambda line: (line.bridge, _ORDER[line.kind], line.chance, line.left, line.right))
    return Graph(
        width=round(width),
        height=round(height),
        nodes=[DrawnNode(node, *_rounded(places[node.number]), _radius(node)) for node in nodes],
        lines=[_drawn(ordered_line, places, (width / 2, middle)) for ordered_line in ordered],
    )


def _drawn(line: Line, places: Mapping[int, tuple[float, float]], centre: tuple[float, float]) -> DrawnLine:
    """Return a line with its label a quarter of the way to the centre, away from the nodes on the circle."""
    (x1, y1), (x2, y2) = _rounded(places[line.left]), _rounded(places[line.right])
    label = _rounded(((x1 + x2) * 3 / 8 + centre[0] / 4, (y1 + y2) * 3 / 8 + centre[1] / 4 - 7))
    return DrawnLine(line, x1, y1, x2, y2, _width(line), label)


def _facing(group: list[int], first: int) -> list[int]:
    """Return the group turned so that this node comes first."""
    place = group.index(first)
    return group[place:] + group[:place]


def _circle(nodes: int) -> float:
    return 0.0 if nodes == 1 else max(_LEAST_RADIUS, nodes * _APART / (2 * pi))


def _radius(node: Node) -> float:
    return _RADIUS if node.articles == 1 else _RADIUS + 4


def _width(line: Line) -> float:
    """Return the width of a line: the more probable, the wider."""
    return (
        4.0 if line.kind in ("confirmed", "held", "rejected") or line.bridge else round(0.5 + 2.5 * line.chance**4, 1)
    )


def _rounded(place: tuple[float, float]) -> tuple[float, float]:
    return round(place[0], 1), round(place[1], 1)
