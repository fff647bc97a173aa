"""Report `sources`: which newspapers print duplicates, of whom, and which of them print the same articles.

The four kinds of duplicates are those of a study of a Google Alerts feed on SNAP: of the same or another source, on the
same or another day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.urls import reverse

from articles.numbers import counted
from dedup.detection.article_sql import article_sql
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Cell, Chart, Column, ColumnType, Linked, Report, Table
from dedup.reports.drawing import PALETTE, WIDTH, alt
from dedup.reports.names import drawn_name
from dedup.reports.together import Together, newspapers_together, rows_of, share

# More newspapers than these make squares too small to read.
MOST_IN_HEAT_MAP = 25
# More bars than these are longer than a page.
MOST_BARS = 25

_NEWSPAPERS_SQL = article_sql(
    """
SELECT newspaper.name, newspaper.id, count(*) AS articles, count(cluster.id) AS duplicates,
    count(*) FILTER (WHERE kept.newspaper_id = article.newspaper_id AND kept.date = article.date),
    count(*) FILTER (WHERE kept.newspaper_id = article.newspaper_id AND kept.date <> article.date),
    count(*) FILTER (WHERE kept.newspaper_id <> article.newspaper_id AND kept.date = article.date),
    count(*) FILTER (WHERE kept.newspaper_id <> article.newspaper_id AND kept.date <> article.date)
FROM {articles} AS article
JOIN articles_newspaper AS newspaper ON newspaper.id = article.newspaper_id
LEFT JOIN dedup_membership AS member ON member.article_id = article.id
LEFT JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id AND cluster.kept_id <> article.id
LEFT JOIN {articles} AS kept ON kept.id = cluster.kept_id
WHERE (%(since)s::date IS NULL OR article.date >= %(since)s)
  AND (%(until)s::date IS NULL OR article.date <= %(until)s)
  AND {article.in_newspapers}
