"""The exact pass: the same text, ignoring case, punctuation and typography, on any day, in any newspaper."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dedup.declarations import SettingEffect, setting
from dedup.detection.passes.base import PassConfig
from dedup.detection.passes.keyed import Key, KeyedArticle, KeyedPass, Words, articles_of_a_key
from dedup.detection.types import Mark

# A text that comes back under other headlines after so many days is page text, not a story.
LEFTOVER_HEADLINES = 3
LEFTOVER_DAYS = 30


@dataclass(frozen=True, slots=True)
class ExactConfig(PassConfig):
    """Settings of the exact pass."""

    minimum_characters: int = setting(
        40,
        range=(1, 10_000),
        unit="characters of normalised text",
        help="Shorter texts, such as “comment now” or “page not found”, are never matched.",
        source="the South African corpus: extraction of very short articles often returns other text",
        label="Shortest text",
        effect=SettingEffect.MORE_IF_LOWER,
    )
    most_headlines: int = setting(
        3,
        range=(1, 1000),
        unit="headlines in one newspaper",
        help="A text that one newspaper has under more headlines than this is probably a remnant of extraction: "
        "its pairs are similar, not duplicates.",
        source="press releases of which only “About …” was extracted: 30 headlines over one text",
        label="Most headlines over one text",
        effect=SettingEffect.SAME,
    )
    largest_group: int = articles_of_a_key(
        50,
        "In a larger group of equal texts, each article is paired only with the first one, not with all others.",
        "50 equal texts already make 1,225 pairs",
        "Equal texts that are all paired",
    )


class ExactPass(KeyedPass):
    """Pairs with equal normalised text."""

    name: ClassVar[str] = "exact"
    label: ClassVar[str] = "Same text"
    proposes: ClassVar[str] = "the same text on any day in any newspaper"
    compares_texts: ClassVar[bool] = True
    config_class: ClassVar[type[PassConfig]] = ExactConfig
    mark: ClassVar[Mark] = Mark.TEXT
    marked_note: ClassVar[str] = "the same text, apart from case and punctuation."
    star: ClassVar[bool] = True
    # The step "row_number() OVER (PARTITION BY homogenised content)" of the Skoli study, over 128-bit digests.
    key: ClassVar[Key] = Key(
        "{article.digest}",
        measure="char_length({article.text})",
        least="minimum_characters",
        note="article.normalized_title",
    )
    words: ClassVar[Words] = Words(
        same="The two texts are the same, word for word.",
        different="The two texts are not the same, word for word.",
        ineligible="The texts are equal, but have {measure:,} characters; at least {minimum_characters:,} are needed.",
        too_many="{articles:,} articles have this text. In a group of more than {largest_group:,}, each article is "
        "paired only with the first one.",
    )

    def one_newspaper(self, _config: ExactConfig) -> bool:
        """Return False: a text may be of any newspapers."""
        return False

    def evidence(self, group: Sequence[KeyedArticle], config: ExactConfig) -> dict[str, Any]:
        """Return how many articles share a text, and the highest number of headlines that one newspaper has over it.

        What is probably a remnant of extraction also has the number of its headlines as `leftover`: a text with more
        than `most_headlines` of them in one newspaper, or with LEFTOVER_HEADLINES over more than LEFTOVER_DAYS in any
        newspapers. A story may run under many headlines, too, but within days.
        """
        newspapers = Counter(newspaper for newspaper, _ in {(article.newspaper, article.note) for article in group})
        headlines = max(newspapers.values())
        noted = {"articles": len(group), "headlines": headlines}
        if headlines > config.most_headlines:
            return noted | {"leftover": headlines}
        everywhere = len({article.note for article in group})
        days = [article.day for article in group]
        late = (max(days) - min(days)).days > LEFTOVER_DAYS
        return noted | {"leftover": everywhere} if everywhere >= LEFTOVER_HEADLINES and late else noted
