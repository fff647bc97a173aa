"""The minhash pass: similar texts, however long apart they were published.

MinHash and locality-sensitive hashing select the candidates (kernels/minhash.py), and the exact Jaccard similarity of
the two sets of shingles verifies each. So every reported pair is correct, and the settings bound the
probability that a pair at the threshold is missed.
"""

import dataclasses
import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dedup.declarations import ConfigError, SettingEffect, setting
from dedup.detection.kernels import dense_join, minhash
from dedup.detection.kernels.parity_join import DayRange, SimilarPairs
from dedup.detection.kernels.tokens import (
    Flags,
    IntArray,
    Ragged,
    character_shingle_sets,
    character_shingles,
    concatenated,
    distinct,
    jaccard_from,
    jaccard_of,
    keep_freed_memory,
)
from dedup.detection.passes.base import (
    BRODER_1997,
    Connection,
    Explanation,
    NearConfig,
    Pass,
    PassConfig,
    Reach,
    Spread,
    characters_compared,
    days_compared,
    included,
    lowest_score,
)
from dedup.detection.passes.near import explain_near, note
from dedup.detection.passes.reading import ArticleBatch, first_row, read_batches, read_beginnings_of
from dedup.detection.types import Candidate, Mark, Tally, Window

# Texts per step, so that their shingles stay in the processor's cache.
_SIGNED_AT_ONCE = 96
# Candidates whose texts are read in one query, and shingles kept for later candidates (8 bytes each).
_VERIFIED_AT_ONCE = 500
_MEMBERS_KEPT = 16_000_000

_LI_2012 = """@inproceedings{li2012,
  author = {Li, Ping and Owen, Art and Zhang, Cun-Hui},
  title = {One permutation hashing},
  booktitle = {Advances in Neural Information Processing Systems 25},
  year = {2012}
}"""


@dataclass(frozen=True, slots=True)
class MinhashConfig(NearConfig):
    """Settings of the minhash pass."""

    enabled: bool = included(
        False, "a choice: it reads whole articles, and pairs months apart are templates as often as copies"
    )
    threshold: float = lowest_score(
        0.75, "Jaccard similarity, 0..1", "SNAP News: the lowest of its thresholds", least=0.3
    )
    day_window: int = days_compared(36_500, "SNAP News: a third of its pairs are over 60 days apart")
    shingle: int = setting(
        5,
        range=(2, 20),
        unit="characters",
        help="Number of consecutive characters in a shingle.",
        source="Leskovec, Rajaraman and Ullman, MMDS, 3.2.2; SNAP News",
        label="Length of the compared pieces",
    )
    prefix: int = characters_compared(10_000, "longer than 99 of 100 news articles")
    slots: int = setting(
        256,
        range=(16, 1024),
        unit="minima per signature, a power of two",
        help="More slots find pairs at the threshold more reliably, but take longer.",
        source="SNAP News: 256 permutations",
        label="Values in the sketch of an article",
    )
    recall: float = setting(
        0.999,
        range=(0.5, 0.999999),
        unit="probability",
        help="Probability that a pair at the threshold becomes a candidate; it is higher for more similar pairs.",
        source="a choice: at most one in a thousand is missed",
        label="Chance that a pair is compared",
        effect=SettingEffect.MORE_IF_HIGHER,
    )

    def __post_init__(self) -> None:
        NearConfig.__post_init__(self)
        if self.slots & (self.slots - 1):
            raise ConfigError(
                f"slots is {self.slots}; it must be a power of two, such as 128, 256 or 512", setting="slots"
            )


class _Corpus(NamedTuple):
    """The articles of a window and of the days before it, ordered by day and id."""

    ids: IntArray
    days: IntArray
    fresh: Flags | None
    signatures: minhash.Signatures
    occupied: Flags  # which articles have shingles