GROUP BY newspaper.id
ORDER BY duplicates DESC, articles DESC, newspaper.name
""",
    "article",
)


@dataclass(frozen=True, slots=True)
class Source:
    """A newspaper's articles and duplicates. The last four numbers add up to its duplicates.

    A duplicate is compared with the article that represents its cluster: whether that one is of the same newspaper
    (`own`) or another one's, and of the same day or another.
    """

    name: str
    newspaper_id: int
    articles: int
    duplicates: int
    own_same_day: int
    own_other_day: int
    others_same_day: int
    others_other_day: int


@dataclass(frozen=True, slots=True)
class Sources:
    """The newspapers with articles, those with most duplicates first, and which of them share clusters."""

    newspapers: list[Source]
    pairs: list[Together]


class SourcesReport(Report):
    """Duplicates by newspaper and by two newspapers."""

    name: ClassVar[str] = "sources"
    label: ClassVar[str] = "Sources of duplicates"
    help: ClassVar[str] = (
        "Counts the duplicates of each newspaper, by whether they repeat its own article or another newspaper's, and "
        "the clusters that two newspapers share."
    )
    after_run: ClassVar[bool] = True

    def result(self, scope: Scope, options: Any) -> Sources:  # noqa: ARG002 - it has none
        """Count the stored articles and the clusters of the last run."""
        return Sources(rows_of(_NEWSPAPERS_SQL, scope, Source), newspapers_together(scope))

    def says(self, result: Sources) -> str:
        """Return a sentence with the totals."""
        if not result.newspapers:
            return "There are no articles to count."
        articles, duplicates = (sum(getattr(newspaper, name) for newspaper in result.newspapers) for name in _TOTALS)
        own = sum(newspaper.own_same_day + newspaper.own_other_day for newspaper in result.newspapers)
        involved = sum(newspaper.duplicates > 0 for newspaper in result.newspapers)
        two = sum(pair.left_id != pair.right_id for pair in result.pairs)
        return (
            f"{duplicates:,} of {articles:,} articles ({duplicates / articles:.2%}) are duplicates: {own:,} of an "
            f"article of the same newspaper and {duplicates - own:,} of another one's. {involved:,} of "
            f"{len(result.newspapers):,} newspapers have duplicates, and {two:,} combinations of two newspapers share "
            "a cluster."
        )

    def tables(self, result: Sources) -> list[Table]:
        """Return a row for each newspaper, and one for every two that share clusters."""
        sources = tuple(_source_row(newspaper) for newspaper in result.newspapers)
        pairs = tuple(_pair_row(pair) for pair in result.pairs)
        return [
            Table("newspapers", "Newspapers", _SOURCE_COLUMNS, sources),
            Table("pairs", "Newspapers that share clusters", _PAIR_COLUMNS, pairs),
        ]

    def charts(self, result: Sources) -> list[Chart]:
        """Return the bars of the newspapers with most duplicates, and the heat map; none without duplicates."""
        if not any(newspaper.duplicates for newspaper in result.newspapers):
            return []
        return [_bars(result.newspapers)] + ([_heat_map(result.pairs)] if result.pairs else [])


_TOTALS = ("articles", "duplicates")
_SOURCE_COLUMNS = (
    Column("newspaper", "Newspaper"),
    Column("articles", "Articles", ColumnType.COUNT),
    Column("duplicates", "Duplicates", ColumnType.COUNT),
    Column("share", "Share", ColumnType.SHARE),
    Column("own_same_day", "Own, same day", ColumnType.COUNT),
    Column("own_other_day", "Own, other day", ColumnType.COUNT),
    Column("others_same_day", "Another's, same day", ColumnType.COUNT),
    Column("others_other_day", "Another's, other day", ColumnType.COUNT),
)
_PAIR_COLUMNS = (
    Column("left", "Newspaper"),
    Column("right", "And newspaper"),
    Column("clusters", "Clusters", ColumnType.COUNT),
    Column("shared_pairs", "Pairs", ColumnType.COUNT),
    Column("left_first", "First one earlier", ColumnType.COUNT),
    Column("right_first", "Second one earlier", ColumnType.COUNT),
    Column("same_day", "Same day", ColumnType.COUNT),
)
# The kinds of duplicates, by the fields of a source, in the order of the stacked bars.
_KINDS = {
    "own_same_day": "own, same day",
    "own_other_day": "own, other day",
    "others_same_day": "another's, same day",
    "others_other_day": "another's, other day",
}


def duplicates_address(newspaper_id: int) -> str:
    """Return the address of the list of a newspaper's duplicates."""
    return f"{reverse('articles')}?{urlencode({'newspaper': newspaper_id, 'look': 'duplicate'})}"


def pairs_address(left_id: int, right_id: int) -> str:
    """Return the address of the list of all pairs of two newspapers that were judged duplicates."""
    bounds = {"tab": "pairs", "newspaper": left_id, "other": right_id, "verdict": "duplicate", "state": "any"}
    return f"{reverse('queue')}?{urlencode(bounds)}"


def _source_row(each: Source) -> tuple[Cell, ...]:
    name = Linked(each.name, duplicates_address(each.newspaper_id)) if each.duplicates else each.name
    kinds = [getattr(each, kind) for kind in _KINDS]
    return name, each.articles, each.duplicates, share(each.duplicates, each.articles), *kinds


def _pair_row(each: Together) -> tuple[Cell, ...]:
    left = Linked(each.left, pairs_address(each.left_id, each.right_id))
    if each.left_id == each.right_id:
        return left, each.right, each.clusters, each.pairs, None, None, None
    return left, each.right, each.clusters, each.pairs, each.left_first, each.right_first, each.same_day


