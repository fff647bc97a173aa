"""The stopword pass: the same article on differently laid out pages, by shingles that begin with a stop word.

SpotSigs compares only documents of similar length, because |A| / |B| >= t follows from a Jaccard similarity of
at least t. The exact join (kernels/parity_join.py) already bounds pairs by their sizes, so length buckets would
add nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, NamedTuple

import numpy as np

from dedup.declarations import SettingEffect, setting
from dedup.detection.kernels.parity_join import TOLERANCE
from dedup.detection.kernels.stopwords import stop_word_shingle_sets
from dedup.detection.kernels.tokens import Flags, IntArray, Ragged, concatenated, distinct, jaccard_of
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
from dedup.detection.passes.near import AlphabetOf, NearPass, NearSets, explain_near
from dedup.detection.passes.reading import NO_ARTICLES, ArticleBatch, read_beginnings_of
from dedup.detection.types import Mark, Window

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


class _Phrases(NamedTuple):
    """The columns of articles as in ArticleBatch, with sets of hashes instead of texts."""

    ids: IntArray
    days: IntArray
    fresh: Flags | None
    sets: Ragged


def _with_enough(batch: ArticleBatch, minimum: int) -> _Phrases:
    """Return the articles of a batch that have at least so many phrases."""
    sets = stop_word_shingle_sets(batch.texts)
    enough = sets.sizes >= minimum
    members = sets.only(np.repeat(enough, sets.sizes))
    fresh = None if batch.fresh is None else batch.fresh[enough]
    # The others are empty now: where one begins, the next one does.
    kept = Ragged(members.values, members.offsets[np.append(enough, True)])
    return _Phrases(batch.ids[enough], batch.days[enough], fresh, kept)


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

    def sets_of(self, batches: Iterable[ArticleBatch], config: StopwordConfig, _alphabet: AlphabetOf) -> NearSets:
        """Return the articles that have enough phrases as sets of these.

        Memory: the texts of one batch, and the sets, 3 KB per article.
        """
        found = concatenated([_with_enough(batch, config.minimum_shingles) for batch in chain([NO_ARTICLES], batches)])
        # A table of all hashes would be too long: they are replaced by their ranks.
        names = distinct(found.sets.values)
        ranks = np.searchsorted(names, found.sets.values).astype(np.int32)
        sets = Ragged(ranks, found.sets.offsets)
        return NearSets(found.ids, found.days, found.fresh, sets, universe=1 << len(names).bit_length(), names=names)

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
        score = jaccard_of(*sets.split())
        return explain_near(articles, config, score, reached=score >= config.threshold - TOLERANCE)
