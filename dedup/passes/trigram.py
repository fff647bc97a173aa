"""The trigram pass: pg_trgm's similarity() of the beginnings of two articles a few days apart, exactly.

Asked of every pair, similarity() extracts the trigrams of both texts anew each time. Here the trigrams of a
block of days are made once, as pg_trgm makes them; parity sketches (dedup/sketches.py) rule out the pairs that
cannot reach the threshold; and PostgreSQL scores the few that are left, so that every pair and every
score is the one of the plain join.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dedup import sketches
from dedup.passes.base import Connection, NearConfig, PassConfig, Reach, setting
from dedup.passes.reading import Page, all_fresh, first_row, read_pages
from dedup.shingles import TRIGRAM_BITS, Alphabet, characters_of, trigram_sets
from dedup.types import Candidate, Tally, Window

# Pairs in one question to PostgreSQL: about half a second of its work.
_SCORED_AT_ONCE = 2_000

# show_trgm, and not Python, says which characters belong to words: the two disagree on marks and rare letters.
_ALPHABET_SQL = """
SELECT cardinality(show_trgm(character)) > 0, lower(character)
FROM unnest(%(characters)s::text[]) WITH ORDINALITY AS asked (character, place)
ORDER BY place
"""

# MATERIALIZED: similarity() claims to cost nothing, so the planner would run it again for the comparison.
# ::float4 because a score of exactly 0.7 is below the double precision 0.7.
_SCORES_SQL = """
WITH survivor AS MATERIALIZED (
    SELECT left_id, right_id
    FROM unnest(%(left_ids)s::bigint[], %(right_ids)s::bigint[]) AS pair (left_id, right_id)
), scored AS MATERIALIZED (
    SELECT left_id, right_id, similarity(
        left(left_article.normalized_text, %(prefix)s), left(right_article.normalized_text, %(prefix)s)
    ) AS score
    FROM survivor
    JOIN articles_article AS left_article ON left_article.id = left_id
    JOIN articles_article AS right_article ON right_article.id = right_id
)
SELECT left_id, right_id, score
FROM scored
WHERE score >= %(threshold)s::float4
ORDER BY left_id, right_id
"""


@dataclass(frozen=True, slots=True)
class TrigramConfig(NearConfig):
    """Settings of the trigram pass."""

    prefix: int = setting(
        1000,
        range=(50, 100_000),
        unit="characters of normalised text",
        help="How much of the beginning of each article is compared.",
        source="Skoli: the first 1000 characters",
    )
    threshold: float = setting(
        0.6,
        range=(0.3, 1.0),
        unit="similarity, 0..1",
        help="Pairs that score at least this are proposed.",
        source="83 of 100 labelled duplicates of real news score at least 0.6; below 0.3 unrelated articles meet",
    )
    cluster_threshold: float = setting(
        0.8,
        range=(0.3, 1.0),
        unit="similarity, 0..1",
        help="A pair that only this pass found joins a cluster from this score on; below it waits in the queue.",
        source="between 0.6 and 0.8 most pairs within one newspaper are templates: rates, forecasts, columns",
    )

    def joins(self, candidate: Candidate) -> bool:
        """Return whether this pair, found by this pass alone, joins a cluster."""
        # PostgreSQL's scores are 32-bit floats: 0.8 arrives as the nearest of them.
        return self.clusters and bool(np.float32(candidate.score) >= np.float32(self.cluster_threshold))


class TrigramPass:
    """Pairs a few days apart whose beginnings have a pg_trgm similarity of at least the threshold."""

    name: ClassVar[str] = "trigram"
    label: ClassVar[str] = "Similar text"
    by_days: ClassVar[bool] = True
    reach: ClassVar[Reach] = Reach.PAIR
    config_class: ClassVar[type[PassConfig]] = TrigramConfig

    def find(
        self, window: Window, config: TrigramConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once with PostgreSQL's own score. Memory: the texts of the window, about 2 KB an article."""
        tally = tally or Tally()
        articles = _read_texts(window, config, connection, tally)
        if len(articles.ids) < 2:
            return
        survivors = _survivors(articles, window, config, connection)
        tally.candidates += survivors.candidates
        tally.verified += len(survivors.left)
        found = np.sort(np.stack([articles.ids[survivors.left], articles.ids[survivors.right]]), axis=0)
        for start in range(0, found.shape[1], _SCORED_AT_ONCE):
            pairs = found[:, start : start + _SCORED_AT_ONCE]
            with connection.cursor() as cursor:
                cursor.execute(
                    _SCORES_SQL,
                    {
                        "left_ids": pairs[0].tolist(),
                        "right_ids": pairs[1].tolist(),
                        "prefix": config.prefix,
                        "threshold": config.threshold,
                    },
                )
                for left_id, right_id, score in cursor:
                    yield Candidate(left_id, right_id, self.name, score)


def _read_texts(window: Window, config: TrigramConfig, connection: Connection, tally: Tally) -> Page:
    pages = list(read_pages(window, connection, tally, day_window=config.day_window, prefix=config.prefix))
    empty = np.empty(0, dtype=np.int64)
    return Page(
        np.concatenate([empty, *(page.ids for page in pages)]),
        np.concatenate([empty, *(page.days for page in pages)]),
        all_fresh([page.fresh for page in pages]),
        [text for page in pages for text in page.texts],
    )


def _survivors(articles: Page, window: Window, config: TrigramConfig, connection: Connection) -> sketches.SimilarPairs:
    """Return the positions of the pairs whose sets of trigrams reach the threshold."""
    return sketches.similar_pairs(
        trigram_sets(articles.texts, _alphabet(articles.texts, connection)),
        articles.days,
        first_row=first_row(articles.days, window),
        day_window=config.day_window,
        threshold=config.threshold,
        universe=1 << TRIGRAM_BITS,
        fresh=articles.fresh,
    )


def _alphabet(texts: list[str], connection: Connection) -> Alphabet:
    """Ask PostgreSQL how it sees each character of the texts.

    Raises ValueError where its lower() makes several characters of one, which no lower-cased text holds
    under the locales of PostgreSQL's own and the C library's providers.
    """
    characters = characters_of(["\n", *texts])
    with connection.cursor() as cursor:
        cursor.execute(_ALPHABET_SQL, {"characters": characters})
        rows = cursor.fetchall()
    for character, (in_word, lowered) in zip(characters, rows, strict=True):
        if in_word and len(lowered) != 1:
            raise ValueError(
                f"the database lowers {character!r} to {lowered!r}, which the trigram pass cannot follow; "
                "make the database with the locale C.UTF-8"
            )
    pairs = zip(characters, rows, strict=True)
    return Alphabet.of((character, lowered if in_word else None) for character, (in_word, lowered) in pairs)
