"""Measures how well extracted texts match reference texts: precision, recall and F1 over sequences of four words.

The measure is the one of Scrapinghub's public article extraction benchmark (scrapinghub/article-extraction-benchmark,
evaluate.py), so that the figures can be compared with those published for other programs. In scripts without blanks,
where it counts a sentence as one word, each character counts as a word here.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from articles.extraction.relevance import shingles

RESAMPLES = 1_000
# In a normal distribution, 95 of 100 means are within this many standard deviations.
_DEVIATIONS = 1.96


@dataclass(frozen=True, slots=True)
class PageScore:
    """The shares of a page's shingles that are right, wrong and missed. Their sum is 1, or 0 if there are none."""

    right: float
    wrong: float
    missed: float

    @property
    def precision(self) -> float:
        return _share(self.right, self.wrong, nothing=0.0 if self.missed else 1.0)

    @property
    def recall(self) -> float:
        return _share(self.right, self.missed, nothing=0.0 if self.wrong else 1.0)

    @property
    def f1(self) -> float:
        return _harmonic_mean(self.precision, self.recall)


@dataclass(frozen=True, slots=True)
class ExtractionScore:
    """Over all pages: mean precision and recall, the F1 of the two, and the share of texts that are exactly right."""

    f1: float
    precision: float
    recall: float
    accuracy: float


def score_page(expected: str, found: str) -> PageScore:
    """Compare a page's reference text with the text that was found; repeated shingles count repeatedly."""
    wanted, got = (Counter(shingles(text, least=1)) for text in (expected, found))
    right = (wanted & got).total()
    wrong, missed = got.total() - right, wanted.total() - right
    total = right + wrong + missed or 1
    return PageScore(right / total, wrong / total, missed / total)


def score_pages(pages: Sequence[PageScore]) -> ExtractionScore:
    """Return the score of all pages. Pages where nothing was found count only for recall."""
    precision = _mean([page.precision for page in pages if page.right + page.wrong])
    recall = _mean([page.recall for page in pages if page.right + page.missed])
    accuracy = _mean([float(not page.wrong and not page.missed) for page in pages])
    return ExtractionScore(_harmonic_mean(precision, recall), precision, recall, accuracy)


def margins(pages: Sequence[PageScore], *, resamples: int = RESAMPLES, seed: int = 1) -> ExtractionScore:
    """Return half the 95% confidence interval of each figure (bootstrap over the pages)."""
    dice = random.Random(seed)  # noqa: S311 - a sample, not a secret
    samples = [asdict(score_pages(dice.choices(pages, k=len(pages)))) for _ in range(resamples)]
    names = [field.name for field in fields(ExtractionScore)]
    return ExtractionScore(*(_DEVIATIONS * statistics.stdev(sample[name] for sample in samples) for name in names))


def _share(part: float, rest: float, *, nothing: float) -> float:
    return part / (part + rest) if part or rest else nothing


def _harmonic_mean(left: float, right: float) -> float:
    return 2 * left * right / (left + right) if left + right else 0.0


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0
