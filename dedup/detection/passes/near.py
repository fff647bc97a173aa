"""Passes that compare sets: every pair within the window, and in dense groups those that they need."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels import dense_join, parity_join
from dedup.detection.kernels.parity_join import SimilarPairs
from dedup.detection.kernels.tokens import Alphabet, Flags, IntArray, Ragged
from dedup.detection.passes.base import Connection, Explanation, Pass, Reach, Spread, too_far
from dedup.detection.passes.reading import ArticleBatch, first_row, read_batches
from dedup.detection.types import Candidate, Tally, Window

# Candidates made at a time, because the arrays are far smaller than the objects.
_YIELDED_AT_ONCE = 10_000

Scores = npt.NDArray[np.floating[Any]]
# How a database sees the characters of these texts.
AlphabetOf = Callable[[Sequence[str]], Alphabet]


class NearSets(NamedTuple):
    """Articles as the sets of their tokens, ordered by day and id; the tokens are below `universe`."""

    ids: IntArray
    days: IntArray
    fresh: Flags | None
    sets: Ragged
    universe: int
    names: IntArray | None = None  # a lasting number for each token, if its own depends on the articles


class NearPass(Pass):
    """A pass whose score is the Jaccard similarity of the sets that it makes of the beginnings of two articles.

    Its settings are a NearConfig with a threshold and a prefix. What its blocks need is an alphabet, if anything.
    """

    by_days: ClassVar[bool] = True
    reach: ClassVar[Reach] = Reach.PAIR
    compares_texts: ClassVar[bool] = True
    spread: ClassVar[Spread | None] = Spread.TILES

    @abstractmethod
    def sets_of(self, batches: Iterable[ArticleBatch], config: Any, alphabet: AlphabetOf) -> NearSets:
        """Return the articles that are compared as sets, in the same order."""

    def alphabet(self, _texts: Sequence[str], _connection: Connection) -> Alphabet:
        """Return how the database sees the characters of these texts; no letters: the sets do not depend on it."""
        return Alphabet.of(())

    def verified(self, found: SimilarPairs) -> int:
        """Return how many pairs were compared in full."""
        return found.candidates

    def arbitrated(
        self, _pairs: IntArray, scores: Scores, _window: Window, _config: Any, _connection: Connection
    ) -> Scores:
        """Return the scores of pairs of article ids, shape (2, pairs), as the database has the last word on them."""
        return scores

    def reached(self, scores: npt.NDArray[Any], _threshold: float) -> tuple[IntArray, npt.NDArray[np.float64]]:
        """Return which of the scores reach the threshold, and these scores as the pass writes them."""
        return np.arange(len(scores)), scores

    def find(
        self, window: Window, config: Any, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once; of an alphabet, only the characters of the texts are asked for."""
        return self.find_prepared(window, config, connection, None, tally or Tally())

    def find_prepared(
        self, window: Window, config: Any, connection: Connection, prepared: Any, tally: Tally
    ) -> Iterator[Candidate]:
        """Yield each pair once. Memory: that of sets_of for all articles of the window."""

        def read(days_before: int) -> NearSets:
            batches = read_batches(window, connection, tally, day_window=days_before, prefix=config.prefix)
            return self.sets_of(batches, config, lambda texts: prepared or self.alphabet(texts, connection))

        found, pairs = _near_pairs(read, window, config, tally)
        tally.verified += self.verified(found)
        scores = self.arbitrated(pairs, found.scores, window, config, connection)
        for start in range(0, len(scores), _YIELDED_AT_ONCE):
            part = slice(start, start + _YIELDED_AT_ONCE)
            places, written = self.reached(scores[part], config.threshold)
            for left, right, score in zip(*pairs[:, part][:, places].tolist(), written.tolist(), strict=True):
                yield Candidate(left, right, self.name, score)


def _near_pairs(
    read: Callable[[int], NearSets], window: Window, config: Any, tally: Tally
) -> tuple[SimilarPairs, IntArray]:
    """Return the pairs of a window whose sets reach the threshold, and their ids, shape (2, pairs), the smaller first.

    `read` returns the articles of the window and of a number of days before it. If some may be in a dense group, more
    days are read: whether an earlier article is a hub depends on those before it. The tally notes the hubs.
    """
    articles = read(config.day_window)
    found = _outside_groups(articles, _asked(articles, window, config), config)
    if found is None:
        articles = read(2 * config.day_window)
        found = pairs_of_groups(articles, _asked(articles, window, config), config)
    note(found, articles.ids, tally)
    return found, np.sort(np.stack([articles.ids[found.left], articles.ids[found.right]]), axis=0)


def pairs_of_groups(articles: NearSets, asked: parity_join.DayRange, config: Any) -> SimilarPairs:
    """Return the pairs asked for that reach the threshold, of dense groups those that they need."""
    return dense_join.similar_pairs(
        articles.sets,
        asked,
        threshold=config.threshold,
        universe=articles.universe,
        density=dense_join.Density(config.dense_from, config.kept_pairs),
        names=articles.names,
    )


def note(found: SimilarPairs, ids: IntArray, tally: Tally) -> None:
    """Count the candidates and note the hubs in the tally; `ids` are those of all articles compared."""
    tally.candidates += found.candidates
    tally.hubs |= dict(zip(ids[found.hubs].tolist(), found.neighbours.tolist(), strict=True))


def explain_near(articles: ArticleBatch, config: Any, score: float, *, reached: bool) -> Explanation:
    """Return why a pass proposes two articles with this score, or not."""
    threshold = config.threshold
    days = int(abs(articles.days[1] - articles.days[0]))
    if not all(articles.texts):
        return Explanation(False, "An article has no text to compare.", None, threshold)
    if days > config.day_window:
        level = f"{'would reach' if reached else 'is also below'} the threshold of {threshold:g}"
        why = f"{too_far(days, config.day_window)} The score {level}."
        return Explanation(False, why, score, threshold)
    level = f"{'reaches' if reached else 'is below'} the threshold of {threshold:g}"
    why = f"The score {level}. It compares the first {config.prefix:,} characters."
    return Explanation(reached, why, score, threshold)


def _outside_groups(articles: NearSets, asked: parity_join.DayRange, config: Any) -> SimilarPairs | None:
    """Return the pairs asked for; None if an article of one of them may be in a dense group."""
    join = partial(
        parity_join.similar_pairs,
        articles.sets,
        threshold=config.threshold,
        universe=articles.universe,
        most_neighbours=config.dense_from,
    )
    found = join(asked)
    if found is None or asked.fresh is None:
        return found
    # A fresh article may be what makes an older one a hub.
    concerned = asked.fresh.copy()
    concerned[found.left] = concerned[found.right] = True
    return found if join(asked._replace(fresh=concerned)) else None


def _asked(articles: NearSets, window: Window, config: Any) -> parity_join.DayRange:
    return parity_join.DayRange(articles.days, first_row(articles.days, window), config.day_window, articles.fresh)
