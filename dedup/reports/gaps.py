"""Report `gaps`: how far apart duplicates are published, and the window of days that holds nearly all of the surest.

It counts like a study of a Google Alerts feed: exclusive bands of scores, pairs of one newspaper and of two, those more
than 60 days apart, and "98% of proposed duplicates at the 99% threshold are published within 5 days of one another".
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate
from typing import Annotated, Any

from django.urls import reverse

from articles.numbers import counted
from dedup.declarations import setting
from dedup.detection.article_sql import article_sql
from dedup.detection.passes import PASSES
from dedup.detection.runs.scope import Scope
from dedup.reports import scored_pairs
from dedup.reports.base import Chart, Report, ReportError
from dedup.reports.columns import NUMBER, SHARE, Table, column, share_of, table
from dedup.reports.drawing import PALETTE, alt, plot
from dedup.rows.columns import ColumnType

_NEWSPAPERS = {True: "the same newspaper", False: "two newspapers"}
_DAYS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
# With more, the points of a curve cover it.
_MOST_POINTS = 60
# A label to the right of a line that is further right than this would leave the chart.
_FAR_RIGHT = 0.3
# Shares of the top band for which the window is shown too.
_SHARES = (0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1.0)
# Pairs of a year's gap are more often templates than copies: the study of a Google Alerts feed looked at those from
# about two months on.
FAR_DAYS = 60
_EXAMPLES_OF_BAND = 3
# So that 0.98 of 50 pairs are 49, whatever the product of the two numbers is in floating point.
_ROUNDING = 1e-9
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

# What the statement counts where it finds nothing.
_NO_PAIRS = (0, 0, 0, None, None, None, 0, None, 0)

# Quantiles of days are of the pairs a day or more apart; those of hours are of all pairs whose two times are known.
_GAPS_SQL = """
SELECT band, same_newspaper,
       count(*),
       count(*) FILTER (WHERE days = 0),
       count(*) FILTER (WHERE days > 0),
       percentile_cont(%(quantiles)s::float8[]) WITHIN GROUP (ORDER BY days) FILTER (WHERE days > 0),
       avg(days) FILTER (WHERE days > 0)::float8,
       max(days) FILTER (WHERE days > 0),
       count(hours),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY hours),
       count(*) FILTER (WHERE days > %(far)s)
FROM scored_pair
GROUP BY band, same_newspaper
"""
# How many pairs of a band are how many days apart.
_BY_DAYS_SQL = """
SELECT days, count(*) FROM scored_pair WHERE band = %(band)s GROUP BY days ORDER BY days
"""
# The pairs of each band with the highest scores among those that are far apart.
_EXAMPLES_SQL = article_sql(
    """
WITH far AS (
    SELECT *, row_number() OVER (PARTITION BY band ORDER BY score DESC, days DESC, left_id, right_id) AS place
    FROM scored_pair AS pair
    WHERE days > %(far)s
)
SELECT far.band, far.score, far.days, far.pair_id, far.left_id, far.right_id,
       left_article.date, left_newspaper.name, left_article.headline,
       right_article.date, right_newspaper.name, right_article.headline
