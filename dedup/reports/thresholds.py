"""Report `thresholds`: how many pairs a pass finds in each band of scores, how many are new, and how many right.

It counts like a study of a Google Alerts feed, which ran MinHash at five thresholds: exact and partial pairs, the share
of the corpus, the overlap with equal titles and descriptions, and whether each threshold finds all of the next higher
one's pairs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from articles.models import Article
from dedup.declarations import Settings, setting
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Cell, Chart, Column, ColumnType, Report, Table
from dedup.reports.drawing import PALETTE, WIDTH, alt
from dedup.reports.score_bands import Band, Counts, Subset, Threshold, check_subsets, count_bands, cumulated
from dedup.reports.scored_pairs import PassOptions, edges_of, pairs, pass_pairs, scored, source_sentences
from dedup.research.bounds import interval


@dataclass(frozen=True, slots=True)
class ThresholdsOptions(PassOptions):
    """Which pairs, and whether the pass is run again at each threshold."""

    subset_check: bool = setting(
        False,
        help="Run the pass again at each threshold, and count the pairs that a lower one misses.",
        unit="yes or no",
        source="a study of a Google Alerts feed missed 11 pairs in this way",
        label="Subset check",
    )


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The result. `run` is the run whose pairs were counted; without one, the pass was run afresh, because of `why`."""

    pass_name: str
    run: int | None
    why: str
    newer: int
    articles: int
    dense_articles: int
    bands: list[Band]
    thresholds: list[Threshold]
    subset: list[Subset]


class ThresholdsReport(Report):
    """Pairs, articles, overlap and precision by score."""

    name: ClassVar[str] = "thresholds"
    label: ClassVar[str] = "Thresholds"
    help: ClassVar[str] = (
        "Counts the pairs of a pass by score: how many there are, how many exact matching would miss, and how many "
        "of the decided ones are duplicates."
    )
    options_class: ClassVar[type[Settings]] = ThresholdsOptions
    heavy: ClassVar[bool] = True

    def result(self, scope: Scope, options: ThresholdsOptions) -> Thresholds:
        """Count the pairs that runs have stored, or those of the pass run afresh."""
        which = pass_pairs(options, any_time=False)
        articles = Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).count()
        with scored(which, scope) as (cursor, dense):
            bands = count_bands(cursor, edges_of(which.lowest), scope)
        subset = check_subsets(which, scope) if options.subset_check else []
        return Thresholds(
            which.pass_name, which.run, which.why, which.newer, articles, dense, bands, cumulated(bands), subset
        )

    def says(self, result: Thresholds) -> str:
        """Return what was found at the lowest threshold, and where the pairs come from."""
        if not result.articles:
            return "There are no articles to count."
        lowest, counts = result.thresholds[-1].lowest, counts_of(result)
        found = (
            f"The pass {result.pass_name} finds {pairs(counts.pairs)} with a score of at least {lowest:.2f}: "
            f"{counts.exact:,} exact and {counts.partial:,} partial, with {counts.articles:,} of {result.articles:,} "
            f"articles ({counts.articles / result.articles:.2%}). Pairs that share neither the headline nor the text: "
            f"{counts.new:,}."
        )
        if not counts.decided and counts.pairs:
            found += " Editors have decided none of these pairs."
        return " ".join([found, *_subset_sentences(result.subset), *source_sentences(result)])

    def tables(self, result: Thresholds) -> list[Table]:
        """Return the bands and the thresholds; what editors decided and the subset check, if there is any."""
        bands = tuple(_band_row(band, result.articles) for band in result.bands)
        thresholds = tuple(_threshold_row(threshold, result.articles) for threshold in result.thresholds)
        tables = [
            Table("bands", "Bands of scores", _BAND_COLUMNS, bands),
            Table("thresholds", "All pairs from a score on", _THRESHOLD_COLUMNS, thresholds),
        ]
        if counts_of(result).decided:
            precision = tuple(_precision_row(band) for band in result.bands)
            tables.append(Table("precision", "Pairs that editors decided", _PRECISION_COLUMNS, precision))
        if result.subset:
            rows = tuple(dataclasses.astuple(each) for each in result.subset)
            tables.append(
                Table("subset", "Does a lower threshold find all pairs of a higher one?", _SUBSET_COLUMNS, rows)
            )
        return tables

    def charts(self, result: Thresholds) -> Sequence[Chart]:
        """Return the pairs of each band, exact and partial ones, and the share of right ones that editors decided."""
        counts = counts_of(result)
        return [
            *([_pairs_chart(result)] if counts.pairs else []),
            *([_precision_chart(result)] if counts.decided else []),
        ]


def counts_of(result: Thresholds) -> Counts:
    """Return the counts of all pairs."""
    return result.thresholds[-1].counts


