"""The containment pass: articles that hold much of a shorter one, whatever else they hold.

Text that many articles have, such as a notice or the words of a form, is ignored. It is counted over the whole scope:
once a run, of all articles, before the blocks of days.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from articles.numbers import counted
from dedup.declarations import SettingEffect, setting
from dedup.detection.kernels.inverted_index import HASHES, CountedShingles, ScoredPairs, contained_texts
from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets
from dedup.detection.kernels.parity_join import DayRange
from dedup.detection.kernels.tokens import IntArray, concatenated, distinct, occurring
from dedup.detection.passes.base import (
    BRODER_1997,
    Connection,
    Explanation,
    PassConfig,
    days_compared,
    included,
    lowest_score,
    too_far,
)
from dedup.detection.passes.members import ArticleMembers, MemberPass, scored
from dedup.detection.passes.reading import first_day_read, read_hashes, read_holders, read_shingles, read_shingles_of
from dedup.detection.types import Mark, Phase, Tally, Window

# Each part reads all articles and keeps the shingles of one range: so many articles' worth are 0.4 GB.
_ARTICLES_PER_PART = 200_000
_LEAST_PARTS = 2


@dataclass(frozen=True, slots=True)
class ContainmentConfig(PassConfig):
    """Settings of the containment pass."""

    enabled: bool = included(
        False, "a choice: its pairs are new versions as often as copies, so they need the full comparison"
    )
    day_window: int = days_compared(
        40, "labelled news and press releases: copies are up to 36 days apart, one of 350 is 152 days apart"
    )
    threshold: float = lowest_score(
        0.3,
        "shared shingles / shingles of the shorter article, 0..1",
        "labelled news and press releases: of 350 duplicates, one has less",
        least=0.05,
    )
    minimum_shared: int = setting(
        8,
        range=(1, 1000),
        unit="shared shingles of four words",
        help="Pairs that share fewer are ignored.",
        source="a choice: a sentence of eleven words",
        label="Fewest shared phrases",
        effect=SettingEffect.MORE_IF_LOWER,
    )
    most_articles: int = setting(
        20,
        range=(2, 1000),
        unit="articles",
        help="Shingles in more articles than this, such as those of a form or a notice, are ignored.",
        source="labelled news and press releases: from 10 to 40, the same duplicates are proposed",
        label="Most articles that share a phrase",
    )


class ContainmentPass(MemberPass):
    """Pairs of which the shorter article shares at least the threshold's part of its uncommon word shingles."""

    name: ClassVar[str] = "containment"
    label: ClassVar[str] = "Contained text"
    proposes: ClassVar[str] = "one article holds much of the other, at most 40 days apart"
    config_class: ClassVar[type[PassConfig]] = ContainmentConfig
    mark: ClassVar[Mark] = Mark.PHRASES
    marked_note: ClassVar[str] = "phrases of four words that both have; all numbers are equal."
    cites: ClassVar[tuple[str, ...]] = (BRODER_1997,)
    index: ClassVar[str] = Phase.SHINGLES
    seconds_an_article: ClassVar[float] = 0.00015
    members: ClassVar[str] = "shingles"
    stored_as: ClassVar[str] = "<u4"
    members_an_article: ClassVar[int] = 400

    def preparations(self, blocks: int, articles: int) -> int:
        """Return in how many parts to count shingles, so that each fits into memory."""
        return max(_LEAST_PARTS if blocks > 1 else 1, -(-articles // _ARTICLES_PER_PART))

    def prepare(
        self, window: Window, config: ContainmentConfig, connection: Connection, part: int, parts: int, tally: Tally
    ) -> CountedShingles:
        """Return the shingles of one of several ranges that many articles have: common ones, and others by half.

        Memory: 0.4 GB.
        """
        low, high = HASHES * part // parts, HASHES * (part + 1) // parts
        counted = []
        for hashes in read_hashes(window, connection, tally, low=low, high=high):
            many = occurring(hashes, config.most_articles // 2 + 1)
            counts = np.searchsorted(hashes, many, side="right") - np.searchsorted(hashes, many)
            counted.append(self.counted(many, counts))
        return self.prepared(counted)._replace(texts=np.array([tally.articles]))

    def prepared(self, parts: Sequence[CountedShingles]) -> CountedShingles:
        """Return all of them."""
        return concatenated(parts)

    def counted(self, members: Hashes, counts: IntArray) -> CountedShingles:
        """Return shingles with how many articles have each."""
        return CountedShingles(members, counts, np.zeros(1, dtype=np.int64))

    def read(self, window: Window, config: ContainmentConfig, connection: Connection, tally: Tally) -> ArticleMembers:
        """Return the shingles of the articles of a window and of the days before it."""
        begin = first_day_read(window, config.day_window)
        articles = read_shingles(window, connection, tally, first_day=begin)
        return ArticleMembers(articles.ids, articles.days, articles.sets)

    def counted_from(self, config: ContainmentConfig) -> int:
        """Return from how many articles on a shingle is common."""
        return config.most_articles + 1

    def shared(
        self,
        sets: ShingleSets,
        asked: DayRange,
        prepared: CountedShingles | None,
        config: ContainmentConfig,
        sides: IntArray | None = None,
    ) -> Iterator[ScoredPairs]:
        """Yield the pairs that share enough uncommon shingles, whatever their score; None: it counts."""
        yield from contained_texts(
            sets,
            asked,
            most_texts=config.most_articles,
            minimum_shared=config.minimum_shared,
            common=prepared and prepared.above(config.most_articles),
            sides=sides,
        )

    def explain(
        self, left: int, right: int, window: Window, config: ContainmentConfig, connection: Connection
    ) -> Explanation:
        """Return why the two articles are proposed or not. Reads the shingles of all articles if they share enough."""
        two = read_shingles_of([left, right], window, connection)
        days = int(abs(two.days[1] - two.days[0]))
        first, second = two.sets.split()
        common = np.intersect1d(first, second, assume_unique=True)
        if days > config.day_window:
            why = f"{too_far(days, config.day_window)} They share {_shingles(len(common))}."
            return Explanation(False, why, None, config.threshold)
        if len(common) < config.minimum_shared:
            why = f"They share {_shingles(len(common))}; at least {config.minimum_shared:,} are needed."
            return Explanation(False, why, None, config.threshold)
        holders = read_holders(distinct(two.sets.values), window, connection)
        # Of the other articles, only what they have of these two counts.
        ids, starts = np.unique(holders.ids, return_index=True)
        parts = contained_texts(
            ShingleSets(holders.hashes, np.append(starts, len(holders.ids))),
            DayRange(np.zeros(len(ids), dtype=np.int64), 0, 0),
            most_texts=config.most_articles,
            minimum_shared=1,
        )
        found = scored(left, right, ids, parts)
        said = f"They share {_shingles(found[1])} that few articles have, of {found[2]:,} in the shorter article."
        return self.explained(said, found, len(common), config, config.minimum_shared)


def _shingles(count: int) -> str:
    return f"{counted(count, 'shingle')} of four words"
