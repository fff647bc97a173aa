"""Report `gaps`: how far apart duplicates are published, and the window of days that holds nearly all of the surest.

It counts like a study of a Google Alerts feed: exclusive bands of scores, pairs of one newspaper and of two, those more
than 60 days apart, and "98% of proposed duplicates at the 99% threshold are published within 5 days of one another".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from articles.models import Article
from dedup.declarations import Settings, setting
from dedup.detection.passes import PASSES
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Cell, Chart, Column, ColumnType, Linked, Report, ReportError, Table
from dedup.reports.gap_charts import spread_chart, window_chart
from dedup.reports.scored_pairs import (
    PassOptions,
    band_label,
    edges_of,
    has_no_window,
    pairs,
    pass_pairs,
    scored,
    source_sentences,
)
from dedup.reports.time_gaps import (
    FAR_DAYS,
    Example,
    FarPairs,
    Gap,
    count_gaps,
    far_examples,
    far_pairs,
    pairs_by_days,
    window_holding,
)

# Shares of the top band for which the window is shown too.
_SHARES = (0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class GapsOptions(PassOptions):
    """Which pairs, and how many of the top band the advised window holds."""

    hold: float = setting(
        0.98,
        help="The advised window holds this share of the pairs with the highest scores.",
        unit="of the pairs",
        source="a study of a Google Alerts feed: 98 of 100",
        range=(0.5, 1.0),
        label="Share to hold",
    )


@dataclass(frozen=True, slots=True)
class Held:
    """The window of days that holds a share of a band's pairs: how many days, and how many pairs it holds."""

    share: float
    days: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """The result. `run` is the run whose pairs were counted; without one, the pass was run afresh, because of `why`.

    `windows` has the window for each share of the top band, `advised` among them; it is empty if the band is.
    `by_days` is how many pairs of the top band are how many days apart.
    """

    pass_name: str
    run: int | None
    why: str
    newer: int
    articles: int
    dense_articles: int
    hold: float
    advised: Held | None
    windows: list[Held]
    gaps: list[Gap]
    far: list[FarPairs]
    by_days: list[tuple[int, int]]
    examples: list[Example]


class GapsReport(Report):
    """Days and hours between the articles of pairs."""

    name: ClassVar[str] = "gaps"
    label: ClassVar[str] = "Time gaps"
    help: ClassVar[str] = (
        "Counts how far apart the articles of pairs were published, by score and newspaper, and how many days a window "
        "needs to hold nearly all of the surest pairs."
    )
    options_class: ClassVar[type[Settings]] = GapsOptions
    heavy: ClassVar[bool] = True

    def check(self, options: GapsOptions) -> None:
        """Raise ReportError for a pass that never compares articles far apart."""
        if has_no_window(options.pass_):
            return
        others = ", ".join(detection_pass for detection_pass in PASSES if has_no_window(detection_pass))
        raise ReportError(
            f"The pass {options.pass_} compares articles within a window of days only, so its pairs cannot show how "
            f"far apart duplicates are. Choose a pass that can compare all: {others}."
        )

    def result(self, scope: Scope, options: GapsOptions) -> Gaps:
        """Count the pairs that runs have stored, or those of the pass run afresh. Raises ReportError."""
        self.check(options)
        which = pass_pairs(options, any_time=True)
        edges = edges_of(which.lowest)
        articles = Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).count()
        with scored(which, scope) as (cursor, dense):
            gaps, by_days = count_gaps(cursor, edges), pairs_by_days(cursor, len(edges))
            examples = far_examples(cursor)
        windows = held_by(sorted({*_SHARES, options.hold}), by_days)
        advised = next((window for window in windows if window.share == options.hold), None)
        return Gaps(
            which.pass_name, which.run, which.why, which.newer, articles, dense,
            options.hold, advised, windows, gaps, far_pairs(gaps), by_days, examples,
        )  # fmt: skip

    def says(self, result: Gaps) -> str:
        """Return the advised window, how many pairs are far apart, and where the pairs come from."""
        if not result.articles:
            return "There are no articles to count."
        return " ".join([*_advice(result), *_far_sentences(result.far[-1]), *source_sentences(result)])

    def tables(self, result: Gaps) -> list[Table]:
        """Return the gaps, the windows, the pairs far apart by band, and examples of them."""
        hours = tuple(map(_hour_row, result.gaps))
        examples = tuple(map(_example_row, result.examples))
        windows = tuple((window.share, window.days, window.pairs) for window in result.windows)
        return [
            Table("gaps", "Days between the two articles", _GAP_COLUMNS, tuple(map(_gap_row, result.gaps))),
            Table("hours", "Hours between them, where both times are known", _HOUR_COLUMNS, hours),
            Table("windows", f"Windows for scores {_top(result)}", _WINDOW_COLUMNS, windows),
            Table("far", f"Pairs more than {FAR_DAYS} days apart", _FAR_COLUMNS, tuple(map(_far_row, result.far))),
            Table("examples", f"Examples of pairs more than {FAR_DAYS} days apart", _EXAMPLE_COLUMNS, examples),
        ]

    def charts(self, result: Gaps) -> Sequence[Chart]:
        """Return the spread of the gaps, and the share of the top band that each window holds."""
        spread = [spread_chart(result.gaps)] if any(gap.later for gap in result.gaps) else []
        advised = result.advised.days if result.advised else None
        return [*spread, *([window_chart(_top(result), result.by_days, advised)] if result.by_days else [])]


