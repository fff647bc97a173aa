"""The charts of the report `gaps`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dedup.reports.base import Chart
from dedup.reports.drawing import PALETTE, WIDTH, alt
from dedup.reports.scored_pairs import band_label
from dedup.reports.time_gaps import Gap

_NEWSPAPERS = {True: "the same newspaper", False: "two newspapers"}
_DAYS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
# With more, the points of a curve cover it.
_MOST_POINTS = 60
# A label to the right of a line that is further right than this would leave the chart.
_FAR_RIGHT = 0.3


def spread_chart(gaps: Sequence[Gap]) -> Chart:
    """Return a bar for each band, for one newspaper and for two: the middle half of the gaps, with their median."""
    rows: list[dict[str, Any]] = [
        {
            "score": band_label(gap.lowest, gap.highest),
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
    says = (
        "For each band of scores, pairs of the same newspaper and of two: the days between the articles of pairs that "
        "were published on different days. A thick line marks the median, a bar the middle half, a thin line 5 "
        "to 95 of 100 pairs."
    )
    return Chart("spread", "Days between the two articles, by score", says, layers)


def window_chart(band: str, by_days: Sequence[tuple[int, int]], advised: int | None) -> Chart:
    """Return the share of a band's pairs that a window of so many days holds, with the advised window marked."""
    total, held, rows = sum(pairs for _, pairs in by_days), 0, []
    for days, pairs in by_days:
        held += pairs
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
    says = f"The share of the pairs with scores {band} that a window of days holds."
    if advised is None:
        return Chart("window", f"Pairs with scores {band} by window", says, curve)
    words = "1 day" if advised == 1 else f"{advised:,} days"
    right = advised > last * _FAR_RIGHT
    mark = alt.Chart({"values": [{"days": advised, "label": words}]}).encode(x=alt.X("days:Q", scale=scale))
    layers = alt.layer(
        curve,
        mark.mark_rule(color=PALETTE[1], strokeWidth=2),
        mark.mark_text(align="right" if right else "left", dx=-6 if right else 6, y=240).encode(text="label:N"),
    )
    return Chart("window", f"Pairs with scores {band} by window", f"{says} The advised window is {words}.", layers)


def _days_up_to(most: float) -> list[int]:
    """Return the days to write on an axis, with 0, up to the first that is not less."""
    return [each for place, each in enumerate(_DAYS) if place < 2 or _DAYS[place - 1] < most]
