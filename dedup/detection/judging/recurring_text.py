"""What recurs in the texts of a newspaper around a month, learnt from all its articles of text_days(month). Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dedup.detection.comparison.common_words import common_words
from dedup.detection.comparison.recurring import LEAST_LEARNT, NO_RECURRING_TEXT, RecurringText, recurring_phrases
from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets, words_of
from dedup.detection.kernels.tokens import IntArray

# Common words are learnt from at most this many articles of a newspaper, spread evenly over the days.
_SAMPLED_ARTICLES = 300


def sampled(articles: int) -> IntArray:
    """Return which of so many articles of a newspaper common words are learnt from: places in order of day and id."""
    return np.linspace(0, articles - 1, min(articles, _SAMPLED_ARTICLES)).astype(np.int64)


def recurring_text(asked: Hashes | None, days: IntArray, phrases: ShingleSets, texts: Iterable[str]) -> RecurringText:
    """Return what recurs in a newspaper around a month; nothing if it has too few articles.

    `days` are the ordinal numbers of its articles' days, and `phrases` their masked word shingles, article by article.
    Of the phrases, only those asked for (ascending, distinct) are returned, if any are: those of the articles to judge
    are enough, and all are many more. `texts` are the normalised texts of the sampled() articles, in any order; they
    are not read if there are too few articles. All texts are without boilerplate where pairs are compared without it.
    """
    if len(days) < LEAST_LEARNT:
        return NO_RECURRING_TEXT
    return RecurringText(
        phrases=recurring_phrases(asked, days, phrases),
        common=common_words_of(texts),
        articles=len(days),
    )


def common_words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that are common among the sampled() articles of a newspaper, from their normalised texts."""
    return common_words([text if text.isascii() else " ".join(words_of(text)) for text in texts])