def held_by(shares: Sequence[float], by_days: Sequence[tuple[int, int]]) -> list[Held]:
    """Return the window for each share; nothing without pairs."""
    return [
        Held(share, days, sum(number for apart, number in by_days if apart <= days))
        for share in shares
        if (days := window_holding(share, by_days)) is not None
    ]


def _advice(result: Gaps) -> Iterator[str]:
    if result.advised is None:
        yield f"The pass {result.pass_name} finds no pairs with scores {_top(result)}, so no window can be advised."
        return
    total = sum(number for _, number in result.by_days)
    days = "one day" if result.advised.days == 1 else f"{result.advised.days:,} days"
    yield (
        f"A window of {days} holds {result.advised.pairs:,} of {pairs(total)} with scores {_top(result)} "
        f"({result.advised.pairs / total:.2%}; you asked for {result.hold:.2%})."
    )


def _far_sentences(every: FarPairs) -> Iterator[str]:
    if every.later:
        yield (
            f"Of {pairs(every.later)} published on different days, {every.far:,} ({every.far / every.later:.2%}) are "
            f"more than {FAR_DAYS} days apart."
        )


def _top(result: Gaps) -> str:
    return band_label(result.gaps[0].lowest, result.gaps[0].highest)


_GAP_COLUMNS = (
    Column("band", "Score"),
    Column("newspapers", "Newspapers"),
    Column("pairs", "Pairs", ColumnType.COUNT),
    Column("same_day", "Same day", ColumnType.COUNT),
    Column("later", "Later", ColumnType.COUNT),
    Column("q25", "25%", ColumnType.NUMBER),
    Column("median", "Median", ColumnType.NUMBER),
    Column("q75", "75%", ColumnType.NUMBER),
    Column("mean", "Mean", ColumnType.NUMBER),
    Column("longest", "Longest", ColumnType.COUNT),
)
_HOUR_COLUMNS = (
    Column("band", "Score"),
    Column("newspapers", "Newspapers"),
    Column("pairs", "Pairs", ColumnType.COUNT),
    Column("timed", "With two times", ColumnType.COUNT),
    Column("median_hours", "Median hours", ColumnType.NUMBER),
)
_WINDOW_COLUMNS = (
    Column("share", "Share to hold", ColumnType.SHARE),
    Column("days", "Days", ColumnType.COUNT),
    Column("pairs", "Pairs held", ColumnType.COUNT),
)
_FAR_COLUMNS = (
    Column("band", "Score"),
    Column("later", "Pairs on different days", ColumnType.COUNT),
    Column("far", f"Over {FAR_DAYS} days", ColumnType.COUNT),
    Column("share", "Share", ColumnType.SHARE),
)
_EXAMPLE_COLUMNS = (
    Column("score", "Score", ColumnType.NUMBER),
    Column("days", "Days", ColumnType.COUNT),
    Column("newspapers", "Newspapers"),
    Column("first_date", "Earlier day", ColumnType.DAY),
    Column("first_headline", "Earlier headline"),
    Column("second_headline", "Later headline"),
)


def _gap_row(gap: Gap) -> tuple[Cell, ...]:
    _, q25, median, q75, _ = gap.quantiles or (None,) * 5
    counts = (gap.pairs, gap.same_day, gap.later)
    return (*_which(gap), *counts, q25, median, q75, gap.mean, gap.longest)


def _hour_row(gap: Gap) -> tuple[Cell, ...]:
    return (*_which(gap), gap.pairs, gap.timed, gap.median_hours)


def _which(gap: Gap) -> tuple[str, str]:
    return band_label(gap.lowest, gap.highest), "the same" if gap.same_newspaper else "two"


def _far_row(far: FarPairs) -> tuple[Cell, ...]:
    return band_label(far.lowest, far.highest), far.later, far.far, far.far / far.later if far.later else None


def _example_row(example: Example) -> tuple[Cell, ...]:
    newspapers = ", ".join(dict.fromkeys(example.newspapers))
    links = [Linked(headline or "no headline", example.address) for headline in example.headlines]
    return example.score, example.days, newspapers, example.dates[0], *links
