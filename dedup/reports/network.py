"""Report `network`: newspapers as a network, joined where both printed articles of one cluster."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log1p, pi, sqrt
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from articles.files.cells import csv_text, guarded
from articles.grouping import by_key
from articles.loading import when_used
from articles.numbers import counted
from dedup.declarations import setting
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, File, Report
from dedup.reports.columns import column, table
from dedup.reports.drawing import PALETTE, WIDTH, alt, drawn_name, xml_text
from dedup.reports.sources import Printing, SourcesOptions, Together, newspapers_together, sources_of

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = when_used("networkx")

# More newspapers than these cannot be distinguished in a drawing; all are in the tables and the files.
MOST_DRAWN = 60
# The layout begins at random places; the same ones every time.
SEED = 13
# Of the drawing, and of its circles as areas, in pixels.
_HEIGHT = 440
_SMALLEST, _LARGEST = 60, 900
_GAP = 3
# Around each of several groups, as a share of the drawing.
_MARGIN = 0.06
# About the width and height of a letter of a name, in pixels.
_CHARACTER, _LINE = 6.5, 13


@dataclass(frozen=True, slots=True)
class NetworkOptions(SourcesOptions):
    """How much two newspapers must share to be joined, and what counts as one."""

    least: int = setting(
        1,
        range=(1, 1_000),
        slider=True,
        label="Shared pairs, at least",
        unit="pairs",
        help="Two newspapers are joined if at least this many pairs of articles, one from each, are in one cluster.",
        source="a choice: 1 leaves nothing out",
    )


@dataclass(frozen=True, slots=True)
class Node(Printing):
    """A newspaper that shares a cluster with another one; `pairs` and `newspapers` count what joins it to others."""

    newspapers: Annotated[int, column("Joined to")]
    pairs: Annotated[int, column("Shared pairs", named="shared_pairs")]


@dataclass(frozen=True, slots=True)
class Network:
    """The newspapers that are joined, most pairs first, and what joins them, most pairs first."""

    least: int
    nodes: Annotated[list[Node], table("Newspapers", named="newspapers")]
    edges: Annotated[list[Together], table("Shared clusters and pairs", "left right clusters shared_pairs")]


class NetworkReport(
    Report, name="network", label="Network of newspapers", page="Newspapers", options=NetworkOptions, after_run=True
):
    """Shows which newspapers print the same articles, and how many."""

    def result(self, scope: Scope, options: NetworkOptions) -> Network:
        """Count the clusters of the last run."""
        pairs_of = newspapers_together(scope, options.together)
        edges = [edge for edge in pairs_of if not edge.is_one and edge.pairs >= options.least]
        pairs = by_key((newspaper, edge.pairs) for edge in edges for newspaper in (edge.left_id, edge.right_id))
        nodes = []
        for source in sources_of(scope, options.together) if edges else ():
            if shared := pairs.get(source.newspaper_id):
                counts = (source.name, source.newspaper_id, source.articles, source.duplicates)
                nodes.append(Node(*counts, len(shared), sum(shared)))
        return Network(options.least, sorted(nodes, key=lambda node: (-node.pairs, node.name)), edges)

    def summary(self, result: Network) -> str:
        """Return a sentence with the totals."""
        least = "a pair" if result.least == 1 else f"{result.least:,} pairs"
        if not result.edges:
            return f"No two newspapers share {least} of articles of one cluster."
        pairs = sum(edge.pairs for edge in result.edges)
        parts = nx.number_connected_components(_graph(result))
        connected = "They are all connected." if parts == 1 else f"They form {parts:,} separate groups."
        return (
            f"{len(result.nodes):,} newspapers share at least {least} with another one, in {len(result.edges):,} "
            f"combinations of two with {counted(pairs, 'pair')} in all.\n{connected}"
        )

    def charts(self, result: Network) -> list[Chart]:
        """Return the drawing; none without two newspapers that are joined."""
        return [_drawing(result)] if result.edges else []

    def files(self, result: Network) -> list[File]:
        """Return the whole network for Gephi, Cytoscape, igraph or networkx."""
        graphml = "\n".join(nx.generate_graphml(_graph(result)))
        header = ("Source", "Target", "Type", "Weight", "Clusters")  # as Gephi expects them
        rows = (
            (guarded(edge.left), guarded(edge.right), "Undirected", edge.pairs, edge.clusters) for edge in result.edges
        )
        return [
            File("network.graphml", "application/graphml+xml", "GraphML", f"{graphml}\n"),
            File("edges.csv", "text/csv", "Edges as CSV", csv_text([header, *rows], quoting=csv.QUOTE_NONNUMERIC)),
        ]


def _graph(result: Network) -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph()
    for node in result.nodes:
        counts = {"articles": node.articles, "duplicates": node.duplicates}
        graph.add_node(f"n{node.newspaper_id}", label=xml_text(node.name), **counts)
    for edge in result.edges:
        graph.add_edge(f"n{edge.left_id}", f"n{edge.right_id}", weight=edge.pairs, clusters=edge.clusters)
    return graph


def places(result: Network) -> dict[int, tuple[float, float]]:
    """Return where the newspapers with most pairs are drawn, in 0..1; the same network always looks the same."""
    shown = {node.newspaper_id for node in result.nodes[:MOST_DRAWN]}
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(sorted(shown))
    graph.add_weighted_edges_from(
        (edge.left_id, edge.right_id, log1p(edge.pairs))
        for edge in result.edges
        if {edge.left_id, edge.right_id} <= shown
    )
    groups = sorted(nx.connected_components(graph), key=lambda group: (-len(group), min(group)))
    return dict(_placed([graph.subgraph(sorted(group)) for group in groups], _Box(0, 0, 1, 1)))


class _Box(NamedTuple):
    """A part of the drawing, in 0..1."""

    x: float
    y: float
    width: float
    height: float

    def cut(self, part: float) -> tuple[_Box, _Box]:
        """Return the two parts of this box, cut across its longer side in pixels; the first one has this share."""
        x, y, width, height = self
        if width * WIDTH >= height * _HEIGHT:
            return _Box(x, y, width * part, height), _Box(x + width * part, y, width * (1 - part), height)
        return _Box(x, y, width, height * part), _Box(x, y + height * part, width, height * (1 - part))


def _placed(groups: Sequence[nx.Graph[int]], box: _Box) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the places of the newspapers of groups that no line joins, each group in a part of the box of its own."""
    if len(groups) == 1:
        yield from _laid_out(groups[0], box)
        return
    middle = (len(groups) + 1) // 2 if len(groups[0]) == len(groups[-1]) else 1
    sizes = [sqrt(len(group)) for group in groups]
    parts = box.cut(sum(sizes[:middle]) / sum(sizes))
    for some, part in zip((groups[:middle], groups[middle:]), parts, strict=True):
        yield from _placed(some, part)