class MinhashPass(Pass):
    """Pairs whose sets of character shingles have a Jaccard similarity of at least the threshold."""

    name: ClassVar[str] = "minhash"
    label: ClassVar[str] = "Similar text, any time"
    proposes: ClassVar[str] = "similar texts, any time apart"
    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.PAIR
    compares_texts: ClassVar[bool] = True
    config_class: ClassVar[type[PassConfig]] = MinhashConfig
    mark: ClassVar[Mark] = Mark.CHARACTERS
    marked_note: ClassVar[str] = "every {shingle} characters in a row that both texts have."
    cites: ClassVar[tuple[str, ...]] = (BRODER_1997, _LI_2012)
    spread: ClassVar[Spread | None] = Spread.BANDS
    seconds_an_article: ClassVar[float] = 0.0006

    def find(
        self, window: Window, config: MinhashConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once with its exact similarity. Memory: one byte per slot and article."""
        tally = tally or Tally()
        keep_freed_memory()
        batches = read_batches(window, connection, tally, day_window=config.day_window, prefix=config.prefix)
        corpus = _corpus_of(batches, config)
        verified = _Verifier(config, window, connection)
        possible_hubs = minhash.in_large_runs(corpus.signatures, _bands(config), config.dense_from) & corpus.occupied
        yield from _of_groups(np.flatnonzero(possible_hubs), corpus, window, config, connection, tally)
        for left, right in _candidates(corpus, window, config, possible_hubs):
            tally.candidates += len(left)
            tally.verified += len(left)
            for start in range(0, len(left), _VERIFIED_AT_ONCE):
                chosen = slice(start, start + _VERIFIED_AT_ONCE)
                pairs = np.stack([corpus.ids[left[chosen]], corpus.ids[right[chosen]]])
                for first, second, score in verified(pairs):
                    yield Candidate(min(first, second), max(first, second), self.name, score)

    def explain(
        self, left: int, right: int, window: Window, config: MinhashConfig, connection: Connection
    ) -> Explanation:
        """Return why the two articles are proposed or not."""
        articles = read_beginnings_of([left, right], window, connection, config.prefix)
        score = jaccard_of(*character_shingle_sets(articles.texts, config.shingle))
        explained = explain_near(articles, config, score, reached=score >= config.threshold)
        every = dataclasses.replace(window, first_day=datetime.date.min)
        corpus = _corpus_of([articles], config)
        if explained.proposed and not any(len(found) for found, _ in _candidates(corpus, every, config)):
            why = (
                "The score reaches the threshold, but the quick search missed the pair: it finds a pair at the "
                f"threshold with a probability of {config.recall:.12g}."
            )
            return dataclasses.replace(explained, proposed=False, why=why)
        return explained


def _corpus_of(batches: Iterable[ArticleBatch], config: MinhashConfig) -> _Corpus:
    empty = np.empty(0, dtype=np.int64)
    signed = np.empty((0, config.slots), dtype=np.uint8)
    parts = [_Corpus(empty, empty, None, signed, empty.astype(np.bool_))]
    for batch in batches:
        occupied = np.array([bool(text) for text in batch.texts])
        parts.append(_Corpus(batch.ids, batch.days, batch.fresh, signatures_of(batch.texts, config), occupied))
    return concatenated(parts)


def _bands(config: MinhashConfig) -> IntArray:
    return minhash.bands_of(config.slots, minhash.rows_per_band(config.slots, config.threshold, config.recall))


def _candidates(
    corpus: _Corpus, window: Window, config: MinhashConfig, possible_hubs: Flags | None = None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the positions of the window's candidates, the earlier article left, without pairs of two possible hubs."""
    starts = np.maximum(np.arange(1, len(corpus.days) + 1), first_row(corpus.days, window))
    stops = np.searchsorted(corpus.days, corpus.days + config.day_window, side="right")
    stops[~corpus.occupied] = 0
    least = minhash.least_agreement(config.slots, config.threshold)
    for left, right in minhash.candidate_pairs(corpus.signatures, _bands(config), starts, stops, least, possible_hubs):
        wanted = slice(None) if corpus.fresh is None else corpus.fresh[left] | corpus.fresh[right]
        yield left[wanted], right[wanted]


def signatures_of(texts: Sequence[str], config: MinhashConfig) -> minhash.Signatures:
    """Return the signatures of texts that are not empty, a row each."""
    none = np.empty((0, config.slots), dtype=np.uint8)
    starts = range(0, len(texts), _SIGNED_AT_ONCE)
    parts = (character_shingles(texts[start : start + _SIGNED_AT_ONCE], config.shingle) for start in starts)
    return np.concatenate([none, *(minhash.signatures(part, config.slots) for part in parts)])


def similar_in_groups(texts: Sequence[str], days: IntArray, config: MinhashConfig) -> SimilarPairs:
    """Return the pairs of articles of which each may be in a dense group. They are ordered by day and id.

    If the window has no limit, all days count as one: whether an article is in a group then depends on no day.
    """
    sets = Ragged.of(character_shingle_sets(texts, config.shingle), np.int64)
    names = distinct(sets.values)
    ranks = Ragged(np.searchsorted(names, sets.values).astype(np.int32), sets.offsets)
    if config.day_window >= days[-1] - days[0]:
        days = np.zeros_like(days)
    return dense_join.similar_pairs(
        ranks,
        DayRange(days, 0, config.day_window),
        threshold=config.threshold,
        universe=1 << len(names).bit_length(),
        density=dense_join.Density(config.dense_from, config.kept_pairs),
        names=names,
    )


def _of_groups(
    rows: IntArray, corpus: _Corpus, window: Window, config: MinhashConfig, connection: Connection, tally: Tally
) -> Iterator[Candidate]:
    """Yield the pairs of articles of which each may be in a dense group; note those that are in the tally."""
    if not len(rows):
        return
    ids = corpus.ids[rows]
    texts = _texts(ids.tolist(), config, window, connection)
    found = similar_in_groups([texts[article] for article in ids.tolist()], corpus.days[rows], config)
    note(found, ids, tally)
    tally.verified += found.candidates
    ends = np.sort(np.stack([ids[found.left], ids[found.right]]), axis=0)
    wanted = rows[np.maximum(found.left, found.right)] >= first_row(corpus.days, window)
    for left, right, score in zip(*ends[:, wanted].tolist(), found.scores[wanted].tolist(), strict=True):
        yield Candidate(left, right, MinhashPass.name, score)


def _texts(ids: Sequence[int], config: MinhashConfig, window: Window, connection: Connection) -> dict[int, str]:
    """Return the beginnings of the texts of these articles."""
    articles = read_beginnings_of(ids, window, connection, config.prefix)
    return dict(zip(articles.ids.tolist(), articles.texts, strict=True))


class _Verifier:
    """Scores pairs by the shingles of their texts, and caches shingles: a text is often in many pairs."""

    def __init__(self, config: MinhashConfig, window: Window, connection: Connection) -> None:
        self._config, self._window, self._connection = config, window, connection
        self._sets: dict[int, IntArray] = {}  # the least recently used first
        self._members = 0

    def __call__(self, pairs: IntArray) -> Iterator[tuple[int, int, float]]:
        """Yield the pairs of article ids that reach the threshold, with their score."""
        self._keep(np.unique(pairs).tolist())
        for first, second in pairs.T.tolist():
            score = jaccard_from(self._config.threshold, self._sets[first], self._sets[second])
            if score >= self._config.threshold:
                yield first, second, score

    def _keep(self, ids: Sequence[int]) -> None:
        """Load the shingles of these articles, and keep those of earlier ones while the cache has space."""
        held = {article: self._sets.pop(article) for article in ids if article in self._sets}
        self._sets |= held
        lacking = [article for article in ids if article not in held]
        texts = _texts(lacking, self._config, self._window, self._connection)
        sets = character_shingle_sets(list(texts.values()), self._config.shingle)
        # Copies, because a view would keep the whole array alive.
        self._sets |= {article: members.copy() for article, members in zip(texts, sets, strict=True)}
        self._members += sum(map(len, sets))
        while self._members > _MEMBERS_KEPT and len(self._sets) > len(ids):
            self._members -= len(self._sets.pop(next(iter(self._sets))))