FROM far
{pair.both_articles}
JOIN articles_newspaper AS left_newspaper ON left_newspaper.id = left_article.newspaper_id
JOIN articles_newspaper AS right_newspaper ON right_newspaper.id = right_article.newspaper_id
WHERE far.place <= %(examples)s
ORDER BY far.band DESC, far.place
""",
    pair="far",
)


@dataclass(frozen=True, slots=True)
class GapsOptions(scored_pairs.PassOptions):
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
class Gap(scored_pairs.OfBand):
    """Pairs of a band, in one newspaper or in two, and the days between their articles.

    `quantiles` (5, 25, 50, 75 and 95 in 100), `mean` and `longest` are in days, of the pairs that are `later`: a day or
    more apart; None without any. `median_hours` is of all pairs whose two times are known, the `timed` ones. `far`
    pairs are more than 60 days apart.
    """

    same_newspaper: Annotated[bool, column("Newspapers", named="newspapers", shown="newspapers")]
    pairs: Annotated[int, column("Pairs")]
    same_day: Annotated[int, column("Same day")]
    later: Annotated[int, column("Later")]
    quantiles: Annotated[
        list[float] | None,
        column("25%", NUMBER, named="q25", item=1),
        column("Median", NUMBER, named="median", item=2),
        column("75%", NUMBER, named="q75", item=3),
    ]
    mean: Annotated[float | None, column("Mean")]
    longest: Annotated[int | None, column("Longest")]
    timed: Annotated[int, column("With two times")]
    median_hours: Annotated[float | None, column("Median hours")]
    far: int

    @property
    def newspapers(self) -> str:
        """Return whose pairs they are."""
        return "the same" if self.same_newspaper else "two"


@dataclass(frozen=True, slots=True)
class FarPairs(scored_pairs.OfBand):
    """Of the pairs of a band, or of all, that are `later`, how many are `far`."""

    later: Annotated[int, column("Pairs on different days")]
    far: Annotated[int, column(f"Over {FAR_DAYS} days")]
    share = share_of("far", "later")


@dataclass(frozen=True, slots=True)
class Example:
    """Two articles of a pair that are far apart, the earlier one first. `address` is a page that shows them."""

    score: Annotated[float, column("Score")]
    days: Annotated[int, column("Days")]
    address: str
    articles: tuple[int, int]
    dates: Annotated[tuple[date, date], column("Earlier day", ColumnType.DAY, named="first_date", item=0)]
    newspapers: Annotated[tuple[str, str], column("Newspapers", shown="newspaper_names", after="days")]
    headlines: Annotated[
        tuple[str, str],
        column("Earlier headline", named="first_headline", shown="named_headlines", item=0, link="address"),
        column("Later headline", named="second_headline", shown="named_headlines", item=1, link="address"),
    ]

    @property
    def newspaper_names(self) -> str:
        """Return the names of their newspapers."""
        return ", ".join(dict.fromkeys(self.newspapers))

    @property
    def named_headlines(self) -> tuple[str, ...]:
        """Return what the articles are called."""
        return tuple(headline or "no headline" for headline in self.headlines)


@dataclass(frozen=True, slots=True)
class Held:
    """The window of days that holds a share of a band's pairs: how many days, and how many pairs it holds."""

    share: Annotated[float, column("Share to hold", SHARE)]
    days: Annotated[int, column("Days")]
    pairs: Annotated[int, column("Pairs held")]


@dataclass(frozen=True, slots=True)
class Gaps(scored_pairs.CountedPairs):
    """How far apart pairs are.

    `windows` has the window for each share of the top band, `advised` among them; it is empty if the band is.
    `by_days` is how many pairs of the top band are how many days apart.
    """

    hold: float
    advised: Held | None
    windows: Annotated[list[Held], table("Windows")]
    gaps: Annotated[
        list[Gap],
        table("Days between the two articles", "band newspapers pairs same_day later q25 median q75 mean longest"),
        table(
            "Hours between them, where both times are known", "band newspapers pairs timed median_hours", named="hours"
        ),
    ]
    far: Annotated[list[FarPairs], table(f"Pairs more than {FAR_DAYS} days apart")]
    by_days: list[tuple[int, int]]
    examples: Annotated[list[Example], table(f"Examples of pairs more than {FAR_DAYS} days apart")]

    @property
    def top(self) -> str:
        """Return the band of the highest scores in words."""
        return self.gaps[0].label


