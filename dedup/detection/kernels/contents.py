"""Whether texts are versions of one story or unrelated. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dedup.detection.kernels.tokens import IntArray, character_shingle_sets

# About two words: unrelated articles share few. Not words, because not all scripts separate them.
_SHINGLE = 12
# Characters of a text that are read, as by the passes: longer than 99 of 100 news articles.
READ_CHARACTERS = 10_000
# Texts of one newspaper under one headline share less than this part of the shorter one, or much more. Of 1,099
# consecutive ones in 67,316 articles, 188 share less than a tenth, 50 up to a fifth, the rest more.
_ONE_STORY = 0.15


def has_contents(texts: Iterable[str], wanted: int) -> bool:
    """Return whether these normalised texts, in order of time, have at least `wanted` clearly different contents.

    A text belongs to an earlier content if it shares enough of the shorter one's shingles with the latest text of that
    content: a live ticker, whose texts grow out of each other, is one content. Empty texts have none.
    It reads no more texts than needed.
    """
    latest: list[IntArray] = []
    for shingles in _shingle_sets(texts):
        same = next((place for place, each in enumerate(latest) if _is_one_story(each, shingles)), len(latest))
        latest[same : same + 1] = [shingles]
        if len(latest) >= wanted:
            return True
    return False


def _shingle_sets(texts: Iterable[str]) -> Iterable[IntArray]:
    for text in texts:
        if text:
            yield from character_shingle_sets([text[:READ_CHARACTERS]], _SHINGLE)


def _is_one_story(first: IntArray, second: IntArray) -> bool:
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared >= _ONE_STORY * min(len(first), len(second))
