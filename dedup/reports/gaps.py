"""Report `gaps`: how far apart duplicates are published, and the window of days that holds nearly all of the surest.

It counts like a study of a Google Alerts feed: exclusive bands of scores, pairs of one newspaper and of two, those more
than 60 days apart, and "98% of proposed duplicates at the 99% threshold are published within 5 days of one another".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from articles.models import Article
from dedup.declarations import Settings, setting
from dedup.detection.passes import PASSES
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, Report, ReportError
from dedup.reports.columns import SHARE, Table, column, table, tables_of
from dedup.reports.drawing import PALETTE, WIDTH, alt
from dedup.reports.scored_pairs import (
    PassOptions,
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

_NEWSPAPERS = {True: "the same newspaper", False: "two newspapers"}
_DAYS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
# With more, the points of a curve cover it.
_MOST_POINTS = 60
# A label to the right of a line that is further right than this would leave the chart.
_FAR_RIGHT = 0.3
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

    share: Annotated[float, column("Share to hold", SHARE)]
    days: Annotated[int, column("Days")]
    pairs: Annotated[int, column("Pairs held")]


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
    windows: Annotated[list[Held], table("Windows")]
    gaps: Annotated[
        list[Gap],
        table(
            "Days between the two articles",
            "band newspapers pairs same_day later q25 median q75 mean longest",
        ),
        table(
            "Hours between them, where both times are known", "band newspapers pairs timed median_hours", named="hours"
        ),
    ]
    far: Annotated[list[FarPairs], table(f"Pairs more than {FAR_DAYS} days apart")]
    by_days: list[tuple[int, int]]
    examples: Annotated[list[Example], table(f"Examples of pairs more than {FAR_DAYS} days apart")]


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
        articles = Article.objects.in_scope(**scope.bounds()).count()
        with scored(which, scope) as (cursor, dense):
            gaps, by_days = count_gaps(cursor, edges), pairs_by_days(cursor, len(edges))
            examples = far_examples(cursor)
        windows = held_by(sorted({*_SHARES, options.hold}), by_days)
        advised = next((window for window in windows if window.share == options.hold), None)
        return Gaps(
            which.pass_name, which.run, which.why, which.newer, articles, dense,
            options.hold, advised, windows, gaps, far_pairs(gaps), by_days, examples,
        )  # fmt: skip

    def summary(self, result: Gaps) -> str:
        """Return the advised window, how many pairs are far apart, and where the pairs come from."""
        if not result.articles:
            return "There are no articles to count."
        return " ".join([*_advice(result), *_far_sentences(result.far[-1]), *source_sentences(result)])

    def tables(self, result: Gaps) -> list[Table]:
        """Return the gaps, the windows, the pairs far apart by band, and examples of them."""
        windows, gaps, hours, *far = tables_of(result)
        return [gaps, hours, replace(windows, title=f"Windows for scores {_top(result)}"), *far]

    def charts(self, result: Gaps) -> Sequence[Chart]:
        """Return the spread of the gaps, and the share of the top band that each window holds."""
        spread = [_spread_chart(result.gaps)] if any(gap.later for gap in result.gaps) else []
        advised = result.advised.days if result.advised else None
        return [*spread, *([_window_chart(_top(result), result.by_days, advised)] if result.by_days else [])]


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
    return result.gaps[0].label


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
    base = alt.Chart({"values": rows}, width=WIDTH, height=alt.Step(20)).encode(
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
    total, held, rows = sum(number for _, number in by_days), 0, []
    for days, number in by_days:
        held += number
        rows.append({"days": days, "share": held / total})
    last = max(1, by_days[-1][0])
    scale = alt.Scale(type="symlog", domain=[0, last * 1.1], nice=False)
    axis = alt.Axis(values=_days_up_to(last), format=",d")
    curve = (
        alt.Chart({"values": rows}, width=WIDTH, height=260)
        .mark_line(interpolate="step-after", point=len(rows) <= _MOST_POINTS)
        .encode(
            x=alt.X("days:Q", title="Window in days (logarithmic)", scale=scale, axis=axis),
            y=alt.Y("share:Q", title="Share of the pairs", axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0, 1])),
        )
    )
    description = f"The share of the pairs with scores {band} that a window of days holds."
    if advised is None:
        return Chart("window", f"Pairs with scores {band} by window", description, curve)
    words = "1 day" if advised == 1 else f"{advised:,} days"
    right = advised > last * _FAR_RIGHT
    mark = alt.Chart({"values": [{"days": advised, "label": words}]}).encode(x=alt.X("days:Q", scale=scale))
    layers = alt.layer(
        curve,
        mark.mark_rule(color=PALETTE[1], strokeWidth=2),
        mark.mark_text(align="right" if right else "left", dx=-6 if right else 6, y=240).encode(text="label:N"),
    )
    return Chart(
        "window", f"Pairs with scores {band} by window", f"{description} The advised window is {words}.", layers
    )


def _days_up_to(most: float) -> list[int]:
    """Return the days to write on an axis, with 0, up to the first that is not less."""
    return [days for place, days in enumerate(_DAYS) if place < 2 or _DAYS[place - 1] < most]