def _laid_out(graph: nx.Graph[int], box: _Box) -> Iterator[tuple[int, tuple[float, float]]]:
    found = nx.spring_layout(graph, k=3 / sqrt(len(graph)), iterations=200, seed=SEED)
    across, down = (_stretched([float(place[axis]) for place in found.values()]) for axis in (0, 1))
    # Names need room between groups.
    aside, above = (min(_MARGIN, side / 4) if side < 1 else 0.0 for side in (box.width, box.height))
    for newspaper, x, y in zip(found, across, down, strict=True):
        yield (newspaper, (box.x + aside + x * (box.width - 2 * aside), box.y + above + y * (box.height - 2 * above)))


def _stretched(numbers: list[float]) -> list[float]:
    """Return the numbers between 0 and 1, in the same order.

    Each is half its place between the ends and half its rank, so that a few newspapers far out do not press all others
    together.
    """
    low, high = min(numbers), max(numbers)
    if low == high:
        return [0.5] * len(numbers)
    ranks = {number: place / (len(numbers) - 1) for place, number in enumerate(sorted(numbers))}
    return [((number - low) / (high - low) + ranks[number]) / 2 for number in numbers]


def _drawing(result: Network) -> Chart:
    at = places(result)
    most = result.edges[0]
    left_out = len(result.nodes) - len(at)
    return Chart(
        "network",
        "Newspapers that print the same articles",
        "A circle is a newspaper, the larger the more duplicates it has; a line joins two newspapers, the wider the "
        f"more pairs they share. Most: {most.left} and {most.right}, {most.pairs:,}. A click on a line lists the "
        "pairs, on a circle the duplicates of the newspaper."
        + (f" {left_out:,} newspapers with fewer pairs are in the tables only." if left_out else ""),
        _layers(_circles(result, at), _lines(result, at)),
    )


