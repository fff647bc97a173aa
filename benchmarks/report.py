"""The results as tables on a terminal and in Markdown, with the pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from rich.console import Console
from rich.table import Table

from benchmarks.results import LABELS, Results, Sheet, ShingleResult, WindowResult

# The marks of a part of the page that is written by this program.
BEGIN, END = "<!-- {}: written by script/benchmark --write-docs -->", "<!-- end of {} -->"
# The columns of words; the others are numbers.
_WORDS = {"contestant", "step", "phase", "page", "tool", "finds", "result", "damage"}


def show(sheets: Sequence[Sheet], console: Console) -> None:
    """Print tables."""
    for sheet in sheets:
        table = Table(title=sheet.title, title_justify="left")
        for name in sheet.head:
            table.add_column(name, justify="left" if name in _WORDS else "right", overflow="fold")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)


def markdown(results: Results, part: Sequence[Sheet]) -> str:
    """Return a part of docs/benchmarks.md."""
    facts, options = (
        ", ".join(f"{name} {value}" for name, value in named.items()) for named in (results.machine, results.options)
    )
    texts = [f"Machine: {facts}.", f"Run: {options}."]
    for sheet in part:
        lines = [_line(sheet.head), _line(["---"] * len(sheet.head)), *map(_line, sheet.rows)]
        texts.append(f"### {sheet.title}")
        if sheet.picture:
            texts.append(f"![{sheet.title}](benchmarks/{sheet.picture})")
        texts.append("\n".join(lines))
    return "\n\n".join(texts)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def between_marks(page: str, name: str, content: str) -> str:
    """Return a page with the text between the two marks of a part replaced. Raises ValueError if a mark is missing."""
    opening, closing = BEGIN.format(name), END.format(name)
    before, begin, rest = page.partition(opening)
    _, end, after = rest.partition(closing)
    if not begin or not end:
        raise ValueError(f"the page has no {closing if begin else opening}; add it where the tables belong")
    return f"{before}{begin}\n\n{content}\n\n{end}{after}"


def write_docs(results: Results, page: Path) -> None:
    """Write the tables that have results into the page, and the pictures into the folder of the same name."""
    text = page.read_text()
    for name, part in results.sheets().items():
        text = between_marks(text, name, markdown(results, part))
    page.write_text(text)
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        if rows := getattr(results, name):
            (folder / f"{'trigram' if name == 'window' else name}.svg").write_text(draw(rows))


# ---- pictures: SVG with a light background, readable on light and dark pages --------------------------

_PLAIN, _OURS, _RIVAL = "#b45309", "#1d4ed8", "#6b7280"
_TEXT = "#1f2937"
_POWERS = [10**power for power in range(-1, 9)]


def trigram(results: Sequence[WindowResult]) -> str:
    """Return the CPU seconds of the trigram pass and the plain join by articles per day, one panel per corpus size."""
    points = []
    for result in results:
        if result.per_day is None:
            continue
        where = {
            "articles": f"{result.articles:,} articles",
            "order": result.articles,
            "per_day": f"{result.per_day:,}",
        }
        points.append({**where, "who": "plain join (extrapolated)", "cpu": result.plain_cpu, "label": ""})
        points.append({**where, "who": "trigram pass", "cpu": result.usage.cpu, "label": f"{result.ratio:,.0f} ×"})
    days = [f"{number:,}" for number in sorted({result.per_day for result in results if result.per_day is not None})]
    base = alt.Chart().encode(
        x=alt.X("per_day:O", title="articles a day", sort=days, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("cpu:Q", title="CPU seconds", scale=alt.Scale(type="log"), axis=alt.Axis(values=_POWERS, format="~s")),
    )
    colour = alt.Color(
        "who:N",
        title=None,
        scale=alt.Scale(domain=["plain join (extrapolated)", "trigram pass"], range=[_PLAIN, _OURS]),
        legend=alt.Legend(orient="top"),
    )
    marks = base.mark_line(point=alt.OverlayMarkDef(size=60), strokeWidth=2).encode(color=colour)
    # An empty label at the upper edge would move the panel's heading.
    labels = base.transform_filter("datum.label").mark_text(dy=-14, fontSize=12, fontWeight="bold", color=_OURS)
    labels = labels.encode(text="label:N")
    panels = alt.layer(marks, labels, data=alt.Data(values=points)).properties(width=230, height=260)
    sizes = [f"{size:,} articles" for size in sorted({result.articles for result in results})]
    faceted = panels.facet(facet=alt.Facet("articles:N", title=None, sort=sizes), columns=min(len(sizes), 4))
    threshold = f"similarity ≥ {results[0].threshold:g}"
    return _svg(faceted, f"CPU seconds of the plain self-join and of the trigram pass, {threshold}, ±3 days")


def shingles(results: Sequence[ShingleResult]) -> str:
    """Return the contestants' CPU seconds for 10,000 articles over all time, one panel per corpus size."""
    bars = [(f"{result.corpus:,} articles", result) for result in sorted(results, key=lambda result: result.corpus)]
    return _svg(_bars(bars), "Character shingles of 5, Jaccard ≥ 0.75, candidates verified exactly")


