"""Passes that compare articles as sets of phrases or sentences that few articles have. The join is here.

How many articles have a member is counted over the whole scope: once a run, of all articles, before the blocks of days.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.inverted_index import ScoredPairs, kept_pairs
from dedup.detection.kernels.parity_join import TOLERANCE, DayRange
from dedup.detection.kernels.sentences import SentenceSets
from dedup.detection.kernels.tokens import IntArray, Ragged
from dedup.detection.passes.base import Connection, Explanation, PreparedPass, Reach, Spread
from dedup.detection.passes.reading import first_row, read_fresh
from dedup.detection.types import Candidate, Tally, Window


class ArticleMembers(NamedTuple):
    """Articles ordered by day and id: their ids, their days as ordinal numbers, and their sets as the pass has them."""

    ids: IntArray
    days: IntArray
    sets: Any


class MemberPass(PreparedPass):
    """A pass whose score of two articles is what they share of their members that few articles have."""

    by_days: ClassVar[bool] = True
    reach: ClassVar[Reach] = Reach.STORE
    compares_texts: ClassVar[bool] = True
    spread: ClassVar[Spread | None] = Spread.MEMBERS
    # What members are called in the evidence, how they are stored, and about how many an article has.
    members: ClassVar[str]
    stored_as: ClassVar[str]
    members_an_article: ClassVar[int]

    @abstractmethod
    def read(self, window: Window, config: Any, connection: Connection, tally: Tally) -> ArticleMembers:
        """Return the articles of a window and of the days before it."""

    def sets(self, values: npt.NDArray[Any], offsets: IntArray, _weights: npt.NDArray[np.float32]) -> Any:
        """Return sets as `read` does; set i is values[offsets[i]:offsets[i + 1]]. Some passes weigh no members."""
        return Ragged(values, offsets)

    @abstractmethod
    def counted_from(self, config: Any) -> int:
        """Return the number of articles with a member from which on that number counts."""

    def counted(self, members: npt.NDArray[Any], _counts: IntArray) -> Any:
        """Return what `prepared` takes: members that at least so many articles have, distinct, and how many have each.

        They ascend as unsigned numbers.
        """
        return members

    @abstractmethod
    def shared(
        self, sets: Any, asked: DayRange, prepared: Any, config: Any, sides: IntArray | None = None
    ) -> Iterator[ScoredPairs]:
        """Yield, in parts, the pairs that share enough, by their places, the earlier one left; some score too low.

        Of how many members: those of both or of the shorter one. `prepared` are the members whose number counts. Given
        `sides`, only pairs of two sides count.
        """

    def find(
        self, window: Window, config: Any, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once; members are counted in all articles up to the window's last day."""
        tally = tally or Tally()
        prepared = self.prepared([self.prepare(window, config, connection, 0, 1, tally)])
        yield from self.find_prepared(window, config, connection, prepared, tally)

    def find_prepared(
        self, window: Window, config: Any, connection: Connection, prepared: Any, tally: Tally
    ) -> Iterator[Candidate]:
        """Yield each pair once. Peak memory: 20 bytes per word of the articles read, or 100 per sentence."""
        ids, days, sets = self.read(window, config, connection, tally)
        fresh = None if window.newer_than is None else np.isin(ids, read_fresh(window.newer_than, connection))
        asked = DayRange(days, first_row(days, window), config.day_window, fresh)
        for part in self.shared(sets, asked, prepared, config):
            tally.candidates += part.candidates
            tally.verified += part.candidates
            if part.sizes is not None:
                tally.kept.append(kept_pairs(part, ids).tobytes())
            yield from self.candidates(part.reaching(config.threshold), ids)

    def explained(
        self, found: str, scored: tuple[float, int, int], common: int, config: Any, least: int = 0
    ) -> Explanation:
        """Return whether two articles are proposed that are `scored`; `found` says what they share.

        They share `least` members or more, of which `common` are in both, however many articles have them.
        """
        score, shared, members = scored
        if common > shared:
            found += f" {common - shared:,} more are in over {config.most_articles:,} articles and do not count."
        evidence = {"shared": shared, self.members: members}
        if shared < least:
            return Explanation(False, f"{found} At least {least:,} are needed.", score, config.threshold, evidence)
        reached = score >= config.threshold - TOLERANCE
        why = f"{found} The score {'reaches' if reached else 'is below'} the threshold of {config.threshold:g}."
        return Explanation(reached, why, score, config.threshold, evidence)

    def candidates(self, pairs: ScoredPairs, ids: IntArray) -> Iterator[Candidate]:
        """Yield pairs of articles, whose ids these are, as candidates."""
        columns = (*_ends(pairs, ids), pairs.scores, pairs.shared, pairs.members)
        for left, right, score, shared, count in zip(*(column.tolist() for column in columns), strict=True):
            yield Candidate(left, right, self.name, score, {"shared": shared, self.members: count})


class MadeMemberPass(MemberPass):
    """One whose members are made of the texts; those of the others are the shingles that are stored."""

    @abstractmethod
    def made(self, texts: Sequence[str], config: Any) -> SentenceSets:
        """Return the sets of texts, and the weights of members."""


def scored(left: int, right: int, ids: IntArray, parts: Iterable[ScoredPairs]) -> tuple[float, int, int]:
    """Return the score of two of the articles, what they share, and of how many; zeros if they are no pair.

    The left id is the smaller one; `ids` are those of all articles compared.
    """
    for part in parts:
        ends = _ends(part, ids)
        for place in np.flatnonzero((ends[0] == left) & (ends[1] == right)).tolist():
            return float(part.scores[place]), int(part.shared[place]), int(part.members[place])
    return 0.0, 0, 0


def _ends(pairs: ScoredPairs, ids: IntArray) -> IntArray:
    """Return the ids of pairs, shape (2, pairs), the smaller one first."""
    return np.sort(np.stack([ids[pairs.left], ids[pairs.right]]), axis=0)
