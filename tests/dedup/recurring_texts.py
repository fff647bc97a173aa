"""What recurs in newspapers, learnt from some prepared articles, for tests without a database."""

from collections.abc import Sequence

import numpy as np

from dedup.detection.comparison.prepared import PreparedArticle
from dedup.detection.comparison.recurring import (
    LEAST_KNOWN,
    RecurringText,
    common_words,
    printings,
    recurring_between,
)
from dedup.detection.kernels.masked_shingles import ShingleSets
from dedup.detection.kernels.tokens import distinct


def recurring_texts(articles: Sequence[PreparedArticle], *, count: int = LEAST_KNOWN) -> dict[int, RecurringText]:
    """Return what recurs in each newspaper, as if it had `count` articles, which is enough to know."""
    texts = {}
    for newspaper in {article.newspaper for article in articles}:
        some = [article for article in articles if article.newspaper == newspaper]
        sets = ShingleSets.of([article.masked for article in some], np.uint32)
        days = np.array([article.date.toordinal() for article in some], dtype=np.int64)
        phrases = recurring_between(printings(distinct(sets.values), days, sets), int(days.min()), int(days.max()))
        texts[newspaper] = RecurringText(
            phrases, common_words([" ".join(article.vocabulary) for article in some]), count
        )
    return texts
