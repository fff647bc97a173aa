"""The stopword pass: the same article on differently laid out pages, by shingles that begin with a stop word.

SpotSigs compares only documents of similar length, because |A| / |B| >= t follows from a Jaccard similarity of
at least t. The exact join (kernels/parity_join.py) already bounds pairs by their sizes, so length buckets would
add nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from dedup.declarations import SettingEffect, setting
from dedup.detection.kernels.parity_join import TOLERANCE
from dedup.detection.kernels.stopwords import stop_word_shingle_sets
from dedup.detection.kernels.tokens import Ragged, distinct, jaccard_of
from dedup.detection.passes.base import (
    Connection,
    Explanation,
    NearConfig,
    PassConfig,
    characters_compared,
    days_compared,
    included,
    lowest_score,
)
from dedup.detection.passes.near import AlphabetOf, NearPass, NearSets, explain_near, near_pairs, no_alphabet
from dedup.detection.passes.reading import ArticleBatch, all_fresh, read_beginnings_of
from dedup.detection.types import Candidate, Mark, Tally, Window

_THEOBALD_2008 = """@inproceedings{theobald2008,
  author = {Theobald, Martin and Siddharth, Jonathan and Paepcke, Andreas},
  title = {{SpotSigs}: Robust and efficient near duplicate detection in large web collections},
  booktitle = {Proceedings of SIGIR},
  year = {2008},
  pages = {563--570}
}"""


@dataclass(frozen=True, slots=True)
class StopwordConfig(NearConfig):
    """Settings of the stopword pass."""

    enabled: bool = included(False, "a choice: it reads whole articles and finds little that the trigram pass does not")
    day_window: int = days_compared(3, "the window of the trigram pass", most=365)
    threshold: float = lowest_score(
        0.5,
        "Jaccard similarity, 0..1",
        "a choice: half of the phrases; of real news read by hand, nearly all such pairs report one story",
        least=0.2,
    )
    prefix: int = characters_compared(10_000, "longer than 99 of 100 news articles")
    minimum_shingles: int = setting(
        5,
        range=(1, 1000),
        unit="distinct shingles",
        help="Articles with fewer shingles are not compared.",
        source="a choice: four phrases do not make an article",
        label="Fewest phrases of an article",
        effect=SettingEffect.MORE_IF_LOWER,
    )


class StopwordPass(NearPass):
    """Pairs a few days apart whose sets of stop-word shingles have a Jaccard similarity of at least the threshold."""

    name: ClassVar[str] = "stopword"
    label: ClassVar[str] = "Similar phrases"
    proposes: ClassVar[str] = "shared phrases around stop words, at most three days apart"
    config_class: ClassVar[type[PassConfig]] = StopwordConfig
    mark: ClassVar[Mark] = Mark.STOP_WORDS
    marked_note: ClassVar[str] = "phrases that both have: a common word such as “the” and the two words after it."
    cites: ClassVar[tuple[str, ...]] = (_THEOBALD_2008,)
    seconds_an_article: ClassVar[float] = 0.0002

    def find(
        self, window: Window, config: StopwordConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once with its exact similarity. Memory: the shingles of the window, 3 KB per article."""
        tally = tally or Tally()
        read = partial(self.read, window, config, connection, tally, no_alphabet)
        found = near_pairs(read, window, config, config.threshold, tally)
        tally.verified = tally.candidates
        pairs = found.pairs
        for left, right, score in zip(pairs[0].tolist(), pairs[1].tolist(), found.scores.tolist(), strict=True):
            yield Candidate(left, right, self.name, score)

    def sets_of(self, batches: Sequence[ArticleBatch], config: StopwordConfig, _alphabet: AlphabetOf) -> NearSets:
        """Return the articles that have enough phrases as sets of these."""
        empty = np.empty(0, dtype=np.int64)
        parts = [NearSets(empty, empty, None, Ragged(empty, np.zeros(1, dtype=np.int64)), 0)]
        parts += (_enough(batch, stop_word_shingle_sets(batch.texts), config.minimum_shingles) for batch in batches)
        sizes = np.concatenate([part.sets.sizes for part in parts])
        hashes = np.concatenate([part.sets.values for part in parts])
        # A table of all hashes would be too long: they are replaced by their ranks.
        names = distinct(hashes)
        ranks = np.searchsorted(names, hashes).astype(np.int32)
        return NearSets(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.days for part in parts]),
            all_fresh([part.fresh for part in parts]),
            Ragged(ranks, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])),
            universe=1 << len(names).bit_length(),
            names=names,
        )

    def explain(
        self, left: int, right: int, window: Window, config: StopwordConfig, connection: Connection
    ) -> Explanation:
        """Return why the two articles are proposed or not."""
        articles = read_beginnings_of([left, right], window, connection, config.prefix)
        sets = stop_word_shingle_sets(articles.texts)
        if sets.sizes.min() < config.minimum_shingles:
            why = (
                f"An article has {sets.sizes.min():,} phrases that begin with a stop word; at least "
                f"{config.minimum_shingles:,} are needed. Languages without a list of stop words have none."
            )
            return Explanation(False, why, None, config.threshold)
        score = jaccard_of(*np.split(sets.values, sets.offsets[1:-1]))
        reached = score >= config.threshold - TOLERANCE
        return explain_near(articles, config, score, config.threshold, reached=reached, prefix=config.prefix)


def _enough(batch: ArticleBatch, sets: Ragged, minimum: int) -> NearSets:
    """Return the articles of a batch that have at least `minimum` shingles, as sets of hashes."""
    enough = sets.sizes >= minimum
    members = sets.values[np.repeat(enough, sets.sizes)]
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sets.sizes[enough])])
    fresh = None if batch.fresh is None else batch.fresh[enough]
    return NearSets(batch.ids[enough], batch.days[enough], fresh, Ragged(members, offsets), 0)