def _bars(newspapers: list[Source]) -> Chart:
    shown = [newspaper for newspaper in newspapers if newspaper.duplicates][:MOST_BARS]
    rows = [
        {
            "newspaper": f"{place:02} {drawn_name(each.name)}",
            "kind": words,
            "order": order,
            "duplicates": getattr(each, kind),
            "href": duplicates_address(each.newspaper_id),
            "about": f"{each.name}, {words}: {getattr(each, kind):,}",
        }
        for place, each in enumerate(shown, 1)
        for order, (kind, words) in enumerate(_KINDS.items())
    ]
    spec = (
        alt.Chart(alt.InlineData(values=rows), width=WIDTH - 220, height=alt.Step(24))
        .mark_bar(aria=True)
        .encode(
            y=alt.Y("newspaper:N", sort=None, title=None, axis=alt.Axis(labelExpr="slice(datum.label, 3)")),
            x=alt.X("sum(duplicates):Q", title="Duplicates", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("kind:N", sort=list(_KINDS.values()), title=None, legend=alt.Legend(orient="top")),
            order="order:Q",
            href="href:N",
            description="about:N",
        )
    )
    most = shown[0]
    return Chart(
        "newspapers",
        "Duplicates by newspaper",
        f"The {len(shown)} newspapers with most duplicates, by whether the article that represents the cluster is "
        f"their own and of the same day. {most.name} has most: {most.duplicates:,} of {most.articles:,} articles. A "
        "click on a bar lists them.",
        spec,
    )


def in_heat_map(pairs: list[Together]) -> list[str]:
    """Return the names of the newspapers of the heat map: those with most pairs, most first."""
    counts: dict[str, int] = {}
    for pair in pairs:
        for name in {pair.left, pair.right}:
            counts[name] = counts.get(name, 0) + pair.pairs
    return sorted(counts, key=lambda name: (-counts[name], name))[:MOST_IN_HEAT_MAP]


def _squares(pairs: list[Together], shown: list[str]) -> Iterator[dict[str, Any]]:
    places = {name: f"{place:02} {drawn_name(name)}" for place, name in enumerate(shown, 1)}
    for pair in pairs:
        if pair.left in places and pair.right in places:
            address = pairs_address(pair.left_id, pair.right_id)
            for one, other in dict.fromkeys([(pair.left, pair.right), (pair.right, pair.left)]):
                about = f"{one} and {other}: {counted(pair.clusters, 'cluster')}"
                yield {"row": places[one], "column": places[other], "clusters": pair.clusters} | {
                    "href": address,
                    "about": about,
                }


def _heat_map(pairs: list[Together]) -> Chart:
    shown = in_heat_map(pairs)
    order = sorted({square["row"] for square in _squares(pairs, shown)})
    names = "slice(datum.label, 3)"
    # A few squares are large, so that the drawing is about as wide as others.
    width, height = max(360, 18 * len(order)), max(200, 18 * len(order))
    base = alt.Chart(alt.InlineData(values=list(_squares(pairs, shown))), width=width, height=height).encode(
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelExpr=names)),
        x=alt.X("column:N", sort=order, title=None, axis=alt.Axis(labelExpr=names, labelAngle=-60)),
    )
    squares = base.mark_rect(stroke=PALETTE[-1], strokeWidth=0.5, aria=True).encode(
        color=alt.Color("clusters:Q", title="Clusters", scale=alt.Scale(type="log" if _spreads(pairs) else "linear")),
        href="href:N",
        description="about:N",
    )
    most = pairs[0]
    both = most.left if most.left_id == most.right_id else f"{most.left} and {most.right}"
    return Chart(
        "heatmap",
        "Clusters that newspapers share",
        f"A square for every two of the {len(shown)} newspapers with most pairs; on the diagonal, clusters with two or "
        f"more articles of one newspaper. Most pairs: {both}, {most.pairs:,} in {most.clusters:,} clusters. A click on "
        "a square lists the pairs. The table below has all newspapers.",
        # Slanted names need room below, as others need it on the left.
        squares.configure(padding={"left": 28, "right": 28, "top": 5, "bottom": 24}),
    )


def _spreads(pairs: list[Together]) -> bool:
    """Return whether some squares have so many clusters that others could not be distinguished from none."""
    return max(pair.clusters for pair in pairs) >= 20 * min(pair.clusters for pair in pairs)
