"""Draw docs/architecture/packages.svg: the layers of .importlinter as rows, and the imports between their packages.

script/draw-packages runs it. An arrow that others imply is left out: where a imports b, and b imports c, the arrow from
a to c says nothing new. The rows are laid out after Sugiyama, Tagawa and Toda (1981): an arrow that crosses a row gets
a place of its own in it, and every place moves towards the middle of those it is joined to.
"""

import configparser
import itertools
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import grimp
import networkx

CHECKOUT = Path(__file__).resolve().parents[2]
PICTURE = CHECKOUT / "docs" / "architecture" / "packages.svg"

Edge = tuple[str, str]
Frame = tuple[float, float, float, float]  # x, y, width, height

_BOX, _ROW, _GAP, _LANE = 28, 60, 14, 12  # pixels: height of a box, of a row with its arrows, space between boxes
_MARGIN, _TITLE, _BETWEEN = 18, 30, 46
_SWEEPS = 24

_STYLE = """
svg { font: 13px system-ui, "Noto Sans", sans-serif; }
.paper { fill: #faf9f6; } .app { fill: #f1efe9; stroke: #dcd8cf; } .box { fill: #ffffff; stroke: #8a867d; }
text { fill: #1f2328; } .title { font-weight: 650; font-size: 15px; }
.arrow { fill: none; stroke: #4f7f99; stroke-width: 1.2; } .apps { stroke-width: 3; } .head { fill: #4f7f99; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #15181b; } .app { fill: #1c2024; stroke: #353b42; } .box { fill: #24292e; stroke: #7d858d; }
  text { fill: #e4e5e3; } .arrow { stroke: #6fa5c0; } .head { fill: #6fa5c0; }
}
""".strip()


_FRAME = """
<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" role="img" aria-labelledby="title">
<title id="title">The packages of newsdedup in their layers; an arrow is an import</title>
<style>
{style}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"
 markerUnits="userSpaceOnUse"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>
<rect class="paper" width="100%" height="100%"/>
{parts}
</svg>
""".lstrip()


@dataclass(slots=True)
class App:
    """A Django app: its layers from the top, its imports, and where each box and each lane of an arrow is."""

    name: str
    layers: list[list[str]]
    edges: set[Edge]
    rows: list[list[str]] = field(default_factory=list)
    joined: set[Edge] = field(default_factory=set)
    x: dict[str, float] = field(default_factory=dict)
    width: float = 0.0

    @property
    def height(self) -> float:
        return _TITLE + len(self.layers) * _ROW - (_ROW - _BOX) + _MARGIN


def draw() -> str:
    """Return the picture of the code as it is now."""
    parser = configparser.ConfigParser()
    parser.read(CHECKOUT / ".importlinter", encoding="utf-8")
    contracts = [parser[section] for section in parser.sections()]
    layered = {contract["containers"].strip(): contract for contract in contracts if "containers" in contract}
    layers = {name: _layers(contract["layers"]) for name, contract in layered.items() if "." not in name}
    imports = _imports({f"{name}.{box}" for name, rows in layers.items() for row in rows for box in row})
    apps = {name: _laid_out(name, rows, imports) for name, rows in layers.items()}
    order = [[apps[name] for name in row] for row in _layers(parser["importlinter:contract:apps"]["layers"])]
    return _picture(order, {edge for edge in imports if "." not in edge[0]})


def _layers(text: str) -> list[list[str]]:
    return [re.findall(r"[\w.]+", line) for line in text.splitlines() if line.strip()]


def _imports(boxes: Collection[str]) -> set[Edge]:
    """Return which app imports which, and which box inside an app which other one of it."""
    apps = {box.partition(".")[0] for box in boxes}
    graph = grimp.build_graph(*sorted(apps), exclude_type_checking_imports=True, cache_dir=None)
    found = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            if importer.partition(".")[0] != imported.partition(".")[0]:
                found.add((importer.partition(".")[0], imported.partition(".")[0]))
            elif None not in (edge := (_box(importer, boxes), _box(imported, boxes))) and edge[0] != edge[1]:
                found.add(edge)
    return found


def _box(module: str, boxes: Collection[str]) -> str | None:
    parts = module.split(".")
    return next((name for at in (3, 2) if (name := ".".join(parts[:at])) in boxes), None)


def _without_implied(edges: set[Edge]) -> set[Edge]:
    return set(networkx.transitive_reduction(networkx.DiGraph(edges)).edges)


def _laid_out(name: str, layers: list[list[str]], imports: set[Edge]) -> App:
    inside = {
        (upper.removeprefix(f"{name}."), lower.removeprefix(f"{name}."))
        for upper, lower in imports
        if upper.startswith(f"{name}.")
    }
    level = {package: at for at, row in enumerate(layers) for package in row}
    sideways = {(left, right) for left, right in inside if level[left] == level[right]}
    app = App(name, layers, _without_implied(inside - sideways) | sideways)
    app.rows = [list(row) for row in layers]
    for upper, lower in sorted(app.edges):
        app.joined |= set(itertools.pairwise([upper, *_lanes(upper, lower, level), lower]))
        for at, lane in enumerate(_lanes(upper, lower, level), start=level[upper] + 1):
            app.rows[at].append(lane)
    app.x = {package: float(at * 100) for row in app.rows for at, package in enumerate(row)}
    for sweep in range(_SWEEPS):
        for row in app.rows if sweep % 2 else reversed(app.rows):
            _settle(app, row, reorder=sweep < _SWEEPS * 2 / 3)
    left = min(app.x[package] - _width(package) / 2 for row in app.rows for package in row)
    app.x = {package: at - left + _MARGIN for package, at in app.x.items()}
    app.width = max(app.x[package] + _width(package) / 2 for row in app.rows for package in row) + _MARGIN
    return app


