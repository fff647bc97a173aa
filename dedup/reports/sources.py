"""Report `sources`: which newspapers print duplicates, of whom, and which of them print the same articles.

The four kinds of duplicates are those of a study of a Google Alerts feed on SNAP: of the same or another source, on the
same or another day.

An article counts if it was published in the days of the scope by one of its newspapers, a pair if both of its articles
do. A duplicate is an article of a cluster that does not represent it; the article that does need not count.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from django.urls import reverse

from articles.numbers import counted
from articles.storage.collections import units_by
from dedup.declarations import Settings
from dedup.detection.article_sql import article_sql
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, Report, rows_of, together
from dedup.reports.columns import column, share_of, table
from dedup.reports.drawing import MOST_BARS, PALETTE, UNNUMBERED, alt, drawn_name, numbered, stacked

# More newspapers than these make squares too small to read.
MOST_IN_HEAT_MAP = 25

_NEWSPAPERS_SQL = article_sql(
    """
WITH source AS MATERIALIZED (
    SELECT * FROM unnest(%(newspapers)s::bigint[], %(units)s::bigint[]) AS source (newspaper_id, id)
)
SELECT source.id, count(*) AS articles, count(cluster.id) AS duplicates,
    count(*) FILTER (WHERE other.id = source.id AND kept.date = article.date),
    count(*) FILTER (WHERE other.id = source.id AND kept.date <> article.date),
    count(*) FILTER (WHERE other.id <> source.id AND kept.date = article.date),
    count(*) FILTER (WHERE other.id <> source.id AND kept.date <> article.date)
FROM {articles} AS article
JOIN source ON source.newspaper_id = article.newspaper_id
LEFT JOIN dedup_membership AS member ON member.article_id = article.id
LEFT JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id AND cluster.kept_id <> article.id
LEFT JOIN {articles} AS kept ON kept.id = cluster.kept_id
LEFT JOIN source AS other ON other.newspaper_id = kept.newspaper_id
WHERE {article.in_scope}
GROUP BY source.id
""",
    "article",
)

# Every two newspapers with a cluster in common, once, and every newspaper that has two articles of a cluster. A cluster
# is one row for each of its newspapers, so the work grows with newspapers, not with pairs of articles.
_TOGETHER_SQL = article_sql(
    """
WITH source AS MATERIALIZED (
    SELECT * FROM unnest(%(newspapers)s::bigint[], %(units)s::bigint[]) AS source (newspaper_id, id)
), part AS MATERIALIZED (
    SELECT member.cluster_id, source.id, count(*) AS articles, min(article.date) AS first_day
    FROM dedup_membership AS member
    JOIN {articles} AS article ON article.id = member.article_id
    JOIN source ON source.newspaper_id = article.newspaper_id
    WHERE {article.in_scope}
    GROUP BY member.cluster_id, source.id
)
SELECT one.id, other.id, count(*) AS clusters,
    sum(CASE
        WHEN one.id = other.id THEN one.articles * (one.articles - 1) / 2
        ELSE one.articles * other.articles
    END)::bigint AS pairs,
    count(*) FILTER (WHERE one.first_day < other.first_day) AS one_first,
    count(*) FILTER (WHERE other.first_day < one.first_day) AS other_first
FROM part AS one
JOIN part AS other ON other.cluster_id = one.cluster_id AND other.id >= one.id
WHERE one.id <> other.id OR one.articles > 1
GROUP BY one.id, other.id
""",
    "article",
)


def duplicates_address(newspaper_id: int) -> str:
    """Return the address of the list of a newspaper's duplicates."""
    return f"{reverse('articles')}?{urlencode({'newspaper': newspaper_id, 'look': 'duplicate'})}"


@dataclass(frozen=True, slots=True)
class SourcesOptions(Settings):
    """What counts as one newspaper."""

    together: str = together()


