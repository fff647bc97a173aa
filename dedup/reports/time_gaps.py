"""Counts how far apart the two articles of each pair were published, by bands of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from django.urls import reverse

from dedup.detection.article_sql import article_sql
from dedup.reports.columns import NUMBER, SHARE, Band, column
from dedup.reports.scored_pairs import band_label
from dedup.reports.together import share
from dedup.rows.columns import ColumnType

# Pairs of a year's gap are more often templates than copies: the study of a Google Alerts feed looked at those from
# about two months on.
FAR_DAYS = 60
_EXAMPLES_OF_BAND = 3
# So that 0.98 of 50 pairs are 49, whatever the product of the two numbers is in floating point.
_ROUNDING = 1e-9
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

# What the statement counts where it finds nothing.
_NO_PAIRS = (0, 0, None, None, None, 0, None, 0)

# Quantiles of days are of the pairs a day or more apart; those of hours are of all pairs whose two times are known.
_GAPS_SQL = """
SELECT band, same_newspaper,
       count(*),
       count(*) FILTER (WHERE days = 0),
       percentile_cont(%(quantiles)s::float8[]) WITHIN GROUP (ORDER BY days) FILTER (WHERE days > 0),
       avg(days) FILTER (WHERE days > 0),
       max(days) FILTER (WHERE days > 0),
       count(hours),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY hours),
       count(*) FILTER (WHERE days > %(far)s)
FROM scored_pair
GROUP BY band, same_newspaper
"""
_BY_DAYS_SQL = """
SELECT days, count(*) FROM scored_pair WHERE band = %(band)s GROUP BY days ORDER BY days
"""
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
class Gap:
    """Pairs of a band, in one newspaper or in two, and the days between their articles.

    `quantiles` (5, 25, 50, 75 and 95 in 100), `mean` and `longest` are in days, of the pairs that are `later`: a day or
    more apart; None without any. `median_hours` is of all pairs whose two times are known, the `timed` ones. `far`
    pairs are more than 60 days apart.
    """

    lowest: Band
    highest: float
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
    def label(self) -> str:
        """Return the band in words."""
        return band_label(self.lowest, self.highest)

    @property
    def newspapers(self) -> str:
        """Return whose pairs they are."""
        return "the same" if self.same_newspaper else "two"


@dataclass(frozen=True, slots=True)
class FarPairs:
    """Of the pairs with scores from `lowest` to `highest` that are `later`, how many are `far`."""

    lowest: Band
    highest: float
    later: Annotated[int, column("Pairs on different days")]
    far: Annotated[int, column(f"Over {FAR_DAYS} days")]

    @property
    def label(self) -> str:
        """Return the band in words."""
        return band_label(self.lowest, self.highest)

    @property
    @column("Share", SHARE)
    def share(self) -> float | None:
        """Return the share of far pairs, 0..1."""
        return share(self.far, self.later)


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


def count_gaps(cursor: Any, edges: Sequence[float]) -> list[Gap]:
    """Return the gaps of the table scored_pair, the highest band first, pairs of one newspaper before others."""
    cursor.execute(_GAPS_SQL, {"quantiles": list(QUANTILES), "far": FAR_DAYS})
    found = {(band, same): rest for band, same, *rest in cursor.fetchall()}
    return [
        _gap(lowest, upper, same, found.get((len(edges) - place, same), _NO_PAIRS))
        for place, (lowest, upper) in enumerate(zip(edges, [1.0, *edges], strict=False))
        for same in (True, False)
    ]


def _gap(lowest: float, highest: float, same_newspaper: bool, counted: Sequence[Any]) -> Gap:
    pairs, same_day, quantiles, mean, longest, *others = counted
    mean = None if mean is None else float(mean)
    later = pairs - same_day
    return Gap(lowest, highest, same_newspaper, pairs, same_day, later, quantiles, mean, longest, *others)


def far_pairs(gaps: Sequence[Gap]) -> list[FarPairs]:
    """Return the far pairs of each band, of one newspaper and of two together, and at last those of all bands."""
    bands = [
        FarPairs(one.lowest, one.highest, one.later + other.later, one.far + other.far)
        for one, other in zip(gaps[::2], gaps[1::2], strict=True)
    ]
    return [*bands, FarPairs(gaps[-1].lowest, 1.0, sum(band.later for band in bands), sum(band.far for band in bands))]


def pairs_by_days(cursor: Any, band: int) -> list[tuple[int, int]]:
    """Return how many pairs of a band are how many days apart, in order of days."""
    cursor.execute(_BY_DAYS_SQL, {"band": band})
    return [(days, pairs) for days, pairs in cursor.fetchall()]


def window_holding(part: float, by_days: Sequence[tuple[int, int]]) -> int | None:
    """Return the fewest days within which at least this share of the pairs is, 0..1; None without pairs.

    >>> window_holding(0.98, [(0, 90), (2, 8), (70, 2)])
    2
    """
    total = sum(pairs for _, pairs in by_days)
    held = 0
    for days, pairs in by_days:
        held += pairs
        if held >= part * total - _ROUNDING:
            return days
    return None


def far_examples(cursor: Any) -> list[Example]:
    """Return the pairs of each band with the highest scores among those that are far apart."""
    cursor.execute(_EXAMPLES_SQL, {"far": FAR_DAYS, "examples": _EXAMPLES_OF_BAND})
    return [_example(*row) for row in cursor.fetchall()]


def _example(_band: int, score: float, days: int, pair: int | None, left: int, right: int, *facts: Any) -> Example:
    address = reverse("pair", args=[pair]) if pair else f"{reverse('compare')}?left={left}&right={right}"
    both = sorted(((facts[0], left, *facts[1:3]), (facts[3], right, *facts[4:])))
    dates, articles, newspapers, headlines = zip(*both, strict=True)
    return Example(score, days, address, articles, dates, newspapers, headlines)
