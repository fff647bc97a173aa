"""The sentence pass: articles that share many of their sentences, in any order.

Sentences that many articles have, such as “subscribe to our newsletter”, are ignored. They are counted over the
whole scope, so the pass reads all of its articles, whatever the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dedup.declarations import Finds, setting
from dedup.kernels.sentences import SentenceSets, sentence_sets, shared_sentences
from dedup.kernels.tokens import IntArray, Ragged
from dedup.passes.base import Connection, PassConfig, Reach
from dedup.passes.reading import first_row, read_contents
from dedup.types import Candidate, Tally, Window


@dataclass(frozen=True, slots=True)
class SentenceConfig(PassConfig):
    """Settings of the sentence pass."""

    enabled: bool = setting(
        False,
        help="Whether runs include this pass.",
        unit="yes or no",
        source="a choice: it reads whole articles, and its pairs are similar more often than duplicate",
        label="Use this pass",
        finds=Finds.SAME,
    )
    day_window: int = setting(
        30,
        range=(0, 36_500),
        unit="days, inclusive",
        help="Articles are compared if they were published at most this many days apart; 36,500 means no limit.",
        source="a choice: a story is retold within a month",
        label="Days apart, at most",
        finds=Finds.WITHIN_DAYS,
    )
    threshold: float = setting(
        0.3,
        range=(0.05, 1.0),
        unit="shared sentences / all sentences, 0..1",
        help="Pairs with at least this score are proposed.",
        source="the South African corpus: articles above 30% are marked as similar",
        label="Lowest score",
        finds=Finds.FROM_SCORE,
    )
    minimum_characters: int = setting(
        20,
        range=(1, 1000),
        unit="characters of the normalised sentence",
        help="Shorter sentences, such as “more to follow”, are ignored.",
        source="the South African corpus: sentences of fewer than 20 characters",
        label="Shortest sentence",
    )
    most_articles: int = setting(
        10,
        range=(2, 1000),
        unit="articles",
        help="Sentences in more articles than this, such as “subscribe to our newsletter”, are ignored.",
        source="the South African corpus: sentences that match more than 10 articles",
        label="Most articles that share a sentence",
    )
    weighted: bool = setting(
        False,
        help="Whether long sentences, rare sentences and sentences with names count more than others.",
        unit="yes or no",
        source="the South African corpus, which suggests it",
        label="Weigh sentences",
    )


class _Corpus(NamedTuple):
    """All articles of the scope, ordered by day and id."""

    ids: IntArray
    days: IntArray
    sentences: SentenceSets


class SentencePass:
    """Pairs whose shared sentences make up at least the threshold's share of all their sentences."""

    name: ClassVar[str] = "sentence"
    label: ClassVar[str] = "Shared sentences"
    proposes: ClassVar[str] = "shared sentences, at most 30 days apart"
    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.STORE
    compares_texts: ClassVar[bool] = True
    config_class: ClassVar[type[PassConfig]] = SentenceConfig

    def find(
        self, window: Window, config: SentenceConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once. Peak memory: 30 bytes per sentence, half a gigabyte per million articles of 20."""
        tally = tally or Tally()
        ids, days, sentences = _read_corpus(window, config, connection, tally)
        for part in shared_sentences(
            sentences,
            days,
            first_row=first_row(days, window),
            day_window=config.day_window,
            most_texts=config.most_articles,
            threshold=config.threshold,
            weighted=config.weighted,
        ):
            tally.candidates += part.candidates
            tally.verified += part.candidates
            pairs = np.sort(np.stack([ids[part.left], ids[part.right]]), axis=0)
            columns = (pairs[0], pairs[1], part.scores, part.shared, part.sentences)
            for left, right, score, shared, count in zip(*(each.tolist() for each in columns), strict=True):
                yield Candidate(left, right, self.name, score, {"shared": shared, "sentences": count})


def _read_corpus(window: Window, config: SentenceConfig, connection: Connection, tally: Tally) -> _Corpus:
    ids, days, sizes, hashes = ([np.empty(0, dtype=np.int64)] for _ in range(4))
    weights = [np.empty(0, dtype=np.float32)]
    # The content, because normalised texts have no sentence ends.
    for rows in read_contents(window, connection, tally):
        ids.append(np.array([row[0] for row in rows], dtype=np.int64))
        days.append(np.array([row[1].toordinal() for row in rows], dtype=np.int64))
        texts = [row[2] for row in rows]
        page = sentence_sets(texts, minimum_characters=config.minimum_characters, weighted=config.weighted)
        sizes.append(page.sets.sizes)
        hashes.append(page.sets.values.astype(np.int64, copy=False))
        weights.append(page.weights)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(sizes))])
    sets = Ragged(np.concatenate(hashes), offsets)
    return _Corpus(np.concatenate(ids), np.concatenate(days), SentenceSets(sets, np.concatenate(weights)))
