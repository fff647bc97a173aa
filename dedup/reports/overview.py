"""Report `overview`: the share of duplicates by month and newspaper, and how long the articles are."""

import datetime
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Annotated, Any

from dedup.detection.article_sql import article_sql
from dedup.detection.runs.scope import Scope
from dedup.reports.base import LARGE, Chart, Report, rows_of
from dedup.reports.columns import COUNT, NUMBER, TEXT, Table, column, listed, share_of, table
from dedup.reports.drawing import MOST_BARS, PALETTE, alt, bar_plot, bars, drawn_name, time_axis

# By their share, the names of the columns that have them.
QUANTILES = {
    0.0: ("least", "Least"),
    0.05: ("q05", "5%"),
    0.25: ("q25", "25%"),
    0.5: ("median", "Median"),
    0.75: ("q75", "75%"),
    0.95: ("q95", "95%"),
    1.0: ("most", "Most"),
}

_SHARES_SQL = article_sql(
    """
SELECT date_trunc('month', article.date)::date AS month, newspaper.name, count(*), count(cluster.id)
FROM {articles} AS article
JOIN articles_newspaper AS newspaper ON newspaper.id = article.newspaper_id
LEFT JOIN dedup_membership AS member ON member.article_id = article.id
LEFT JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id AND cluster.kept_id <> article.id
WHERE {article.in_scope}
GROUP BY GROUPING SETS ((date_trunc('month', article.date)), (newspaper.name))
ORDER BY month, newspaper.name
""",
    "article",
)
# How many articles have each size. The lengths of texts are stored with the headline forms, which articles that came
# since the last run do not have yet. The cached sets of word shingles have 4 bytes a shingle
# (dedup/detection/kernels/masked_shingles.py); PostgreSQL knows their lengths without reading them.
_SIZES_SQL = article_sql(
    """
SELECT CASE WHEN grouping(characters) = 0 THEN 'characters' ELSE 'shingles' END,
    coalesce(characters, shingles), count(*)
FROM (
    SELECT coalesce(form.characters, length(article.content)) AS characters,
           octet_length(cached.shingles) / 4 AS shingles
    FROM {articles} AS article
    LEFT JOIN dedup_headlineform AS form ON form.article_id = article.id AND form.revision = article.revision
    LEFT JOIN dedup_articleshingles AS cached ON cached.article_id = article.id AND cached.revision = article.revision
    WHERE {article.in_scope}
) AS sizes
GROUP BY GROUPING SETS ((characters), (shingles))
HAVING characters IS NOT NULL OR shingles IS NOT NULL
ORDER BY 1, 2
""",
    "article",
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the archive, with its articles and duplicates."""

    name: str
    articles: Annotated[int, column("Articles")]
    duplicates: Annotated[int, column("Duplicates")]
    share = share_of("duplicates", "articles")


@dataclass(frozen=True, slots=True)
class Month(Part):
    """A month, YYYY-MM."""

    name: Annotated[str, column("Month", named="month")]


@dataclass(frozen=True, slots=True)
class Paper(Part):
    """A newspaper."""

    name: Annotated[str, column("Newspaper", named="newspaper")]


@dataclass(frozen=True, slots=True)
class SizeBar:
    """How many articles have a size from `low` to `high`, both included."""

    low: int
    high: int
    articles: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large articles are: the mean, the sizes at QUANTILES, and a histogram whose bars double in width."""

    articles: int
    mean: float
    quantiles: list[int]
    bars: list[SizeBar]


@dataclass(frozen=True, slots=True)
class Overview:
    """The archive at a glance. `sizes` has characters of the text and distinct word shingles, if there are any."""

    articles: int
    duplicates: int
    months: Annotated[list[Month], table("By month")]
    newspapers: Annotated[list[Paper], table("By newspaper")]
    sizes: dict[str, Sizes]


class OverviewReport(Report, name="overview", label="Overview", heavy_from=LARGE, after_run=True):
    """Shows the share of duplicates by month and newspaper, and the length of articles in characters and shingles."""

    def result(self, scope: Scope, options: Any) -> Overview:  # noqa: ARG002 - it has none
        """Count the stored articles and the clusters of the last run."""
        months, newspapers = _parts(scope)
        articles, duplicates = (sum(getattr(month, name) for month in months) for name in ("articles", "duplicates"))
        return Overview(articles, duplicates, months, newspapers, _sizes(scope))

    def summary(self, result: Overview) -> str:
        """Return a sentence with the totals."""
        if not result.articles:
            return "There are no articles to count."
        characters = result.sizes["characters"]
        return (
            f"{result.duplicates:,} of {result.articles:,} articles ({result.duplicates / result.articles:.2%}) are "
            f"duplicates.\nHalf of the texts have at most {characters.quantiles[3]:,} characters."
        )

    def tables(self, result: Overview) -> list[Table]:
        """Return the shares by month and newspaper, the sizes, and their histograms."""
        rows = [(_KINDS[kind], sizes) for kind, sizes in result.sizes.items()]
        size, articles = ("size", "Size in", TEXT), ("articles", "Articles", COUNT)
        return [
            *super().tables(result),
            listed(
                *("sizes", "Sizes of articles"),
                ((kind, sizes.articles, sizes.mean, *sizes.quantiles) for kind, sizes in rows),
                *(size, articles, ("mean", "Mean", NUMBER)),
                *((name, words, COUNT) for name, words in QUANTILES.values()),
            ),
            listed(
                *("histogram", "Articles by size"),
                ((kind, bar.low, bar.high, bar.articles) for kind, sizes in rows for bar in sizes.bars),
                *(size, ("from", "From", COUNT), ("to", "To", COUNT), articles),
            ),
        ]

    def charts(self, result: Overview) -> list[Chart]:
        """Return the share by month and newspaper, and the histograms; none without articles."""
        if not result.articles:
            return []
        charts = [_months_chart(result.months), _newspapers_chart(result.newspapers)]
        return charts + [_histogram(kind, sizes) for kind, sizes in result.sizes.items()]


_KINDS = {"characters": "characters", "shingles": "word shingles"}


def _parts(scope: Scope) -> tuple[list[Month], list[Paper]]:
    """Return the months in order, and the newspapers with the highest share of duplicates first."""
    parts = rows_of(_SHARES_SQL, scope, lambda *columns: columns)
    months = [Month(f"{month:%Y-%m}", *counts) for month, _, *counts in parts if month]
    papers = [Paper(name, *counts) for month, name, *counts in parts if not month]
    return months, sorted(papers, key=lambda paper: (-paper.share, -paper.articles, paper.name))


def _sizes(scope: Scope) -> dict[str, Sizes]:
    counted: dict[str, list[tuple[int, int]]] = {}
    for kind, size, articles in rows_of(_SIZES_SQL, scope, lambda *columns: columns):
        counted.setdefault(kind, []).append((size, articles))
    return {kind: _sizes_of(counted[kind]) for kind in _KINDS if kind in counted}


def _sizes_of(counted: Sequence[tuple[int, int]]) -> Sizes:
    """Describe sizes, given in ascending order with the number of articles that have each."""
    up_to = list(accumulate(articles for _, articles in counted))
    # As percentile_disc does: the first size that at least this share of the articles does not exceed.
    quantiles = [counted[bisect_left(up_to, max(ceil(share * up_to[-1]), 1))][0] for share in QUANTILES]
    # Sizes of as many binary digits are one bar.
    by_digits = Counter[int]()
    for size, articles in counted:
        by_digits[size.bit_length()] += articles
    return Sizes(
        up_to[-1],
        sum(size * articles for size, articles in counted) / up_to[-1],
        quantiles,
        [SizeBar(2**bits // 2, max(2**bits - 1, 0), articles) for bits, articles in sorted(by_digits.items())],
    )


def _months_chart(months: list[Month]) -> Chart:
    rows = [{"month": f"{month.name}-01", "share": month.share} for month in months]
    first, last = (datetime.date.fromisoformat(f"{bound.name}-01") for bound in (months[0], months[-1]))
    scale, axis = time_axis("month", first, last)
    x = alt.X("utcyearmonth(month):T", title=None, scale=scale, axis=axis)
    spec = bar_plot(rows, 200, room=60, x=x, y=alt.Y("share:Q", title="Duplicates", axis=alt.Axis(format="%")))
    most = max(months, key=lambda month: month.share)
    return Chart(
        "months",
        "Share of duplicates by month",
        f"The share of articles that are duplicates, from {months[0].name} to {months[-1].name}. It is highest in "
        f"{most.name}: {most.share:.2%} of {most.articles:,} articles.",
        spec,
    )


def _newspapers_chart(newspapers: list[Paper]) -> Chart:
    largest = sorted(newspapers, key=lambda row: -row.articles)[:MOST_BARS]
    shown = [newspaper for newspaper in newspapers if newspaper in largest]
    return Chart(
        "newspapers",
        "Share of duplicates by newspaper",
        f"The share of articles that are duplicates, of the {len(shown)} newspapers with most articles. "
        f"{shown[0].name} has the highest: {shown[0].share:.2%}.",
        bars([(drawn_name(paper.name), paper.share) for paper in shown], "Duplicates", percent=True),
    )


def _histogram(kind: str, sizes: Sizes) -> Chart:
    rows = [
        {"place": place, "size": f"{bar.low:,}–{bar.high:,}" if bar.high else "0", "articles": bar.articles}
        for place, bar in enumerate(sizes.bars)
    ]
    axis = alt.Axis(labelAngle=-40)
    x = alt.X("size:N", sort=alt.SortField("place"), title=_KINDS[kind].capitalize(), axis=axis)
    y = alt.Y("articles:Q", title="Articles", axis=alt.Axis(tickMinStep=1))
    spec = bar_plot(rows, 200, room=60, x=x, y=y).mark_bar(color=PALETTE[2])
    low, middle, high = (sizes.quantiles[place] for place in (1, 3, 5))
    return Chart(
        kind,
        f"Length of articles in {_KINDS[kind]}",
        f"Each bar is twice as wide as the one before. The median of {sizes.articles:,} articles is {middle:,}; nine "
        f"in ten have {low:,} to {high:,}.",
        spec,
    )
