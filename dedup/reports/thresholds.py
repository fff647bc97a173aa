"""Report `thresholds`: how many pairs a pass finds in each band of scores, how many are new, and how many right.

It counts like a study of a Google Alerts feed, which ran MinHash at five thresholds: exact and partial pairs, the share
of the corpus, the overlap with equal titles and descriptions, and whether each threshold finds all of the next higher
one's pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import accumulate, pairwise
from operator import add
from typing import Annotated, Any

from django.db import connection, transaction

from articles.numbers import counted
from dedup.declarations import SettingEffect, setting
from dedup.detection.article_sql import article_sql
from dedup.detection.bounds import bound_named
from dedup.detection.runs.scope import Scope
from dedup.reports import scored_pairs
from dedup.reports.base import Chart, Report
from dedup.reports.columns import PART, SHARE, Confirmed, Decided, Table, column, drawn, share_of, share_of_all, table
from dedup.reports.drawing import precision_charts, stacked
from dedup.research.precision import UNKNOWN, Estimate, precision_of

# In the order of Counts. Articles are counted by the next statement.
_PAIRS_SQL = """
SELECT band,
       count(*),
       count(*) FILTER (WHERE score = 1),
       count(*) FILTER (WHERE score <> 1),
       count(*) FILTER (WHERE same_headline),
       count(*) FILTER (WHERE same_text),
       count(*) FILTER (WHERE same_headline AND same_text),
       count(*) FILTER (WHERE NOT same_headline AND NOT same_text),
       0, 0, 0,
       count(confirmed),
       count(*) FILTER (WHERE confirmed)
FROM scored_pair
GROUP BY band
"""
# An article counts in the band of its best pair.
_ARTICLES_SQL = article_sql(
    """
WITH best AS (
    SELECT article, max(band) AS band
    FROM (SELECT left_id AS article, band FROM scored_pair UNION ALL SELECT right_id, band FROM scored_pair) AS ends
    GROUP BY article
), headline_again AS (
    SELECT normalized_title FROM {articles} AS article
    WHERE normalized_title <> '' AND (%(until)s::date IS NULL OR date <= %(until)s) AND {article.in_newspapers}
    GROUP BY normalized_title HAVING count(*) > 1
), text_again AS (
    SELECT text_digest FROM {articles} AS article
    WHERE text_digest IS NOT NULL AND (%(until)s::date IS NULL OR date <= %(until)s) AND {article.in_newspapers}
    GROUP BY text_digest HAVING count(*) > 1
)
SELECT best.band, count(*), count(headline_again.normalized_title), count(text_again.text_digest)
FROM best
JOIN {articles} AS article ON article.id = best.article
LEFT JOIN headline_again USING (normalized_title)
LEFT JOIN text_again USING (text_digest)
WHERE %(since)s::date IS NULL OR date >= %(since)s
GROUP BY best.band
""",
    "article",
)
_CHECKED_SQL = """
CREATE TEMPORARY TABLE checked_pair (
    lower boolean DEFAULT true, left_id bigint, right_id bigint, score double precision
) ON COMMIT DROP
"""
_COPY_CHECKED_SQL = "COPY checked_pair (left_id, right_id, score) FROM STDIN"
# Of the pairs of a threshold: how many there are, how many the lower one lacks, and how many of these because both
# articles are in a dense group; and how many only the lower one has although they reach the threshold.
_SUBSET_SQL = """
SELECT count(*) FILTER (WHERE higher.left_id IS NOT NULL),
       count(*) FILTER (WHERE lower.left_id IS NULL AND NOT dense.both),
       count(*) FILTER (WHERE lower.left_id IS NULL AND dense.both),
       count(*) FILTER (WHERE higher.left_id IS NULL AND lower.score::real >= %(threshold)s::real)
FROM (SELECT * FROM checked_pair WHERE NOT lower) AS higher
FULL JOIN (SELECT * FROM checked_pair WHERE lower) AS lower
    ON lower.left_id = higher.left_id AND lower.right_id = higher.right_id