def near(results: Sequence[ShingleResult]) -> str:
    """Return the same within the window of days, one panel per corpus size and text length."""
    ordered = sorted(results, key=lambda result: (result.corpus, result.prefix))
    bars = [(f"{result.corpus:,} articles, their first {result.prefix:,} characters", result) for result in ordered]
    return _svg(_bars(bars), "Character shingles of 5, Jaccard ≥ 0.75, at most three days apart")


def _bars(panelled: Sequence[tuple[str, ShingleResult]]) -> Any:
    """Return a bar for each result in its panel; the panels are in the order given."""
    bars: list[dict[str, Any]] = []
    for panel, result in panelled:
        recall = result.recall_in_window if result.recall is None else result.recall
        said = f"{result.cpu * 10_000:.2f} s" + ("" if recall is None else f", recall {recall:.4f}")
        kind = "rival" if result.name.startswith(("datasketch", "rensa")) else "newsdedup"
        whole, core = result.cpu * 10_000, (result.core or 0.0) * 10_000
        bar = {"panel": panel, "who": LABELS[result.name], "kind": kind, "end": whole}
        bars.append({**bar, "part": "core", "order": 0, "cpu": core, "label": said})
        bars.append({**bar, "part": "rest", "order": 1, "cpu": whole - core, "label": ""})
    base = alt.Chart().encode(y=alt.Y("who:N", title=None, sort=list(LABELS.values()), axis=alt.Axis(labelLimit=260)))
    scale = alt.Scale(domain=["newsdedup", "rival"], range=[_OURS, _RIVAL])
    marks = base.mark_bar().encode(
        x=alt.X("cpu:Q", title="CPU seconds for 10,000 articles, all processes; pale: start-up and PostgreSQL"),
        color=alt.Color("kind:N", title=None, scale=scale, legend=None),
        opacity=alt.Opacity("part:N", scale=alt.Scale(domain=["core", "rest"], range=[1.0, 0.4]), legend=None),
        order=alt.Order("order:Q"),
    )
    labels = base.mark_text(align="left", dx=5, fontSize=12, color=_TEXT).encode(x="end:Q", text="label:N")
    names = list(dict.fromkeys(panel for panel, _ in panelled))
    layered = alt.layer(marks, labels, data=alt.Data(values=bars)).properties(width=460, height=alt.Step(26))
    return layered.facet(facet=alt.Facet("panel:N", title=None, sort=names), columns=1).resolve_scale(y="independent")


def _svg(chart: Any, title: str) -> str:
    """Return the chart as SVG; the same results give the same bytes."""
    styled = (
        chart.properties(title=alt.Title(title, anchor="start", fontSize=15, color=_TEXT, offset=12))
        .properties(background="#ffffff", padding=16)
        .configure(font="sans-serif")
        .configure_axis(labelColor=_TEXT, titleColor=_TEXT, labelFontSize=12, titleFontSize=12, gridColor="#e5e7eb")
        .configure_header(labelColor=_TEXT, labelFontSize=13, labelFontWeight="bold")
        .configure_legend(labelColor=_TEXT, labelFontSize=12)
        .configure_view(stroke=None)
    )
    return vl_convert.vegalite_to_svg(styled.to_dict(), allowed_base_urls=[])


# By the results that they show.
PICTURES = {"window": trigram, "shingles": shingles, "near": near}
