"""The containment pass: articles that hold much of a shorter one, whatever else they hold.

Text that many articles have, such as a notice or the words of a form, is ignored. It is counted over the whole scope,
so the pass reads the shingles of all articles, whatever the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dedup.declarations import Finds, setting
from dedup.kernels.containment import contained_texts
from dedup.passes.base import Connection, PassConfig, Reach
from dedup.passes.reading import first_row, read_shingles
from dedup.types import Candidate, Tally, Window


@dataclass(frozen=True, slots=True)
class ContainmentConfig(PassConfig):
    """Settings of the containment pass."""

    enabled: bool = setting(
        False,
        help="Whether runs include this pass.",
        unit="yes or no",
        source="a choice: its pairs are new versions as often as copies, so they need the full comparison",
        label="Use this pass",
        finds=Finds.SAME,
    )
    day_window: int = setting(
        40,
        range=(0, 36_500),
        unit="days, inclusive",
        help="Articles are compared if they were published at most this many days apart; 36,500 means no limit.",
        source="labelled news and press releases: copies are up to 36 days apart, one of 350 is 152 days apart",
        label="Days apart, at most",
        finds=Finds.WITHIN_DAYS,
    )
    threshold: float = setting(
        0.3,
        range=(0.05, 1.0),
        unit="shared shingles / shingles of the shorter article, 0..1",
        help="Pairs with at least this score are proposed.",
        source="labelled news and press releases: of 350 duplicates, one has less",
        label="Lowest score",
        finds=Finds.FROM_SCORE,
    )
    minimum_shared: int = setting(
        8,
        range=(1, 1000),
        unit="shared shingles of four words",
        help="Pairs that share fewer are ignored.",
        source="a choice: a sentence of eleven words",
        label="Fewest shared phrases",
        finds=Finds.MORE_IF_LOWER,
    )
    most_articles: int = setting(
        20,
        range=(2, 1000),
        unit="articles",
        help="Shingles in more articles than this, such as those of a form or a notice, are ignored.",
        source="labelled news and press releases: from 10 to 40, the same duplicates are proposed",
        label="Most articles that share a phrase",
    )


class ContainmentPass:
    """Pairs of which the shorter article shares at least the threshold's part of its uncommon word shingles."""

    name: ClassVar[str] = "containment"
    label: ClassVar[str] = "Contained text"
    proposes: ClassVar[str] = "one article holds much of the other, at most 40 days apart"
    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.STORE
    compares_texts: ClassVar[bool] = True
    config_class: ClassVar[type[PassConfig]] = ContainmentConfig

    def find(
        self, window: Window, config: ContainmentConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once. Peak memory: 12 bytes per word, half a gigabyte for 100,000 articles of 450."""
        tally = tally or Tally()
        articles = read_shingles(window, connection, tally)
        for part in contained_texts(
            articles.sets,
            articles.days,
            first_row=first_row(articles.days, window),
            day_window=config.day_window,
            most_texts=config.most_articles,
            threshold=config.threshold,
            minimum_shared=config.minimum_shared,
        ):
            tally.candidates += part.candidates
            tally.verified += part.candidates
            pairs = np.sort(np.stack([articles.ids[part.left], articles.ids[part.right]]), axis=0)
            columns = (pairs[0], pairs[1], part.scores, part.shared, part.shingles)
            for left, right, score, shared, count in zip(*(each.tolist() for each in columns), strict=True):
                yield Candidate(left, right, self.name, score, {"shared": shared, "shingles": count})