CROSS JOIN LATERAL (
    SELECT coalesce(higher.left_id = ANY (%(dense)s) AND higher.right_id = ANY (%(dense)s), false) AS both
) AS dense
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """Pairs and articles, of one band of scores or of all scores from a threshold on.

    `exact` pairs have score 1, the others are `partial`. `new` pairs share neither the headline nor the text.
    `headline_again` and `text_again` are the articles whose headline or text any other article has too. `decided` pairs
    were confirmed or rejected by editors, not by implication; `confirmed` is a part of them.
    """

    pairs: Annotated[int, column("Pairs")] = 0
    exact: Annotated[int, column("Exact")] = 0
    partial: Annotated[int, column("Partial")] = 0
    same_headline: Annotated[int, column("Same headline")] = 0
    same_text: Annotated[int, column("Same text")] = 0
    same_both: Annotated[int, column("Both")] = 0
    new: Annotated[int, column("New")] = 0
    articles: Annotated[int, column("Articles")] = 0
    headline_again: int = 0
    text_again: int = 0
    decided: Decided = 0
    confirmed: Confirmed = 0
    share = share_of_all("articles", "articles")
    share_of_headlines = share_of("headline_again", "articles", "Repeat a headline", named="headline_again")
    share_of_texts = share_of("text_again", "articles", "Repeat a text", named="text_again")

    @property
    @column("Precision", SHARE, named="precision", item=0)
    @column("95% from", SHARE, named="low", item=1)
    @column("95% to", SHARE, named="high", item=2)
    def precision(self) -> Estimate | None:
        """Return the share of the decided pairs that were confirmed, with its interval."""
        return precision_of(self.confirmed, self.decided)

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of both."""
        return Counts(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class ScoreBand(scored_pairs.OfBand):
    """The counts of a band. An article counts in the band of its best pair."""

    counts: Annotated[Counts, PART]


@dataclass(frozen=True, slots=True)
class Threshold:
    """The counts of all scores from `lowest` on."""

    lowest: Annotated[float, column("Score from", named="threshold")]
    counts: Annotated[Counts, PART]


@dataclass(frozen=True, slots=True)
class Subset:
    """The pairs of a run at `threshold`, against those of a run at the next `lower` threshold.

    `missing` pairs are not among the latter. Those of `dense` groups are not either, but that is intended: of a dense
    group, only some pairs are kept. `only_lower` pairs reach `threshold`, but only the run at the lower one found them.
    """

    threshold: Annotated[float, column("Score from")]
    lower: Annotated[float, column("Compared with")]
    pairs: Annotated[int, column("Pairs")]
    missing: Annotated[int, column("Missing there")]
    dense: Annotated[int, column("Left out in dense groups")]
    only_lower: Annotated[int, column("Found only there")]


@dataclass(frozen=True, slots=True)
class ThresholdsOptions(scored_pairs.PassOptions):
    """Which pairs, and whether the pass is run again at each threshold."""

    subset_check: bool = setting(
        False,
        help="Run the pass again at each threshold, and count the pairs that a lower one misses.",
        source="a study of a Google Alerts feed missed 11 pairs in this way",
        label="Subset check",
    )


@dataclass(frozen=True, slots=True)
class Thresholds(scored_pairs.CountedPairs):
    """The pairs by score, in bands and from each band on."""

    bands: Annotated[
        list[ScoreBand],
        table("Bands of scores", "band pairs exact partial same_headline same_text same_both new articles share"),
    ]
    thresholds: Annotated[
        list[Threshold],
        table("All pairs from a score on", "threshold exact partial new articles share headline_again text_again"),
    ]
    subset: Annotated[list[Subset], table("Does a lower threshold find all pairs of a higher one?")]


class ThresholdsReport(
    Report, name="thresholds", label="Thresholds", page="Detection", options=ThresholdsOptions, heavy_from=50_000
):
    """Counts the pairs of a pass by score: how many there are, how many exact matching would miss, and how many of the
    decided ones are duplicates.
    """

    def heavy_with(self, options: ThresholdsOptions) -> int | None:
        """Return a lower bound if the pass is run: five thresholds take 0.4 seconds with 248 articles, 8 with 5,000."""
        is_run = options.subset_check or scored_pairs.pass_pairs(options, any_time=False).run is None
        return 500 if is_run else self.heavy_from

    def result(self, scope: Scope, options: ThresholdsOptions) -> Thresholds:
        """Count the pairs that runs have stored, or those of the pass run afresh."""
        which = scored_pairs.pass_pairs(options, any_time=False)
        with scored_pairs.scored(which, scope) as (cursor, facts):
            bands = count_bands(cursor, scored_pairs.edges_of(which.lowest), scope)
        totals = accumulate(band.counts for band in bands)
        thresholds = [Threshold(band.lowest, total) for band, total in zip(bands, totals, strict=True)]
        subset = list(check_subsets(which, scope)) if options.subset_check else []
        return Thresholds(*facts, bands, thresholds, subset)

    def summary(self, result: Thresholds) -> str:
        """Return what was found at the lowest threshold, and where the pairs come from."""
        if not result.articles:
            return "There are no articles to count."
        lowest, counts = result.thresholds[-1].lowest, counts_of(result)
        found = (
            f"The pass {result.pass_name} finds {counted(counts.pairs, 'pair')} with a score of at least {lowest:.2f}: "
            f"{counts.exact:,} exact and {counts.partial:,} partial, with {counts.articles:,} of {result.articles:,} "
            f"articles ({counts.articles / result.articles:.2%}).\nPairs that share neither the headline nor the text: "
            f"{counts.new:,}."
        )
        if not counts.decided and counts.pairs:
            found += " Editors have decided none of these pairs."
        if result.subset:
            missing = sum(row.missing for row in result.subset)
            found += (
                f" Subset check: {counted(missing, 'pair')} of a higher threshold missing at the next lower one."
                if missing
                else " Subset check: each threshold finds all pairs of the next higher one."
            )
        return " ".join([found, *scored_pairs.source_sentences(result)])

    def tables(self, result: Thresholds) -> list[Table]:
        """Return the bands and the thresholds; what editors decided and the subset check, if there is any."""
        bands, thresholds, subset = super().tables(result)
        measured = "band pairs decided confirmed precision low high"
        precision = drawn(result.bands, ScoreBand, "precision", "Pairs that editors decided", columns=measured)
        decided = counts_of(result).decided
        return [bands, thresholds, *([precision] if decided else []), *([subset] if result.subset else [])]

    def charts(self, result: Thresholds) -> Sequence[Chart]:
        """Return the pairs of each band, exact and partial ones, and the share of right ones that editors decided."""
        decided = [(band.label, band.counts.decided, *(band.counts.precision or UNKNOWN)) for band in result.bands]
        return [*([_pairs_chart(result)] if counts_of(result).pairs else []), *precision_charts(decided)]


def counts_of(result: Thresholds) -> Counts:
    """Return the counts of all pairs."""
    return result.thresholds[-1].counts


def _pairs_chart(result: Thresholds) -> Chart:
    """Return a bar for each band, the highest first, with its exact and partial pairs."""
    parts = [(band.label, {"exact": band.counts.exact, "partial": band.counts.partial}) for band in result.bands]
    bars = stacked(parts, "Pairs", height=32)
    most = max(result.bands, key=lambda row: row.counts.pairs)
    description = (
        f"A bar for each band of scores, with exact and partial pairs. The longest one is {most.label}: "
        f"{most.counts.pairs:,} pairs."
    )
    return Chart("bands", f"Pairs of the pass {result.pass_name} by score", description, bars)


# ---- counting ----------------------------------------------------------------------------------------


def count_bands(cursor: Any, edges: Sequence[float], scope: Scope) -> list[ScoreBand]:
    """Return the bands of the table scored_pair, the highest first."""
    found = dict.fromkeys(range(1, len(edges) + 1), Counts())
    cursor.execute(_PAIRS_SQL)
    found |= {band: Counts(*counts) for band, *counts in cursor.fetchall()}
    cursor.execute(_ARTICLES_SQL, scope.bounds())
    for band, articles, headline, text in cursor.fetchall():
        found[band] += Counts(articles=articles, headline_again=headline, text_again=text)
    return [ScoreBand(lowest, highest, found[number]) for number, lowest, highest in scored_pairs.bands_of(edges)]


def check_subsets(which: scored_pairs.PassPairs, scope: Scope) -> Iterator[Subset]:
    """Run the pass at each threshold, and compare it with the next lower one. Memory holds some thousand pairs."""
    bound = bound_named(which.pass_name, SettingEffect.FROM_SCORE)
    if bound is None:
        return

    def copy_from(threshold: float) -> frozenset[int]:
        changes: dict[str, Any] = {bound: threshold}
        config = replace(which.config, **changes)
        return scored_pairs.copy_fresh(cursor, _COPY_CHECKED_SQL, replace(which, config=config), scope)

    edges = scored_pairs.edges_of(which.lowest)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CHECKED_SQL)
        copy_from(edges[0])
        for higher, lower in pairwise(edges):
            cursor.execute("UPDATE checked_pair SET lower = false")
            dense = sorted(copy_from(lower))
            cursor.execute("ANALYZE checked_pair")
            cursor.execute(_SUBSET_SQL, {"threshold": higher, "dense": dense})
            yield Subset(higher, lower, *cursor.fetchone())
            cursor.execute("DELETE FROM checked_pair WHERE NOT lower")
        cursor.execute("DROP TABLE checked_pair")