_BAND_COLUMNS = (
    Column("band", "Score"),
    Column("pairs", "Pairs", ColumnType.COUNT),
    Column("exact", "Exact", ColumnType.COUNT),
    Column("partial", "Partial", ColumnType.COUNT),
    Column("same_headline", "Same headline", ColumnType.COUNT),
    Column("same_text", "Same text", ColumnType.COUNT),
    Column("same_both", "Both", ColumnType.COUNT),
    Column("new", "New", ColumnType.COUNT),
    Column("articles", "Articles", ColumnType.COUNT),
    Column("share", "Share", ColumnType.SHARE),
)
_THRESHOLD_COLUMNS = (
    Column("threshold", "Score from", ColumnType.NUMBER),
    Column("exact", "Exact pairs", ColumnType.COUNT),
    Column("partial", "Partial pairs", ColumnType.COUNT),
    Column("new", "New pairs", ColumnType.COUNT),
    Column("articles", "Articles", ColumnType.COUNT),
    Column("share", "Share", ColumnType.SHARE),
    Column("headline_again", "Repeat a headline", ColumnType.SHARE),
    Column("text_again", "Repeat a text", ColumnType.SHARE),
)
_PRECISION_COLUMNS = (
    Column("band", "Score"),
    Column("pairs", "Pairs", ColumnType.COUNT),
    Column("decided", "Decided", ColumnType.COUNT),
    Column("confirmed", "Confirmed", ColumnType.COUNT),
    Column("precision", "Precision", ColumnType.SHARE),
    Column("low", "95% from", ColumnType.SHARE),
    Column("high", "95% to", ColumnType.SHARE),
)
_SUBSET_COLUMNS = (
    Column("threshold", "Score from", ColumnType.NUMBER),
    Column("lower", "Compared with", ColumnType.NUMBER),
    Column("pairs", "Pairs", ColumnType.COUNT),
    Column("missing", "Missing there", ColumnType.COUNT),
    Column("dense", "Left out in dense groups", ColumnType.COUNT),
    Column("only_lower", "Found only there", ColumnType.COUNT),
)


def _band_row(band: Band, articles: int) -> tuple[Cell, ...]:
    each = band.counts
    shared = (each.same_headline, each.same_text, each.same_both, each.new)
    return (
        band.label, each.pairs, each.exact, each.partial, *shared, each.articles, _share(each.articles, articles)
    )  # fmt: skip


def _threshold_row(threshold: Threshold, articles: int) -> tuple[Cell, ...]:
    each = threshold.counts
    again = (_share(each.headline_again, each.articles), _share(each.text_again, each.articles))
    share = _share(each.articles, articles)
    return (threshold.lowest, each.exact, each.partial, each.new, each.articles, share, *again)


def _precision_row(band: Band) -> tuple[Cell, ...]:
    each = band.counts
    low, high = interval(each.decided, each.confirmed) if each.decided else (None, None)
    return (band.label, each.pairs, each.decided, each.confirmed, _share(each.confirmed, each.decided), low, high)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _subset_sentences(subset: Sequence[Subset]) -> Iterator[str]:
    """Say how many pairs of a threshold the next lower one misses."""
    if not subset:
        return
    missing = sum(each.missing for each in subset)
    yield (
        f"Subset check: {pairs(missing)} of a higher threshold missing at the next lower one."
        if missing
        else "Subset check: each threshold finds all pairs of the next higher one."
    )


def _pairs_chart(result: Thresholds) -> Chart:
    """Return a bar for each band, the highest first, with its exact and partial pairs."""
    rows = [
        {"score": band.label, "kind": kind, "pairs": pairs, "order": order}
        for band in result.bands
        for order, (kind, pairs) in enumerate((("exact", band.counts.exact), ("partial", band.counts.partial)))
    ]
    bars = (
        alt.Chart({"values": rows}, width=WIDTH, height=alt.Step(32))
        .mark_bar()
        .encode(
            x=alt.X("pairs:Q", title="Pairs"),
            y=alt.Y("score:N", title=None, sort=[band.label for band in result.bands]),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=["exact", "partial"], range=[PALETTE[0], PALETTE[1]]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            order="order:Q",
        )
    )
    most = max(result.bands, key=lambda each: each.counts.pairs)
    says = (
        f"A bar for each band of scores, with exact and partial pairs. The longest one is {most.label}: "
        f"{most.counts.pairs:,} pairs."
    )
    return Chart("bands", f"Pairs of the pass {result.pass_name} by score", says, bars)


def _precision_chart(result: Thresholds) -> Chart:
    """Return the share of confirmed pairs of each band among the decided ones, with its interval."""
    names = ("score", "pairs", "decided", "confirmed", "precision", "low", "high")
    rows = [dict(zip(names, _precision_row(band), strict=True)) for band in result.bands if band.counts.decided]
    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart({"values": rows}, width=WIDTH, height=alt.Step(32)).encode(
        y=alt.Y("score:N", title=None, sort=[band.label for band in result.bands])
    )
    share = alt.X("precision:Q", title="Confirmed, of the decided", scale=scale, axis=alt.Axis(format=".0%"))
    layers = alt.layer(
        base.mark_rule(color=PALETTE[0], strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(color=PALETTE[0], filled=True, size=80, opacity=1).encode(x=share),
    )
    says = (
        "A point for the share of confirmed pairs of each band that has decided ones, and a line for its 95% interval."
    )
    return Chart("precision", "Confirmed duplicates of those that editors decided, by score", says, layers)
