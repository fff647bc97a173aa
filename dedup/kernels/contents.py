"""Whether texts are of one story, in whatever version, or have nothing to do with each other. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dedup.kernels.tokens import IntArray, character_shingle_sets

# Two words and what is beside them: unlike articles share few. No words, because not all scripts part them.
_SHINGLE = 12
# So much of a text is read, as by the passes: longer than 99 of 100 news articles.
READ_CHARACTERS = 10_000
# Texts of one newspaper under one headline share less than this of the shorter one, or much more. Measured on 1,099
# neighbours in 67,316 articles: 188 share less than a tenth, 50 up to a fifth, the rest more.
_ONE_STORY = 0.15


def has_contents(texts: Iterable[str], wanted: int) -> bool:
    """Return whether there are so many clearly different contents among these normalised texts, in the order of time.

    A text is of the same content as an earlier one when it shares a part of the shorter one's shingles with the latest
    text of that content: a ticker whose texts grow from one another is one content. Empty texts have none.
    No more texts are read than are needed.
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
