"""What two texts have in common, by sentence: what the one kept of the other, and what it added or changed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dedup.detection.comparison.alignment import match_sentences
from dedup.detection.lineage.articles import Text

# A text is contained in another one if that one has this share of its words, some of them edited.
CONTAINED = 0.85
# Two texts have a common core if the shorter one shares this much of its words.
LEAST_COMMON = 0.2
# For each text, so many others are compared in full: those that share most of its word pairs.
NEAREST = 8


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a follower's text follows from a source's text. Shares are 0..1, of words.

    `kept`: of the source's words, those that the follower has. `taken`: of the follower's, those that the source has.
    """

    kept: float
    taken: float
    added: tuple[int, ...]
    dropped: tuple[int, ...]
    changed: tuple[tuple[int, int], ...]
    source_sentences: int
    follower_sentences: int

    @property
    def reversed(self) -> Likeness:
        """The same with source and follower exchanged."""
        return Likeness(
            kept=self.taken,
            taken=self.kept,
            added=self.dropped,
            dropped=self.added,
            changed=tuple(sorted((follower, source) for source, follower in self.changed)),
            source_sentences=self.follower_sentences,
            follower_sentences=self.source_sentences,
        )

    @property
    def common(self) -> float:
        """The share of words in common, of both: 0 for texts without a common word, 1 for equal texts."""
        return 2 * self.kept * self.taken / (self.kept + self.taken) if self.kept and self.taken else 0.0

    @property
    def is_crop(self) -> bool:
        """Whether the follower is the beginning of the source, which goes on."""
        at_end = _trailing(self.dropped, self.source_sentences)
        return self.taken >= CONTAINED and 0 < len(self.dropped) == at_end

    @property
    def is_extension(self) -> bool:
        """Whether the follower has the whole source, and sentences of its own before its end."""
        return self.kept >= CONTAINED and len(self.added) > _trailing(self.added, self.follower_sentences)

    @property
    def contains(self) -> bool:
        """Whether one of the two contains the other."""
        return self.kept >= CONTAINED or self.taken >= CONTAINED


def _trailing(places: Sequence[int], sentences: int) -> int:
    """Return how many of these ascending places are the last ones."""
    count = 0
    while count < len(places) and places[-1 - count] == sentences - 1 - count:
        count += 1
    return count


def likeness(source: Text, follower: Text) -> Likeness:
    """Return how the follower's text follows from the source's; linear in their sentences."""
    left, right = source.prepared, follower.prepared
    matches = match_sentences(left, right)
    matched = sum(match.equal for match in matches)
    of_left, of_right = {match.left for match in matches}, {match.right for match in matches}
    return Likeness(
        kept=matched / len(left.words) if left.words else 0.0,
        taken=matched / len(right.words) if right.words else 0.0,
        added=tuple(place for place in range(len(right.sentence_keys)) if place not in of_right),
        dropped=tuple(place for place in range(len(left.sentence_keys)) if place not in of_left),
        changed=tuple((match.left, match.right) for match in matches if not match.exact),
        source_sentences=len(left.sentence_keys),
        follower_sentences=len(right.sentence_keys),
    )


class Likenesses:
    """The texts of a cluster: the nearest of each, and how they follow from one another, counted when asked for."""

    def __init__(self, texts: Mapping[str, Text]) -> None:
        self._texts = texts
        self.word_pairs = {key: set(map(hash, pairwise(text.prepared.words))) for key, text in texts.items()}
        self._known: dict[tuple[str, str], Likeness] = {}

    def nearest(self, key: str) -> list[str]:
        """Return the other texts that share most word pairs with this one, the nearest first."""
        own = self.word_pairs[key]
        scored = []
        for place, (other, pairs) in enumerate(self.word_pairs.items()):
            if other != key and (shared := len(own & pairs)):
                scored.append((-shared / (len(own) + len(pairs)), place, other))
        return [other for _, _, other in sorted(scored, key=lambda pair: pair[:2])[:NEAREST]]

    def of(self, source: str, follower: str) -> Likeness:
        """Return how the one text follows from the other."""
        known = self._known.get((source, follower))
        if known is None:
            known = likeness(self._texts[source], self._texts[follower])
            self._known[source, follower] = known
            self._known[follower, source] = known.reversed
        return known
