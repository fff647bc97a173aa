"""The trigram pass: pg_trgm's exact similarity() of the starts of two articles a few days apart.

Called for every pair, similarity() would extract the trigrams of both texts each time. Here the trigrams of a
block of days are extracted once, as pg_trgm does it; parity sketches (kernels/parity_join.py) rule out the pairs
that cannot reach the threshold; and the rest are scored as similarity() does, by a quotient of integers.

PostgreSQL has the last word: in every block it also scores some of the pairs itself, and if one score is not the
same to the last bit, it scores the whole block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dedup.declarations import SettingEffect, setting
from dedup.detection.article_sql import article_sql
from dedup.detection.kernels.parity_join import SimilarPairs
from dedup.detection.kernels.tokens import TRIGRAM_BITS, Alphabet, IntArray, characters_of, concatenated, trigram_sets
from dedup.detection.passes.base import (
    Connection,
    Explanation,
    NearConfig,
    PassConfig,
    PreparedPass,
    characters_compared,
    lowest_score,
)
from dedup.detection.passes.near import AlphabetOf, NearPass, NearSets, Scores, explain_near
from dedup.detection.passes.reading import NO_ARTICLES, ArticleBatch, read_beginnings_of
from dedup.detection.types import Mark, Tally, Window

# Pairs per query: about half a second of PostgreSQL's time.
_SCORED_AT_ONCE = 2_000

Letters = Sequence[tuple[str, str]]

# show_trgm decides which characters belong to words, because Python differs on marks and rare letters.
_ALPHABET_SQL = """
SELECT character, lower(character)
FROM unnest(%(characters)s::text[]) AS asked (character)
WHERE cardinality(show_trgm(character)) > 0
"""
# All characters of Unicode but zero and the halves of pairs, which no text in PostgreSQL has.
_WHOLE_ALPHABET_SQL = """
SELECT chr(code), lower(chr(code))
FROM generate_series(1, 1114111) AS code
WHERE code NOT BETWEEN 55296 AND 57343 AND cardinality(show_trgm(chr(code))) > 0
"""
# From so many blocks on, asking for all characters once is faster than asking in each block.
_MANY_BLOCKS = 20

_SCORES_SQL = article_sql(
    """
SELECT similarity(left({left_article.text}, %(prefix)s), left({right_article.text}, %(prefix)s))
FROM unnest(%(left_ids)s::bigint[], %(right_ids)s::bigint[]) WITH ORDINALITY AS pair (left_id, right_id, place)
{pair.both_articles}
ORDER BY place
""",
    "left_article",
    "right_article",
)

# The join of the Skoli study: PostgreSQL scores every pair of the window, then filters. The later article of each pair
# is from the day. MATERIALIZED, or the planner would score each pair again to compare it with the threshold.
_PLAIN_JOIN_SQL = article_sql(
    """
