"""The minhash pass: much the same text at any distance in time.

MinHash and locality-sensitive hashing name the candidates (dedup/lsh.py), and each is then verified by the exact
Jaccard similarity of the two sets of shingles: a pair that is reported is right, and a
pair at the threshold is missed with a probability that the settings bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup import lsh
from dedup.passes.base import ConfigError, Connection, NearConfig, PassConfig, Reach, setting
from dedup.passes.reading import Fresh, all_fresh, first_row, read_pages
from dedup.shingles import IntArray, character_shingle_sets
from dedup.sketches import jaccard_of_hashed
from dedup.types import Candidate, Tally, Window

# Candidates whose texts are read again and compared at once.
_VERIFIED_AT_ONCE = 2_000

_TEXTS_SQL = "SELECT id, left(normalized_text, %(prefix)s) FROM articles_article WHERE id = ANY (%(ids)s)"


@dataclass(frozen=True, slots=True)
class MinhashConfig(NearConfig):
    """Settings of the minhash pass."""

    enabled: bool = setting(
        False,
        help="Whether the pass is part of a run.",
        unit="yes or no",
        source="a choice: it reads whole articles, and pairs over months are templates as often as copies",
    )
    clusters: bool = setting(
        False,
        help="Whether a pair that only this pass found puts its articles into one cluster. "
        "Otherwise the pair waits in the queue for an editor.",
        unit="yes or no",
        source="SNAP News: over all time, weekly scores and forecasts meet, which are templates",
    )
    threshold: float = setting(
        0.75,
        range=(0.3, 1.0),
        unit="Jaccard similarity, 0..1",
        help="Pairs that score at least this are proposed.",
        source="SNAP News: the lowest of its thresholds",
    )
    day_window: int = setting(
        36_500,
        range=(0, 36_500),
        unit="days, inclusive",
        help="Two articles are compared when their days of publication are at most this far apart; 36,500 is all time.",
        source="SNAP News: a third of its pairs are over 60 days apart",
    )
    shingle: int = setting(
        5,
        range=(2, 20),
        unit="characters",
        help="How many neighbouring characters make a shingle.",
        source="Leskovec, Rajaraman and Ullman, MMDS, 3.2.2; SNAP News",
    )
    prefix: int = setting(
        10_000,
        range=(50, 100_000),
        unit="characters of normalised text",
        help="How much of the beginning of each article is compared.",
        source="longer than 99 of 100 news articles",
    )
    slots: int = setting(
        256,
        range=(16, 1024),
        unit="minima a signature, a power of two",
        help="More find pairs at the threshold more surely, and take longer.",
        source="SNAP News: 256 permutations",
    )
    recall: float = setting(
        0.999,
        range=(0.5, 0.999999),
        unit="probability",
        help="How surely a pair at the threshold becomes a candidate; more similar pairs are surer still.",
        source="a choice: at most one of a thousand is missed",
    )

    def __post_init__(self) -> None:
        NearConfig.__post_init__(self)
        if self.slots & (self.slots - 1):
            raise ConfigError(f"slots is {self.slots}; it must be a power of two, such as 128, 256 or 512")


class _Corpus(NamedTuple):
    """The articles of a window and of the days before it, ordered by day and id."""

    ids: IntArray
    days: IntArray
    fresh: Fresh | None
    keys: npt.NDArray[np.uint32]  # shape (bands, articles)
    occupied: IntArray  # the positions of the articles that have shingles


class MinhashPass:
    """Pairs whose sets of character shingles have a Jaccard similarity of at least the threshold."""

    name: ClassVar[str] = "minhash"
    label: ClassVar[str] = "Similar text, any time"
    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.PAIR
    config_class: ClassVar[type[PassConfig]] = MinhashConfig

    def find(
        self, window: Window, config: MinhashConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once with its exact similarity. Memory: 200 bytes an article, and the candidates."""
        tally = tally or Tally()
        corpus = _read_corpus(window, config, connection, tally)
        left, right = lsh.candidate_pairs(corpus.keys, corpus.occupied)
        wanted = corpus.days[right] - corpus.days[left] <= config.day_window
        wanted &= right >= first_row(corpus.days, window)
        if corpus.fresh is not None:
            wanted &= corpus.fresh[left] | corpus.fresh[right]
        left, right = left[wanted], right[wanted]
        tally.candidates += len(left)
        tally.verified += len(left)
        for start in range(0, len(left), _VERIFIED_AT_ONCE):
            chosen = slice(start, start + _VERIFIED_AT_ONCE)
            pairs = np.stack([corpus.ids[left[chosen]], corpus.ids[right[chosen]]])
            for first, second, score in _verified(pairs, config, connection):
                yield Candidate(min(first, second), max(first, second), self.name, score)


def _read_corpus(window: Window, config: MinhashConfig, connection: Connection, tally: Tally) -> _Corpus:
    rows = lsh.rows_per_band(config.slots, config.threshold, config.recall)
    parts: list[_Corpus] = []
    for page in read_pages(window, connection, tally, day_window=config.day_window, prefix=config.prefix):
        sets = character_shingle_sets(page.texts, config.shingle)
        keys = lsh.band_keys(lsh.signatures(sets, config.slots), rows)
        parts.append(_Corpus(page.ids, page.days, page.fresh, keys, np.flatnonzero(sets.sizes)))
    empty = np.empty(0, dtype=np.int64)
    if not parts:
        return _Corpus(empty, empty, None, np.empty((0, 0), dtype=np.uint32), empty)
    starts = np.cumsum([0, *(len(part.ids) for part in parts[:-1])])
    return _Corpus(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.days for part in parts]),
        all_fresh([part.fresh for part in parts]),
        np.concatenate([part.keys for part in parts], axis=1),
        np.concatenate([part.occupied + start for part, start in zip(parts, starts, strict=True)]),
    )


def _verified(pairs: IntArray, config: MinhashConfig, connection: Connection) -> Iterator[tuple[int, int, float]]:
    """Yield those of the pairs of article ids that reach the threshold, with their score."""
    ids, positions = np.unique(pairs, return_inverse=True)
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS_SQL, {"prefix": config.prefix, "ids": ids.tolist()})
        texts = dict(cursor.fetchall())
    sets = character_shingle_sets([texts[each] for each in ids.tolist()], config.shingle)
    left, right = positions.reshape(pairs.shape)
    scores = jaccard_of_hashed(sets, left, right)
    for place in np.flatnonzero(scores >= config.threshold):
        yield int(pairs[0, place]), int(pairs[1, place]), float(scores[place])
