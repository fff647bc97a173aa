"""The graph of a cluster: its nodes on one circle or, if a weak bridge joins two parts, on two. Pure."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import NamedTuple

# All lengths are in pixels.
_APART = 44  # of neighbours on a circle
_LEAST_RADIUS = 52
_BETWEEN = 130  # of the two circles
_MARGIN = 34
_RADIUS = 14


Place = tuple[float, float]
_NOWHERE: Place = (0.0, 0.0)


class Node(NamedTuple):
    """A node of the graph: its number, the text in it, how many articles it is, and, once drawn, where it is."""

    number: int
    label: str
    articles: int = 1
    kept: bool = False
    place: Place = _NOWHERE

    @property
    def radius(self) -> float:
        """The radius of its circle."""
        return _RADIUS if self.articles == 1 else _RADIUS + 4


class Line(NamedTuple):
    """What connects two nodes: "confirmed", "held", "rejected", "joins" or "apart", and how probably, 0..1.

    Once drawn, it has its ends and the place of its label.
    """

    left: int
    right: int
    kind: str
    chance: float
    bridge: bool = False
    start: Place = _NOWHERE
    end: Place = _NOWHERE
    label: Place = _NOWHERE

    @property
    def width(self) -> float:
        """The more probable, the wider."""
        sure = self.kind in ("confirmed", "held", "rejected") or self.bridge
        return 4.0 if sure else round(0.5 + 2.5 * self.chance**4, 1)


class Graph(NamedTuple):
    """The drawn graph; the lines that matter least come first, so that the others lie on top."""

    width: int
    height: int
    nodes: list[Node]
    lines: list[Line]

    @property
    def has_rings(self) -> bool:
        """Whether a node is more than one article."""
        return any(node.articles > 1 for node in self.nodes)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """The kinds of lines in it, and what each says."""
        kinds = {"bridge" if line.bridge else line.kind for line in self.lines}
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
        # Turned so that the ends of the bridge come first.
        turns = [group.index(end) for group, end in zip(groups, (bridge.left, bridge.right), strict=True)]
        groups = [group[turn:] + group[:turn] for group, turn in zip(groups, turns, strict=True)]
    radii = [0.0 if len(group) == 1 else max(_LEAST_RADIUS, len(group) * _APART / (2 * pi)) for group in groups]
    middle = max(radii) + _MARGIN
    places: dict[int, Place] = {}
    left = float(_MARGIN)
    for position, (group, radius) in enumerate(zip(groups, radii, strict=True)):
        # The first node of each part faces the other part. One circle begins at the top, and so do two nodes: in one
        # line with the bridge, the one would hide what connects the other.
        start = -pi / 2 if len(groups) == 1 or len(group) == 2 else position * pi
        for place, number in enumerate(group):
            angle = start + 2 * pi * place / len(group)
            places[number] = _rounded(left + radius + radius * cos(angle), middle + radius * sin(angle))
        left += 2 * radius + _BETWEEN
    width, height = left - _BETWEEN + _MARGIN, 2 * middle
    ordered = sorted(lines, key=lambda line: (line.bridge, _ORDER[line.kind], line.chance, line.left, line.right))
    return Graph(
        width=round(width),
        height=round(height),
        nodes=[node._replace(place=places[node.number]) for node in nodes],
        lines=[_drawn(line, places[line.left], places[line.right], (width / 2, middle)) for line in ordered],
    )


def _drawn(line: Line, start: Place, end: Place, centre: Place) -> Line:
    """Return a line with its label a quarter of the way to the centre, away from the nodes on the circle."""
    x, y = ((one + other) * 3 / 8 + middle / 4 for one, other, middle in zip(start, end, centre, strict=True))
    return line._replace(start=start, end=end, label=_rounded(x, y - 7))


def _rounded(x: float, y: float) -> Place:
    return round(x, 1), round(y, 1)
