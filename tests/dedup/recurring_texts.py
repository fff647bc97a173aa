"""What recurs in newspapers, learnt from some prepared articles, for tests without a database."""

from collections.abc import Sequence

import numpy as np

from dedup.detection.comparison.prepared import PreparedArticle
from dedup.detection.comparison.recurring import LEAST_KNOWN, RecurringText, common_words, printings, recurring_between
from dedup.detection.kernels.masked_shingles import ShingleSets
from dedup.detection.kernels.tokens import distinct


def recurring_texts(articles: Sequence[PreparedArticle]) -> dict[int, RecurringText]:
    """Return what recurs in each newspaper, as if it had just enough articles to know."""
    texts = {}
    for newspaper in {article.newspaper for article in articles}:
        own = (article for article in articles if article.newspaper == newspaper)
        some = sorted(own, key=lambda article: article.date)
        sets = ShingleSets.of([article.masked for article in some], np.uint32)
        days = np.array([article.date.toordinal() for article in some], dtype=np.int64)
        printed = printings(distinct(sets.values), days, sets)
        phrases = recurring_between(printed, days, np.ones(len(days), dtype=np.bool_))
        words = common_words([" ".join(article.vocabulary) for article in some])
        texts[newspaper] = RecurringText(phrases, words, LEAST_KNOWN)
    return texts