WITH scored AS MATERIALIZED (
    SELECT least(a.id, b.id) AS left_id, greatest(a.id, b.id) AS right_id,
           similarity(left({a.text}, %(prefix)s), left({b.text}, %(prefix)s)) AS score
    FROM {articles} AS a
    JOIN {articles} AS b ON b.date = %(day)s AND a.date BETWEEN b.date - %(day_window)s AND b.date
    WHERE (a.date < b.date OR a.id < b.id)
      AND {a.in_newspapers} AND {b.in_newspapers}
)
SELECT left_id, right_id, score
FROM scored
WHERE score >= %(threshold)s::float4
""",
    "a",
    "b",
)

_PG_TRGM = r"""@misc{pgtrgm,
  author = {{PostgreSQL Global Development Group}},
  title = {pg\_trgm: Support for similarity of text using trigram matching},
  url = {https://www.postgresql.org/docs/current/pgtrgm.html}
}"""


@dataclass(frozen=True, slots=True)
class TrigramConfig(NearConfig):
    """Settings of the trigram pass."""

    prefix: int = characters_compared(1000, "Skoli: the first 1000 characters")
    threshold: float = lowest_score(
        0.6,
        "similarity, 0..1",
        "83 of 100 labelled duplicates of real news score at least 0.6; below 0.3, unrelated articles match",
        least=0.3,
    )
    arbitrated: int = setting(
        100,
        range=(0, 100_000_000),
        unit="pairs per block",
        help="Number of pairs per block that PostgreSQL's similarity() scores as well; if one score differs, it scores "
        "them all. The maximum scores every pair.",
        source="measured: similarity() takes 0.15 ms per pair, more than the rest of the pass",
        label="Scores checked by the database",
        effect=SettingEffect.SAME,
    )


class TrigramPass(NearPass, PreparedPass):
    """Pairs a few days apart whose beginnings have a pg_trgm similarity of at least the threshold."""

    name: ClassVar[str] = "trigram"
    label: ClassVar[str] = "Similar text"
    proposes: ClassVar[str] = "similar beginnings, at most three days apart"
    config_class: ClassVar[type[PassConfig]] = TrigramConfig
    mark: ClassVar[Mark] = Mark.BEGINNING
    marked_note: ClassVar[str] = "the beginnings that were compared: {prefix:,} characters, without punctuation."
    cites: ClassVar[tuple[str, ...]] = (_PG_TRGM,)
    plain_join: ClassVar[str] = _PLAIN_JOIN_SQL
    seconds_an_article: ClassVar[float] = 0.0001

    def preparations(self, blocks: int, _articles: int) -> int:
        """Return 1 where it is faster to ask for all characters once than for those of each block."""
        return int(blocks >= _MANY_BLOCKS)

    def prepare(
        self, _window: Window, _config: TrigramConfig, connection: Connection, _part: int, _parts: int, _tally: Tally
    ) -> Alphabet:
        """Return how PostgreSQL sees all characters."""
        return Alphabet.of(whole_alphabet(connection))

    def prepared(self, parts: Sequence[Alphabet]) -> Alphabet:
        """Return the alphabet."""
        return parts[0]

    def alphabet(self, texts: Sequence[str], connection: Connection) -> Alphabet:
        """Return how PostgreSQL sees each character of the texts. Raises ValueError like _letters."""
        return Alphabet.of(_letters(_ALPHABET_SQL, {"characters": characters_of(["\n", *texts])}, connection))

    def sets_of(self, batches: Iterable[ArticleBatch], _config: TrigramConfig, alphabet: AlphabetOf) -> NearSets:
        """Return the articles as sets of trigrams. Memory: all texts, about 2 KB per article, and their sets."""
        articles = concatenated([NO_ARTICLES, *batches])
        sets = trigram_sets(articles.texts, alphabet(articles.texts))
        return NearSets(articles.ids, articles.days, articles.fresh, sets, universe=1 << TRIGRAM_BITS)

    def verified(self, found: SimilarPairs) -> int:
        """Return how many pairs may be scored by PostgreSQL, too."""
        return len(found.scores)

    def arbitrated(
        self, pairs: IntArray, scores: Scores, window: Window, config: TrigramConfig, connection: Connection
    ) -> Scores:
        """Return the scores of the pairs of article ids as PostgreSQL computes them.

        similarity() divides two integers in 32 bits, and so do these scores. PostgreSQL scores some pairs, evenly
        spread, and all of them if one of its scores differs.
        """
        scores = scores.astype(np.float32)
        count = len(scores)
        asked = np.unique(np.linspace(0, count - 1, min(config.arbitrated, count)).astype(np.int64))
        theirs = _scored_by_database(pairs[:, asked], window, config, connection)
        if len(asked) == count or not np.array_equal(theirs, scores[asked]):
            return theirs if len(asked) == count else _scored_by_database(pairs, window, config, connection)
        return scores

    def reached(self, scores: npt.NDArray[Any], threshold: float) -> tuple[IntArray, npt.NDArray[np.float64]]:
        """Return which scores reach the threshold as similarity() sees it, and these as PostgreSQL writes them.

        similarity() divides two integers in 32 bits. The quotient of two integers below 2^24 in 64 bits, rounded to 32,
        is the same (Figueroa, When is double rounding innocuous?, 1995). It is written as 0.7, not 0.699999988….
        """
        single = scores.astype(np.float32)
        places = np.flatnonzero(single >= np.float32(threshold))
        return places, single[places].astype(np.str_).astype(np.float64)

    def explain(
        self, left: int, right: int, window: Window, config: TrigramConfig, connection: Connection
    ) -> Explanation:
        """Return why the two articles are proposed or not, with PostgreSQL's own score."""
        articles = read_beginnings_of([left, right], window, connection, config.prefix)
        [score] = _scored_by_database(np.array([[left], [right]]), window, config, connection)
        reached = bool(score >= np.float32(config.threshold))
        return explain_near(articles, config, float(np.str_(score)), reached=reached)


def _scored_by_database(pairs: IntArray, window: Window, config: TrigramConfig, connection: Connection) -> Scores:
    compared = {"prefix": config.prefix, "boilerplate": window.boilerplate.value}
    scores: list[float] = []
    for start in range(0, pairs.shape[1], _SCORED_AT_ONCE):
        left_ids, right_ids = pairs[:, start : start + _SCORED_AT_ONCE].tolist()
        with connection.cursor() as cursor:
            cursor.execute(_SCORES_SQL, {"left_ids": left_ids, "right_ids": right_ids, **compared})
            scores += (score for (score,) in cursor)
    return np.array(scores, dtype=np.float32)


def whole_alphabet(connection: Connection) -> Letters:
    """Return all characters that are parts of words to PostgreSQL, each with what lower() makes of it.

    Takes half a second. Raises ValueError like _letters.
    """
    return _letters(_WHOLE_ALPHABET_SQL, {}, connection)


def _letters(statement: str, parameters: dict[str, Any], connection: Connection) -> Letters:
    """Return the rows of a statement: characters, each with what lower() makes of it.

    Raises ValueError if PostgreSQL's lower() makes several characters of one. With the locale providers "builtin" and
    "libc" this happens for no character of a lower-cased text.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows: Letters = cursor.fetchall()
    for character, lowered in rows:
        if len(lowered) != 1:
            raise ValueError(
                f"the database's lower() turns {character!r} into {lowered!r}, which the trigram pass cannot handle; "
                "create the database with the locale C.UTF-8"
            )
    return rows