class GapsReport(Report, name="gaps", label="Time gaps", page="Detection", options=GapsOptions, heavy_from=5_000):
    """Counts how far apart the articles of pairs were published, by score and newspaper, and how many days a window
    needs to hold nearly all of the surest pairs.
    """

    def check(self, options: GapsOptions) -> None:
        """Raise ReportError for a pass that never compares articles far apart."""
        if scored_pairs.has_no_window(options.pass_):
            return
        others = ", ".join(filter(scored_pairs.has_no_window, PASSES))
        raise ReportError(
            f"The pass {options.pass_} compares articles within a window of days only, so its pairs cannot show how "
            f"far apart duplicates are. Choose a pass that can compare all: {others}."
        )

    def result(self, scope: Scope, options: GapsOptions) -> Gaps:
        """Count the pairs that runs have stored, or those of the pass run afresh. Raises ReportError."""
        self.check(options)
        which = scored_pairs.pass_pairs(options, any_time=True)
        edges = scored_pairs.edges_of(which.lowest)
        with scored_pairs.scored(which, scope) as (cursor, facts):
            gaps = count_gaps(cursor, edges)
            cursor.execute(_BY_DAYS_SQL, {"band": len(edges)})
            by_days = cursor.fetchall()
            cursor.execute(_EXAMPLES_SQL, {"far": FAR_DAYS, "examples": _EXAMPLES_OF_BAND})
            examples = [_example(*row) for row in cursor.fetchall()]
        windows = held_by(sorted({*_SHARES, options.hold}), by_days)
        advised = next((window for window in windows if window.share == options.hold), None)
        return Gaps(*facts, options.hold, advised, windows, gaps, far_pairs(gaps), by_days, examples)

    def summary(self, result: Gaps) -> str:
        """Return the advised window, how many pairs are far apart, and where the pairs come from."""
        if not result.articles:
            return "There are no articles to count."
        said, every = [], result.far[-1]
        if every.later:
            said.append(
                f"Of {counted(every.later, 'pair')} published on different days, {every.far:,} "
                f"({every.far / every.later:.2%}) are more than {FAR_DAYS} days apart."
            )
        return "\n".join([_advice(result), " ".join([*said, *scored_pairs.source_sentences(result)])])

    def tables(self, result: Gaps) -> list[Table]:
        """Return the gaps, the windows, the pairs far apart by band, and examples of them."""
        windows, gaps, hours, *far = super().tables(result)
        return [gaps, hours, replace(windows, title=f"Windows for scores {result.top}"), *far]

    def charts(self, result: Gaps) -> Sequence[Chart]:
        """Return the spread of the gaps, and the share of the top band that each window holds."""
        spread = [_spread_chart(result.gaps)] if any(gap.later for gap in result.gaps) else []
        advised = result.advised.days if result.advised else None
        return [*spread, *([_window_chart(result.top, result.by_days, advised)] if result.by_days else [])]


def held_by(shares: Sequence[float], by_days: Sequence[tuple[int, int]]) -> list[Held]:
    """Return the fewest days within which at least each share of the pairs is; nothing without pairs.

    >>> held_by([0.98], [(0, 90), (2, 8), (70, 2)])
    [Held(share=0.98, days=2, pairs=98)]
    """
    if not by_days:
        return []
    held = list(accumulate(pairs for _, pairs in by_days))
    places = (bisect_left(held, share * held[-1] - _ROUNDING) for share in shares)
    return [Held(share, by_days[place][0], held[place]) for share, place in zip(shares, places, strict=True)]


def count_gaps(cursor: Any, edges: Sequence[float]) -> list[Gap]:
    """Return the gaps of the table scored_pair, the highest band first, pairs of one newspaper before others."""
    cursor.execute(_GAPS_SQL, {"quantiles": list(QUANTILES), "far": FAR_DAYS})
    found = {(band, same): rest for band, same, *rest in cursor.fetchall()}
    return [
        Gap(lowest, highest, same, *found.get((number, same), _NO_PAIRS))
        for number, lowest, highest in scored_pairs.bands_of(edges)
        for same in (True, False)
    ]


def far_pairs(gaps: Sequence[Gap]) -> list[FarPairs]:
    """Return the far pairs of each band, of one newspaper and of two together, and at last those of all bands."""
    bands = [
        FarPairs(one.lowest, one.highest, one.later + other.later, one.far + other.far)
        for one, other in zip(gaps[::2], gaps[1::2], strict=True)
    ]
    return [*bands, FarPairs(gaps[-1].lowest, 1.0, sum(band.later for band in bands), sum(band.far for band in bands))]


def _example(_band: int, score: float, days: int, pair: int | None, left: int, right: int, *facts: Any) -> Example:
    address = reverse("pair", args=[pair]) if pair else f"{reverse('compare')}?left={left}&right={right}"
    both = sorted(((facts[0], left, *facts[1:3]), (facts[3], right, *facts[4:])))
    dates, articles, newspapers, headlines = zip(*both, strict=True)
    return Example(score, days, address, articles, dates, newspapers, headlines)


