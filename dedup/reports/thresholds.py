"""Report `thresholds`: how many pairs a pass finds in each band of scores, how many are new, and how many right.

It counts like a study of a Google Alerts feed, which ran MinHash at five thresholds: exact and partial pairs, the share
of the corpus, the overlap with equal titles and descriptions, and whether each threshold finds all of the next higher
one's pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from articles.models import Article
from dedup.declarations import Settings, setting
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, Report
from dedup.reports.charts import precision_chart
from dedup.reports.columns import Table, drawn, table, tables_of
from dedup.reports.drawing import PALETTE, WIDTH, alt
from dedup.reports.score_bands import Counts, ScoreBand, Subset, Threshold, check_subsets, count_bands, cumulated
from dedup.reports.scored_pairs import PassOptions, edges_of, pairs, pass_pairs, scored, source_sentences


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
    bands: Annotated[
        list[ScoreBand],
        table("Bands of scores", "band pairs exact partial same_headline same_text same_both new articles share"),
    ]
    thresholds: Annotated[
        list[Threshold],
        table(
            "All pairs from a score on",
            "threshold exact partial new articles share headline_again text_again",
        ),
    ]
    subset: Annotated[list[Subset], table("Does a lower threshold find all pairs of a higher one?")]


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
        articles = Article.objects.in_scope(**scope.bounds()).count()
        with scored(which, scope) as (cursor, dense):
            bands = count_bands(cursor, edges_of(which.lowest), scope)
        subset = check_subsets(which, scope) if options.subset_check else []
        return Thresholds(
            which.pass_name, which.run, which.why, which.newer, articles, dense, bands, cumulated(bands), subset
        )

    def summary(self, result: Thresholds) -> str:
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
        bands, thresholds, subset = tables_of(result)
        measured = "band pairs decided confirmed precision low high"
        precision = drawn(result.bands, ScoreBand, "precision", "Pairs that editors decided", columns=measured)
        decided = counts_of(result).decided
        return [bands, thresholds, *([precision] if decided else []), *([subset] if result.subset else [])]

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


def _subset_sentences(subset: Sequence[Subset]) -> Iterator[str]:
    """Say how many pairs of a threshold the next lower one misses."""
    if not subset:
        return
    missing = sum(row.missing for row in subset)
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
    most = max(result.bands, key=lambda row: row.counts.pairs)
    description = (
        f"A bar for each band of scores, with exact and partial pairs. The longest one is {most.label}: "
        f"{most.counts.pairs:,} pairs."
    )
    return Chart("bands", f"Pairs of the pass {result.pass_name} by score", description, bars)


def _precision_chart(result: Thresholds) -> Chart:
    decided = [band for band in result.bands if band.counts.decided]
    return precision_chart((band.label, band.counts.decided, band.counts.precision) for band in decided)