def _circles(result: Network, at: dict[int, tuple[float, float]]) -> list[dict[str, Any]]:
    """Return the newspapers as circles, with their area and the place of their names in pixels.

    A name that would lie upon that of a newspaper with more pairs is left out.
    """
    shown = result.nodes[: len(at)]
    most = max(node.duplicates for node in shown) or 1
    circles: list[dict[str, Any]] = []
    named: list[tuple[float, float, float]] = []
    for node in shown:
        x, y = at[node.newspaper_id][0] * WIDTH, at[node.newspaper_id][1] * _HEIGHT
        area = _SMALLEST + (_LARGEST - _SMALLEST) * node.duplicates / most
        above, name = y - sqrt(area / pi) - _GAP, drawn_name(node.name)
        reach = len(name) * _CHARACTER / 2
        if any(abs(x - other) < reach + its and abs(above - its_y) < _LINE for other, its_y, its in named):
            name = ""
        else:
            named.append((x, above, reach))
        about = f"{node.name}: {counted(node.duplicates, 'duplicate')}"
        circles.append(
            {"x": x, "y": y, "area": area, "above": above, "name": name, "href": node.address, "about": about}
        )
    return circles


def _lines(result: Network, at: dict[int, tuple[float, float]]) -> list[dict[str, Any]]:
    lines = []
    for edge in result.edges:
        if edge.left_id in at and edge.right_id in at:
            (x, y), (x2, y2) = at[edge.left_id], at[edge.right_id]
            ends = {"x": x * WIDTH, "y": y * _HEIGHT, "x2": x2 * WIDTH, "y2": y2 * _HEIGHT}
            about = f"{edge.left} and {edge.right}: {counted(edge.pairs, 'pair')}"
            lines.append({**ends, "pairs": edge.pairs, "href": edge.address, "about": about})
    return lines


def _layers(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> Any:
    # Places and areas are in pixels already.
    x, y = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
    width = alt.Size("pairs:Q", scale=alt.Scale(type="sqrt", range=[1.5, 9]), legend=None)
    ends: dict[str, Any] = {"x": x, "y": y, "x2": "x2:Q", "y2": "y2:Q"}
    lines = alt.Chart(alt.InlineData(values=edges)).encode(**ends, size=width, href="href:N", description="about:N")
    lines = lines.mark_rule(color=PALETTE[-1], opacity=0.55, strokeCap="round", aria=True)
    at = alt.Chart(alt.InlineData(values=nodes)).encode(x=x, href="href:N")
    circles = at.mark_circle(color=PALETTE[0], opacity=0.9, aria=True)
    circles = circles.encode(y=y, size=alt.Size("area:Q", scale=None), description="about:N")
    above = alt.Y("above:Q", scale=None, axis=None)
    names = at.mark_text(fontSize=11, baseline="bottom").encode(y=above, text="name:N")
    return alt.layer(lines, circles, names, width=WIDTH, height=_HEIGHT).resolve_scale(size="independent")