@dataclass(frozen=True, slots=True)
class Printing:
    """A newspaper with its articles and its duplicates; the id of a collection that counts as one is below zero."""

    name: Annotated[str, column("Newspaper", named="newspaper", link="address")]
    newspaper_id: int
    articles: Annotated[int, column("Articles")]
    duplicates: Annotated[int, column("Duplicates")]
    share = share_of("duplicates", "articles", after="duplicates")

    @property
    def address(self) -> str:
        """Return the address of the list of its duplicates; empty if it has none."""
        return duplicates_address(self.newspaper_id) if self.duplicates else ""


@dataclass(frozen=True, slots=True)
class Source(Printing):
    """A newspaper's articles and duplicates. The last four numbers add up to its duplicates.

    A duplicate is compared with the article that represents its cluster: whether that one is of the same newspaper
    (`own`) or another one's, and of the same day or another.
    """

    own_same_day: Annotated[int, column("Own, same day")]
    own_other_day: Annotated[int, column("Own, other day")]
    others_same_day: Annotated[int, column("Another's, same day")]
    others_other_day: Annotated[int, column("Another's, other day")]


@dataclass(frozen=True, slots=True)
class Together:
    """Two newspapers that have articles in the same clusters, the one whose name comes first left.

    `pairs` counts every two articles of one cluster, one from each newspaper. Of the clusters, `left_first` begin with
    the left one, by days, `right_first` with the right one, and `same_day` with both. If both are one newspaper, it has
    two or more articles of each of these clusters.
    """

    left: Annotated[str, column("Newspaper", link="address")]
    right: Annotated[str, column("And newspaper")]
    left_id: int
    right_id: int
    clusters: Annotated[int, column("Clusters")]
    pairs: Annotated[int, column("Pairs", named="shared_pairs")]
    left_first: Annotated[int, column("First one earlier", unless="is_one")]
    right_first: Annotated[int, column("Second one earlier", unless="is_one")]
    same_day: Annotated[int, column("Same day", unless="is_one")]

    @property
    def is_one(self) -> bool:
        """Return whether both are one newspaper."""
        return self.left_id == self.right_id

    @property
    def address(self) -> str:
        """Return the address of the list of all pairs of the two that were judged duplicates."""
        ends = {"newspaper": self.left_id, "other": self.right_id}
        return f"{reverse('queue')}?{urlencode({'tab': 'pairs', **ends, 'verdict': 'duplicate', 'state': 'any'})}"


@dataclass(frozen=True, slots=True)
class Sources:
    """The newspapers with articles, those with most duplicates first, and which of them share clusters."""

    newspapers: Annotated[list[Source], table("Newspapers")]
    pairs: Annotated[list[Together], table("Newspapers that share clusters")]


class SourcesReport(
    Report, name="sources", label="Sources of duplicates", page="Newspapers", options=SourcesOptions, after_run=True
):
    """Counts the duplicates of each newspaper, by whether they repeat its own article or another newspaper's, and the
    clusters that two newspapers share.
    """

    def result(self, scope: Scope, options: SourcesOptions) -> Sources:
        """Count the stored articles and the clusters of the last run."""
        return Sources(sources_of(scope, options.together), newspapers_together(scope, options.together))

    def summary(self, result: Sources) -> str:
        """Return a sentence with the totals."""
        if not result.newspapers:
            return "There are no articles to count."
        articles = sum(newspaper.articles for newspaper in result.newspapers)
        duplicates = sum(newspaper.duplicates for newspaper in result.newspapers)
        own = sum(newspaper.own_same_day + newspaper.own_other_day for newspaper in result.newspapers)
        involved = sum(newspaper.duplicates > 0 for newspaper in result.newspapers)
        two = sum(pair.left_id != pair.right_id for pair in result.pairs)
        return (
            f"{duplicates:,} of {articles:,} articles ({duplicates / articles:.2%}) are duplicates: {own:,} of an "
            f"article of the same newspaper and {duplicates - own:,} of another one's.\n{involved:,} of "
            f"{len(result.newspapers):,} newspapers have duplicates, and {two:,} combinations of two newspapers share "
            "a cluster."
        )

    def charts(self, result: Sources) -> list[Chart]:
        """Return the bars of the newspapers with most duplicates, and the heat map; none without duplicates."""
        if not any(newspaper.duplicates for newspaper in result.newspapers):
            return []
        return [_bars(result.newspapers)] + ([_heat_map(result.pairs)] if result.pairs else [])