def _lanes(upper: str, lower: str, level: dict[str, int]) -> list[str]:
    return [f"{upper}>{lower}@{at}" for at in range(level[upper] + 1, level[lower])]


def _width(package: str) -> float:
    return _LANE if ">" in package else 20 + 7.3 * len(package)


def _settle(app: App, row: list[str], *, reorder: bool) -> None:
    """Move the places of a row towards the middle of what they are joined to, with enough space between them."""
    wanted = {package: _middle(app, package) for package in row}
    if reorder:
        row.sort(key=lambda package: (round(wanted[package], 3), package))
    steps = [(_width(left) + _width(right)) / 2 + _GAP for left, right in itertools.pairwise(row)]
    pushed_right, pushed_left = [wanted[row[0]]], [wanted[row[-1]]]
    for package, step in zip(row[1:], steps, strict=True):
        pushed_right.append(max(wanted[package], pushed_right[-1] + step))
    for package, step in zip(row[-2::-1], reversed(steps), strict=True):
        pushed_left.append(min(wanted[package], pushed_left[-1] - step))
    for package, right, left in zip(row, pushed_right, reversed(pushed_left), strict=True):
        app.x[package] = (right + left) / 2


def _middle(app: App, package: str) -> float:
    ends = [app.x[other] for edge in app.joined if package in edge for other in edge if other != package]
    return math.fsum(ends) / len(ends) if ends else app.x[package]


def _picture(order: list[list[App]], apps: set[Edge]) -> str:
    width = max(sum(app.width for app in row) + _BETWEEN * (len(row) - 1) for row in order)
    parts, frames, top = [], {}, float(_MARGIN)
    for row in order:
        spare = (width - sum(app.width for app in row)) / (len(row) + 1)
        left = _MARGIN + (spare if len(row) == 1 else 0)
        for app in row:
            frames[app.name] = (left, top, app.width, app.height)
            parts += _app(app, left, top)
            left += app.width + (_BETWEEN if len(row) > 1 else 0)
        top += max(app.height for app in row) + _BETWEEN
    arrows = sorted(_without_implied(apps))
    parts += [_between(frames[upper], frames[lower], frames.values()) for upper, lower in arrows]
    size = (round(width + 2 * _MARGIN), round(top - _BETWEEN + _MARGIN))
    return _FRAME.format(*size, style=_STYLE, parts="\n".join(parts))


def _app(app: App, left: float, top: float) -> Iterator[str]:
    yield f'<rect class="app" x="{left:.1f}" y="{top:.1f}" width="{app.width:.1f}" height="{app.height:.1f}" rx="10"/>'
    yield f'<text class="title" x="{left + 12:.1f}" y="{top + 21:.1f}">{escape(app.name)}</text>'
    level = {package: at for at, row in enumerate(app.layers) for package in row}
    place = {package: (left + app.x[package], top + _TITLE + at * _ROW) for package, at in level.items()}
    for upper, lower in sorted(app.edges):
        lanes = enumerate(_lanes(upper, lower, level), start=level[upper] + 1)
        through = [(left + app.x[lane], top + _TITLE + at * _ROW) for at, lane in lanes]
        yield f'<path class="arrow" marker-end="url(#head)" d="{_path(place[upper], through, place[lower])}"/>'
    for package in sorted(level):
        x, y = place[package]
        wide = _width(package)
        yield f'<rect class="box" x="{x - wide / 2:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{_BOX}" rx="6"/>'
        yield f'<text x="{x:.1f}" y="{y + 18.5:.1f}" text-anchor="middle">{escape(package)}</text>'


def _path(start: tuple[float, float], lanes: list[tuple[float, float]], end: tuple[float, float]) -> str:
    """Return an arrow from the bottom of one box through its lanes to the top of another; a bow within a row."""
    (x, y), (to_x, to_y) = start, end
    y += _BOX
    if start[1] == end[1]:
        return f"M{x:.1f} {y:.1f}C{x:.1f} {y + 20:.1f} {to_x:.1f} {y + 20:.1f} {to_x:.1f} {y + 1:.1f}"
    path = f"M{x:.1f} {y:.1f}"
    for at, (next_x, next_y) in enumerate([*lanes, (to_x, to_y)], start=1):
        middle = (y + next_y) / 2
        path += f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_y:.1f}"
        x, y = next_x, next_y + _BOX
        path += f"V{y:.1f}" if at <= len(lanes) else ""
    return path


def _between(upper: Frame, lower: Frame, frames: Collection[Frame]) -> str:
    """Return the arrow from one app to another below it, past the apps that are between them."""
    left, right = max(upper[0], lower[0]), min(upper[0] + upper[2], lower[0] + lower[2])
    x, start, end = (left + right) / 2, upper[1] + upper[3], lower[1] - 2
    for at, top, width, _ in frames:
        if start < top < end and at < x < at + width:
            x = at - _BETWEEN / 2 if x < at + width / 2 else at + width + _BETWEEN / 2
    return f'<path class="arrow apps" marker-end="url(#head)" d="M{x:.1f} {start:.1f}V{end:.1f}"/>'


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(), encoding="utf-8")