def _advice(result: Gaps) -> str:
    if result.advised is None:
        return f"The pass {result.pass_name} finds no pairs with scores {result.top}, so no window can be advised."
    total = sum(pairs for _, pairs in result.by_days)
    days = "one day" if result.advised.days == 1 else f"{result.advised.days:,} days"
    return (
        f"A window of {days} holds {result.advised.pairs:,} of {counted(total, 'pair')} with scores {result.top} "
        f"({result.advised.pairs / total:.2%}; you asked for {result.hold:.2%})."
    )


def _spread_chart(gaps: Sequence[Gap]) -> Chart:
    """Return a bar for each band, for one newspaper and for two: the middle half of the gaps, with their median."""
    rows: list[dict[str, Any]] = [
        {
            "score": gap.label,
            "newspapers": _NEWSPAPERS[gap.same_newspaper],
            **{f"q{number}": value for number, value in zip((5, 25, 50, 75, 95), gap.quantiles, strict=True)},
        }
        for gap in gaps
        if gap.quantiles
    ]
    names = list(_NEWSPAPERS.values())
    base = plot(rows, alt.Step(20)).encode(
        y=alt.Y("score:N", title=None, sort=[str(row["score"]) for row in rows]),
        yOffset=alt.YOffset("newspapers:N", sort=names),
        color=alt.Color(
            "newspapers:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[PALETTE[0], PALETTE[1]]),
            legend=alt.Legend(title=None, orient="top", symbolOpacity=1),
        ),
    )
    scale = alt.Scale(type="log", domainMin=1, nice=False)
    axis = alt.Axis(values=_days_up_to(max(row["q95"] for row in rows))[1:])
    low = alt.X("q5:Q", title="Days between the two articles (logarithmic)", scale=scale, axis=axis)
    layers = alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=low, x2="q95:Q"),
        base.mark_bar(size=12, opacity=0.45).encode(x=alt.X("q25:Q", scale=scale), x2="q75:Q"),
        base.mark_tick(size=18, thickness=4).encode(x=alt.X("q50:Q", scale=scale)),
    )
    description = (
        "For each band of scores, pairs of the same newspaper and of two: the days between the articles of pairs that "
        "were published on different days. A thick line marks the median, a bar the middle half, a thin line 5 "
        "to 95 of 100 pairs."
    )
    return Chart("spread", "Days between the two articles, by score", description, layers)


def _window_chart(band: str, by_days: Sequence[tuple[int, int]], advised: int | None) -> Chart:
    """Return the share of a band's pairs that a window of so many days holds, with the advised window marked."""
    held = list(accumulate(pairs for _, pairs in by_days))
    rows = [{"days": days, "share": within / held[-1]} for (days, _), within in zip(by_days, held, strict=True)]
    last = max(1, by_days[-1][0])
    scale = alt.Scale(type="symlog", domain=[0, last * 1.1], nice=False)
    axis = alt.Axis(values=_days_up_to(last), format=",d")
    curve = plot(rows, 260).encode(
        x=alt.X("days:Q", title="Window in days (logarithmic)", scale=scale, axis=axis),
        y=alt.Y("share:Q", title="Share of the pairs", axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0, 1])),
    )
    curve = curve.mark_line(interpolate="step-after", point=len(rows) <= _MOST_POINTS)
    description = f"The share of the pairs with scores {band} that a window of days holds."
    if advised is not None:
        words, right = counted(advised, "day"), advised > last * _FAR_RIGHT
        mark = alt.Chart({"values": [{"days": advised, "label": words}]}).encode(x=alt.X("days:Q", scale=scale))
        label = mark.mark_text(align="right" if right else "left", dx=-6 if right else 6, y=240).encode(text="label:N")
        curve = alt.layer(curve, mark.mark_rule(color=PALETTE[1], strokeWidth=2), label)
        description += f" The advised window is {words}."
    return Chart("window", f"Pairs with scores {band} by window", description, curve)


def _days_up_to(most: float) -> list[int]:
    """Return the days to write on an axis, with 0, up to the first that is not less."""
    return [days for place, days in enumerate(_DAYS) if place < 2 or _DAYS[place - 1] < most]
