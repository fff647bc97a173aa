"""Which sentences of a text are its own additions to what a cluster shares, as far as the other texts show it. Pure.

A sentence that other texts lack may have been cropped there. It is an addition if texts that go on past its place lack
it: they share a sentence before and one after it, or end where several texts end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dedup.detection.lineage.articles import Text

# So many texts that end with the same sentence show where the shared text ends.
_ENDS = 2
# One text alone may have cut the sentence out.
_LEAST_PAST = 2
# A text has a sentence, perhaps edited, if it has this share of the sentence's word pairs.
_HAS = 0.4


class Additions:
    """The sentences of the texts of a cluster."""

    def __init__(self, texts: Mapping[str, Text]) -> None:
        self._texts = texts
        self._sets = {key: set(text.prepared.sentence_keys) for key, text in texts.items()}
        last = Counter(text.prepared.sentence_keys[-1] for text in texts.values() if text.prepared.sentence_keys)
        self._ends = {sentence for sentence, count in last.items() if count >= _ENDS}
        self._pairs: dict[str, set[int]] = {}
        self._carried: dict[tuple[str, str], int] = {}

    def carried(self, source: str, follower: str) -> int:
        """Return how many sentences the follower shares with the source that are additions of the source."""
        if (source, follower) not in self._carried:
            self._carried[source, follower] = self._count(source, follower)
        return self._carried[source, follower]

    def _count(self, source: str, follower: str) -> int:
        others = [key for key in self._sets if key not in (source, follower)]
        sentences = self._texts[source].prepared.sentence_keys
        shared = self._sets[follower]
        return sum(self._is_added(source, place, others) for place, each in enumerate(sentences) if each in shared)

    def _is_added(self, source: str, place: int, others: Sequence[str]) -> bool:
        """Return whether more texts go on past this place without the sentence than have it."""
        prepared = self._texts[source].prepared
        if 2 * sum(prepared.sentence_keys[place] in self._sets[key] for key in others) >= len(others):
            return False
        pairs = set(map(hash, pairwise(prepared.sentence(place))))
        lacking = [key for key in others if len(pairs & self._pairs_of(key)) < _HAS * len(pairs)]
        before, later = set(prepared.sentence_keys[:place]), set(prepared.sentence_keys[place + 1 :])
        past = sum(self._goes_past(self._sets[key], before, later) for key in lacking)
        return past >= _LEAST_PAST and past > len(others) - len(lacking)

    def _goes_past(self, text: set[int], before: set[int], later: set[int]) -> bool:
        """Return whether a text goes on past a place, or ends there with others."""
        if not text.isdisjoint(later):
            return not text.isdisjoint(before)
        return later.isdisjoint(self._ends) and not text.isdisjoint(before & self._ends)

    def _pairs_of(self, key: str) -> set[int]:
        if key not in self._pairs:
            self._pairs[key] = set(map(hash, pairwise(self._texts[key].prepared.words)))
        return self._pairs[key]
