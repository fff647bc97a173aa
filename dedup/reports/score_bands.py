"""Counts the pairs of a pass by bands of scores, and checks that lower thresholds find those of higher ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import islice, pairwise
from operator import add
from typing import Annotated, Any

from django.db import connection, transaction

from dedup.declarations import Finds
from dedup.detection.article_sql import article_sql
from dedup.detection.bounds import bound_named
from dedup.detection.runs.dry_run import find_with
from dedup.detection.runs.scope import Scope
from dedup.detection.types import Tally
from dedup.reports.columns import PART, SHARE, Band, Confirmed, Decided, column
from dedup.reports.scored_pairs import PassPairs, band_label, edges_of, fresh_scope
from dedup.reports.together import share
from dedup.research.precision import Measured, precision_of

_COPIED_AT_ONCE = 10_000

_PAIRS_SQL = """
SELECT band,
       count(*),
       count(*) FILTER (WHERE score = 1),
       count(*) FILTER (WHERE same_headline),
       count(*) FILTER (WHERE same_text),
       count(*) FILTER (WHERE same_headline AND same_text),
       count(*) FILTER (WHERE NOT same_headline AND NOT same_text),
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
    lower boolean, left_id bigint, right_id bigint, score double precision
) ON COMMIT DROP
"""
_COPY_CHECKED_SQL = "COPY checked_pair (lower, left_id, right_id, score) FROM STDIN"
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

    @column("Share", SHARE)
    def share(self, result: Any) -> float | None:
        """Return the share of all articles of the result, 0..1."""
        return share(self.articles, result.articles)

    @property
    @column("Repeat a headline", SHARE, named="headline_again", item=0)
    @column("Repeat a text", SHARE, named="text_again", item=1)
    def again(self) -> tuple[float | None, float | None]:
        """Return the shares of the articles that repeat a headline or a text, 0..1."""
        return share(self.headline_again, self.articles), share(self.text_again, self.articles)

    @property
    @column("Precision", SHARE, named="precision", item=0)
    @column("95% from", SHARE, named="low", item=1)
    @column("95% to", SHARE, named="high", item=2)
    def precision(self) -> Measured:
        """Return the share of the decided pairs that were confirmed, with its interval."""
        return precision_of(self.confirmed, self.decided)

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of both."""
        return Counts(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class ScoreBand:
    """The counts of the scores from `lowest` up to `highest`, which belongs to the band above, except 1.

    An article counts in the band of its best pair.
    """

    lowest: Band
    highest: float
    counts: Annotated[Counts, PART]

    @property
    def label(self) -> str:
        """Return the band in words."""
        return band_label(self.lowest, self.highest)


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


def count_bands(cursor: Any, edges: Sequence[float], scope: Scope) -> list[ScoreBand]:
    """Return the bands of the table scored_pair, the highest first."""
    found = dict.fromkeys(range(1, len(edges) + 1), Counts())
    cursor.execute(_PAIRS_SQL)
    for band, pairs, exact, *others in cursor.fetchall():
        headline, text, both, new, decided, confirmed = others
        found[band] = Counts(
            pairs, exact, pairs - exact, headline, text, both, new, decided=decided, confirmed=confirmed
        )
    cursor.execute(_ARTICLES_SQL, scope.bounds())
    for band, articles, headline, text in cursor.fetchall():
        found[band] += Counts(articles=articles, headline_again=headline, text_again=text)
    highest = [1.0, *edges]
    return [
        ScoreBand(lowest, upper, found[len(edges) - place])
        for place, (lowest, upper) in enumerate(zip(edges, highest, strict=False))
    ]


def cumulated(bands: Sequence[ScoreBand]) -> list[Threshold]:
    """Return the counts from each band's lowest score on."""
    total, thresholds = Counts(), []
    for band in bands:
        total += band.counts
        thresholds.append(Threshold(band.lowest, total))
    return thresholds


def check_subsets(which: PassPairs, scope: Scope) -> list[Subset]:
    """Run the pass at each threshold, and compare it with the next lower one. Memory holds some thousand pairs."""
    if bound_named(which.pass_name, Finds.FROM_SCORE) is None:
        return []
    checked = []
    edges = edges_of(which.lowest)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CHECKED_SQL)
        _check(cursor, which, scope, edges[0])
        for higher, lower in pairwise(edges):
            cursor.execute("UPDATE checked_pair SET lower = false")
            dense = _check(cursor, which, scope, lower)
            cursor.execute("ANALYZE checked_pair")
            cursor.execute(_SUBSET_SQL, {"threshold": higher, "dense": dense})
            checked.append(Subset(higher, lower, *cursor.fetchone()))
            cursor.execute("DELETE FROM checked_pair WHERE NOT lower")
        cursor.execute("DROP TABLE checked_pair")
    return checked


def _check(cursor: Any, which: PassPairs, scope: Scope, threshold: float) -> list[int]:
    """Copy the pairs of a run at the threshold; return the articles of dense groups."""
    name = bound_named(which.pass_name, Finds.FROM_SCORE) or ""
    changes: dict[str, Any] = {name: threshold}
    config = dataclasses.replace(which.config, **changes)
    tally = Tally()
    found = find_with(which.pass_name, config, fresh_scope(which, scope), tally)
    while batch := list(islice(found, _COPIED_AT_ONCE)):
        with cursor.copy(_COPY_CHECKED_SQL) as copy:
            for candidate in batch:
                copy.write_row((True, candidate.left, candidate.right, candidate.score))
    return sorted(tally.crowded)