def sources_of(scope: Scope, kind: str = "") -> list[Source]:
    """Return the newspapers with articles, those with most duplicates first; collections of a kind count as one."""
    units, names = units_by(kind)
    sources = {"newspapers": list(units), "units": list(units.values())}
    found = rows_of(_NEWSPAPERS_SQL, scope, lambda pk, *counts: Source(names[pk], pk, *counts), **sources)
    return sorted(found, key=lambda source: (-source.duplicates, -source.articles, source.name))


def newspapers_together(scope: Scope, kind: str = "") -> list[Together]:
    """Return every two newspapers with a cluster in common, and each with itself; most pairs first, then by name."""
    units, names = units_by(kind)

    def in_order(one: int, other: int, clusters: int, pairs: int, one_first: int, other_first: int) -> Together:
        same_day = clusters - one_first - other_first
        if names[one] > names[other]:
            one, other, one_first, other_first = other, one, other_first, one_first
        return Together(names[one], names[other], one, other, clusters, pairs, one_first, other_first, same_day)

    found = rows_of(_TOGETHER_SQL, scope, in_order, newspapers=list(units), units=list(units.values()))
    return sorted(found, key=lambda row: (-row.pairs, row.left, row.right))


# The kinds of duplicates, by the fields of a source, in the order of the stacked bars.
_KINDS = {
    "own_same_day": "own, same day",
    "own_other_day": "own, other day",
    "others_same_day": "another's, same day",
    "others_other_day": "another's, other day",
}


def _bars(newspapers: list[Source]) -> Chart:
    shown = [newspaper for newspaper in newspapers if newspaper.duplicates][:MOST_BARS]
    parts = [(paper.name, {words: getattr(paper, kind) for kind, words in _KINDS.items()}) for paper in shown]
    spec = stacked(parts, "Duplicates", room=220, links=[paper.address for paper in shown])
    most = shown[0]
    return Chart(
        "newspapers",
        "Duplicates by newspaper",
        f"The {len(shown)} newspapers with most duplicates, by whether the article that represents the cluster is "
        f"their own and of the same day. {most.name} has most: {most.duplicates:,} of {most.articles:,} articles. A "
        "click on a bar lists them.",
        spec,
    )


def _squares(pairs: list[Together], places: dict[str, str]) -> Iterator[dict[str, Any]]:
    for pair in pairs:
        if pair.left in places and pair.right in places:
            for one, other in dict.fromkeys([(pair.left, pair.right), (pair.right, pair.left)]):
                about = f"{one} and {other}: {counted(pair.clusters, 'cluster')}"
                square = {"row": places[one], "column": places[other], "clusters": pair.clusters}
                yield square | {"href": pair.address, "about": about}


def _heat_map(pairs: list[Together]) -> Chart:
    counts = Counter[str]()
    for pair in pairs:
        for name in {pair.left, pair.right}:
            counts[name] += pair.pairs
    shown = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_IN_HEAT_MAP]
    rows = list(_squares(pairs, dict(zip(shown, numbered(map(drawn_name, shown)), strict=True))))
    order = sorted({square["row"] for square in rows})
    # A few squares are large, so that the drawing is about as wide as others.
    width, height = max(360, 18 * len(order)), max(200, 18 * len(order))
    base = alt.Chart(alt.InlineData(values=rows), width=width, height=height).encode(
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelExpr=UNNUMBERED)),
        x=alt.X("column:N", sort=order, title=None, axis=alt.Axis(labelExpr=UNNUMBERED, labelAngle=-60)),
    )
    # Some squares may have so many clusters that others could not be distinguished from none.
    spreads = max(pair.clusters for pair in pairs) >= 20 * min(pair.clusters for pair in pairs)
    squares = base.mark_rect(stroke=PALETTE[-1], strokeWidth=0.5, aria=True).encode(
        color=alt.Color("clusters:Q", title="Clusters", scale=alt.Scale(type="log" if spreads else "linear")),
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
