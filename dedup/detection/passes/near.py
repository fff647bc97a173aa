"""Passes that compare sets: every pair within the window, and in dense groups those that they need."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels import dense_join, parity_join
from dedup.detection.kernels.tokens import Alphabet, IntArray, Ragged
from dedup.detection.passes.base import Connection, Explanation, NearConfig, PreparedPass, Reach, Spread, too_far
from dedup.detection.passes.reading import ArticleBatch, Fresh, first_row, read_batches
from dedup.detection.types import Tally, Window


class NearSets(NamedTuple):
    """Articles as the sets of their tokens, ordered by day and id; the tokens are below `universe`."""

    ids: IntArray
    days: IntArray
    fresh: Fresh | None
    sets: Ragged
    universe: int
    names: IntArray | None = None  # a lasting number for each token, if its own depends on the articles


class NearPairs(NamedTuple):
    """Pairs of article ids, shape (2, pairs), the smaller id first, and their Jaccard similarity."""

    pairs: IntArray
    scores: npt.NDArray[np.float64]


# How a database sees the characters of these texts.
AlphabetOf = Callable[[Sequence[str]], Alphabet]


def no_alphabet(_texts: Sequence[str]) -> Alphabet:
    """Return no letters: the sets do not depend on how a database sees characters."""
    return Alphabet.of(())


class NearPass(PreparedPass):
    """A pass whose score is the Jaccard similarity of the sets that it makes of the beginnings of two articles.

    Its settings are a NearConfig with a threshold and a prefix.
    """

    by_days: ClassVar[bool] = True
    reach: ClassVar[Reach] = Reach.PAIR
    compares_texts: ClassVar[bool] = True
    spread: ClassVar[Spread | None] = Spread.TILES

    def preparations(self, _blocks: int, _articles: int) -> int:
        """Return 0: each block makes what it needs."""
        return 0

    @abstractmethod
    def sets_of(self, batches: Sequence[ArticleBatch], config: Any, alphabet: AlphabetOf) -> NearSets:
        """Return the articles that are compared as sets, in the same order."""

    def reached(self, scores: npt.NDArray[Any], _threshold: float) -> tuple[IntArray, npt.NDArray[np.float64]]:
        """Return which of the scores reach the threshold, and these scores as the pass writes them."""
        return np.arange(len(scores)), scores

    def read(
        self,
        window: Window,
        config: Any,
        connection: Connection,
        tally: Tally,
        alphabet: AlphabetOf,
        days_before: int,
    ) -> NearSets:
        """Return the articles of a window and of so many days before it."""
        batches = read_batches(window, connection, tally, day_window=days_before, prefix=config.prefix)
        return self.sets_of(list(batches), config, alphabet)


def near_pairs(
    read: Callable[[int], NearSets], window: Window, config: NearConfig, threshold: float, tally: Tally
) -> NearPairs:
    """Return the pairs of a window whose sets reach the threshold; note the hubs in the tally.

    `read` returns the articles of the window and of a number of days before it. If some may be in a dense group, more
    days are read: whether an earlier article is a hub depends on those before it.
    """
    articles = read(config.day_window)
    found: parity_join.SimilarPairs | dense_join.DensePairs | None = _outside_groups(
        articles, _asked(articles, window, config), threshold, config.dense_from
    )
    if found is None:
        articles = read(2 * config.day_window)
        found = dense_join.similar_pairs(
            articles.sets,
            _asked(articles, window, config),
            threshold=threshold,
            universe=articles.universe,
            density=dense_join.Density(config.dense_from, config.kept_pairs),
            names=articles.names,
        )
        tally.hubs |= dict(zip(articles.ids[found.hubs].tolist(), found.neighbours.tolist(), strict=True))
    tally.candidates += found.candidates
    ends = np.stack([articles.ids[found.left], articles.ids[found.right]])
    return NearPairs(np.sort(ends, axis=0), found.scores)


def explain_near(
    articles: ArticleBatch, config: NearConfig, score: float, threshold: float, *, reached: bool, prefix: int
) -> Explanation:
    """Return why a pass proposes two articles with this score, or not."""
    days = int(abs(articles.days[1] - articles.days[0]))
    compared = f"It compares the first {prefix:,} characters."
    level = f"reaches the threshold of {threshold:g}" if reached else f"is below the threshold of {threshold:g}"
    if not all(articles.texts):
        return Explanation(False, "An article has no text to compare.", None, threshold)
    if days > config.day_window:
        level = f"{'would reach' if reached else 'is also below'} the threshold of {threshold:g}"
        why = f"{too_far(days, config.day_window)} The score {level}."
        return Explanation(False, why, score, threshold)
    return Explanation(reached, f"The score {level}. {compared}", score, threshold)


def _outside_groups(
    articles: NearSets, asked: parity_join.DayRange, threshold: float, dense_from: int
) -> parity_join.SimilarPairs | None:
    """Return the pairs asked for; None if an article of one of them may be in a dense group."""
    join = partial(
        parity_join.similar_pairs,
        articles.sets,
        threshold=threshold,
        universe=articles.universe,
        most_neighbours=dense_from,
    )
    found = join(asked)
    if found is None or asked.fresh is None:
        return found
    # A fresh article may be what makes an older one a hub.
    concerned = asked.fresh.copy()
    concerned[found.left] = concerned[found.right] = True
    return found if join(asked._replace(fresh=concerned)) else None


def _asked(articles: NearSets, window: Window, config: NearConfig) -> parity_join.DayRange:
    return parity_join.DayRange(articles.days, first_row(articles.days, window), config.day_window, articles.fresh)
