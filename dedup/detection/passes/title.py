"""The title pass: the same headline, by default in one newspaper within a day."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from articles.normalization.text import UNSPACED
from articles.normalization.titles import tells_apart
from dedup.declarations import SettingEffect, setting
from dedup.detection.passes.base import PassConfig
from dedup.detection.passes.keyed import Key, KeyedArticle, KeyedPass, Words, articles_of_a_key
from dedup.detection.types import Mark


@dataclass(frozen=True, slots=True)
class TitleConfig(PassConfig):
    """Settings of the title pass."""

    days_apart: int = setting(
        1,
        range=(0, 36_500),
        unit="days, inclusive",
        help="Articles are compared if they were published at most this many days apart; 0 means the same day.",
        source="Skoli: the same headline on the same day; a day more for what is published again after midnight",
        label="Days apart, at most",
        effect=SettingEffect.WITHIN_DAYS,
    )
    across_newspapers: bool = setting(
        False,
        help="Whether articles from different newspapers are also compared.",
        source="Skoli: the same headline on the same day in the same newspaper",
        label="Compare different newspapers too",
    )
    minimum_words: int = setting(
        3,
        range=(1, 20),
        unit="words",
        help="Normalised headlines with fewer words are never matched.",
        source="Media Cloud's 2018 rules want 5; 3 keeps the short headlines of agencies",
        label="Fewest words of a headline",
        effect=SettingEffect.MORE_IF_LOWER,
    )
    largest_group: int = articles_of_a_key(
        25,
        "A headline that more articles than this share within these days is a column title and is ignored.",
        "Media Cloud's 2018 rules, which refuse groups of more than 25",
        "Most articles under one headline",
    )
    generic_contents: int = setting(
        3,
        range=(2, 1000),
        unit="clearly different texts",
        help="A headline over this many texts of one newspaper, on any days, such as “LIVE” or “Situation report”, "
        "is generic and makes no pair.",
        source="Skoli: the same headline over different content; two are a coincidence",
        label="Different texts that make a headline generic",
        effect=SettingEffect.MORE_IF_HIGHER,
    )

    def comparable(self, used: Mapping[str, Any]) -> bool:
        """Return the same. More days also put more articles under a headline, until it is ignored."""
        return PassConfig.comparable(self, used) and self.days_apart <= used.get("days_apart", 0)


class TitlePass(KeyedPass):
    """Pairs with equal normalised headlines, within one newspaper and a day unless the settings say otherwise.

    What the normal form leaves out of two headlines of one newspaper may tell them apart: they make no pair.
    """

    name: ClassVar[str] = "title"
    label: ClassVar[str] = "Same headline"
    proposes: ClassVar[str] = "the same headline in one newspaper within a day"
    config_class: ClassVar[type[PassConfig]] = TitleConfig
    mark: ClassVar[Mark] = Mark.HEADLINE
    marked_note: ClassVar[str] = "the same headline"
    seconds_an_article: ClassVar[float] = 0.00002
    days: ClassVar[str] = "days_apart"
    contents: ClassVar[str] = "generic_contents"
    # By the index article_title.
    key: ClassVar[Key] = Key(
        "article.normalized_title",
        note="article.headline",
        eligible="cardinality(string_to_array(article.normalized_title, ' ')) >= %(minimum_words)s"
        " OR article.normalized_title ~ %(unspaced)s",
        lookup="md5(article.normalized_title) = md5(%(only)s) AND article.normalized_title = %(only)s",
    )
    words: ClassVar[Words] = Words(
        same="Both have the same headline.",
        different="The two headlines are not the same.",
        ineligible="The headline is too short: it needs at least {minimum_words} words to be compared.",
        elsewhere="They have the same headline but are of two newspapers; this pass compares within one.",
        far="They have the same headline.",
        apart="Their headlines are the same but for a part in which they differ.",
        too_many="{articles:,} articles have this headline within these days; more than {largest_group:,} make it the "
        "title of a column, which is ignored.",
        generic="The headline is generic: one newspaper has it over at least {generic_contents} clearly different "
        "texts.",
    )

    def one_newspaper(self, config: TitleConfig) -> bool:
        """Return whether both articles of a pair are of one newspaper."""
        return not config.across_newspapers

    def told_apart(self, one: KeyedArticle, other: KeyedArticle) -> bool:
        """Return whether what is left out of both headlines differs. Two newspapers differ in their names there."""
        return one.newspaper == other.newspaper and tells_apart(one.note or "", other.note or "")

    def parameters(self, config: TitleConfig) -> dict[str, Any]:
        """Return the settings, and how many characters in a row make a headline of a script without blanks."""
        return {**super().parameters(config), "unspaced": f"[{UNSPACED}]{{{2 * config.minimum_words}}}"}
