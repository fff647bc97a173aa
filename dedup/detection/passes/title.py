"""The title pass: the same headline, by default in one newspaper on one day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

from dedup.declarations import Finds, setting
from dedup.detection.article_sql import article_sql, scope_parameters
from dedup.detection.kernels.contents import READ_CHARACTERS, has_contents
from dedup.detection.passes.base import Connection, Explanation, PassConfig, Reach, too_far
from dedup.detection.passes.grouping import near_candidates
from dedup.detection.types import Candidate, Tally, Window

# Sorts the headlines of all articles, and returns only those that occur more than once.
_SQL = article_sql(
    """
WITH counted AS (
    SELECT CASE WHEN %(across_newspapers)s THEN 0 ELSE newspaper_id END AS place, newspaper_id, normalized_title, date,
           id, count(*) OVER (
               PARTITION BY CASE WHEN %(across_newspapers)s THEN 0 ELSE newspaper_id END, normalized_title
           ) AS articles
    FROM {articles} AS article
    WHERE date <= %(last_day)s
      AND {article.in_newspapers}
      AND (cardinality(string_to_array(normalized_title, ' ')) >= %(minimum_words)s
           OR normalized_title ~ %(unspaced)s)
)
SELECT place || ' ' || normalized_title, normalized_title, id, date, newspaper_id
FROM counted
WHERE articles > 1
ORDER BY place, normalized_title, date, id
""",
    "article",
)
_TWO_SQL = article_sql(
    """
SELECT normalized_title, date, newspaper_id,
       cardinality(string_to_array(normalized_title, ' ')) >= %(minimum_words)s OR normalized_title ~ %(unspaced)s
FROM {articles}
WHERE id = ANY (%(ids)s)
"""
)
# As the rows of _SQL, for one headline. By the index article_title.
_OF_TITLE_SQL = article_sql(
    """
SELECT normalized_title, normalized_title, id, date, newspaper_id
FROM {articles} AS article
WHERE date <= %(last_day)s
  AND {article.in_newspapers}
  AND (%(newspaper_id)s::bigint IS NULL OR newspaper_id = %(newspaper_id)s)
  AND md5(normalized_title) = md5(%(title)s) AND normalized_title = %(title)s
ORDER BY date, id
""",
    "article",
)
_TEXTS_SQL = article_sql(
    """
SELECT left(normalized_text, %(characters)s) FROM {articles} WHERE id = ANY (%(ids)s) ORDER BY date, id
"""
)
# How many articles of a headline are read at a time: a few are often enough to decide.
_READ_AT_ONCE = 50

# Thai, Lao, Burmese, Khmer, kana and Han have no blanks between words: two characters count as a word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"


@dataclass(frozen=True, slots=True)
class TitleConfig(PassConfig):
    """Settings of the title pass."""

    days_apart: int = setting(
        0,
        range=(0, 36_500),
        unit="days, inclusive",
        help="Articles are compared if they were published at most this many days apart; 0 means the same day.",
        source="Skoli: the same headline on the same day in the same newspaper",
        label="Days apart, at most",
        finds=Finds.WITHIN_DAYS,
    )
    across_newspapers: bool = setting(
        False,
        help="Whether articles from different newspapers are also compared.",
        unit="yes or no",
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
        finds=Finds.MORE_IF_LOWER,
    )
    largest_group: int = setting(
        25,
        range=(2, 1000),
        unit="articles",
        help="A headline that more articles than this share within these days is a column title and is ignored.",
        source="Media Cloud's 2018 rules, which refuse groups of more than 25",
        label="Most articles under one headline",
        finds=Finds.MORE_IF_HIGHER,
    )
    generic_contents: int = setting(
        3,
        range=(2, 1000),
        unit="clearly different texts",
        help="A headline over this many texts of one newspaper, on any days, such as “LIVE” or “Situation report”, "
        "is generic and makes no pair.",
        source="Skoli: the same headline over different content; two are a coincidence",
        label="Different texts that make a headline generic",
        finds=Finds.MORE_IF_HIGHER,
    )

    def comparable(self, used: Mapping[str, Any]) -> bool:
        """Return the same. More days also put more articles under a headline, until it is ignored."""
        return PassConfig.comparable(self, used) and self.days_apart <= used.get("days_apart", 0)


class TitlePass:
    """Pairs with equal normalised headlines, within one newspaper and one day unless the settings say otherwise."""

    name: ClassVar[str] = "title"
    label: ClassVar[str] = "Same headline"
    proposes: ClassVar[str] = "the same headline in one newspaper on one day"
    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.STORE
    compares_texts: ClassVar[bool] = False
    config_class: ClassVar[type[PassConfig]] = TitleConfig

    def find(
        self, window: Window, config: TitleConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once, with score 1. Pairs of generic headlines count only as candidates."""
        parameters = {"across_newspapers": config.across_newspapers, **_long_enough(config)}
        tally = tally or Tally()
        with connection.cursor() as cursor:
            cursor.execute(_SQL, {**scope_parameters(window), **parameters})
            for _, group in groupby(cursor, key=itemgetter(0)):
                yield from _of_one_headline([_Article(*row) for row in group], window, config, connection, tally)

    def explain(
        self, left: int, right: int, window: Window, config: TitleConfig, connection: Connection
    ) -> Explanation:
        """Return why the two articles are proposed or not."""
        with connection.cursor() as cursor:
            cursor.execute(_TWO_SQL, {"ids": [left, right], **_long_enough(config)})
            one, other = (_Headline(*row) for row in cursor.fetchall())
            if fault := _fault(one, other, config):
                return Explanation(False, fault, float(one.title == other.title))
            newspaper = None if config.across_newspapers else one.newspaper
            parameters = {**scope_parameters(window), "newspaper_id": newspaper, "title": one.title}
            cursor.execute(_OF_TITLE_SQL, parameters)
            group = [_Article(*row) for row in cursor]
        tally, every = Tally(), replace(window, first_day=date.min)
        for found in _of_one_headline(group, every, config, connection, tally):
            if (found.left, found.right) == (left, right):
                return Explanation(True, "Both have the same headline.", 1.0, evidence=found.evidence)
        return Explanation(False, _generic_or_crowded(group, {left, right}, config), 1.0)


class _Headline(NamedTuple):
    """What the pass looks at in one of two articles."""

    title: str
    day: date
    newspaper: int
    long_enough: bool


def _long_enough(config: TitleConfig) -> dict[str, int | str]:
    """Return the parameters of the statements that say how long a headline must be."""
    return {"minimum_words": config.minimum_words, "unspaced": f"[{UNSPACED}]{{{2 * config.minimum_words}}}"}


def _fault(one: _Headline, other: _Headline, config: TitleConfig) -> str:
    """Return why two articles are never paired, whatever other articles there are; empty if they may be."""
    days = abs((one.day - other.day).days)
    if one.title != other.title:
        return "The two headlines are not the same."
    if not one.long_enough:
        return f"The headline is too short: it needs at least {config.minimum_words} words to be compared."
    if one.newspaper != other.newspaper and not config.across_newspapers:
        return "They have the same headline but are of two newspapers; this pass compares within one."
    if days > config.days_apart:
        return f"They have the same headline. {too_far(days, config.days_apart)}"
    return ""


def _generic_or_crowded(group: Sequence[_Article], two: set[int], config: TitleConfig) -> str:
    """Return why two articles with the same headline and near days are not paired."""
    later = max(each.day for each in group if each.article in two)
    near = sum(0 <= (later - each.day).days <= config.days_apart for each in group)
    if near > config.largest_group:
        return (
            f"{near:,} articles have this headline within these days; more than {config.largest_group:,} make it the "
            "title of a column, which is ignored."
        )
    least = config.generic_contents
    return f"The headline is generic: one newspaper has it over at least {least} clearly different texts."


class _Article(NamedTuple):
    """One of the articles that share a headline, which come in order of time."""

    key: str
    headline: str
    article: int
    day: date
    newspaper: int


def _of_one_headline(
    group: Sequence[_Article], window: Window, config: TitleConfig, connection: Connection, tally: Tally
) -> Iterator[Candidate]:
    """Yield the pairs of a headline, except those of a newspaper that has it over many different contents."""
    generic: dict[int, bool] = {}
    newspapers = {each.article: each.newspaper for each in group}
    rows = (each[:4] for each in group)
    for candidate in near_candidates(
        TitlePass.name, rows, window=window, largest=config.largest_group, days_apart=config.days_apart
    ):
        tally.candidates += 1
        # Few headlines get here: most that occur twice do so on different days.
        for newspaper in {newspapers[candidate.left], newspapers[candidate.right]} - generic.keys():
            ids = [each.article for each in group if each.newspaper == newspaper]
            generic[newspaper] = len(ids) >= config.generic_contents and has_contents(
                _texts(ids, connection), config.generic_contents
            )
        if not any(generic[newspapers[each]] for each in (candidate.left, candidate.right)):
            tally.verified += 1
            yield candidate


def _texts(ids: Sequence[int], connection: Connection) -> Iterator[str]:
    """Yield the texts of these articles in order of time."""
    with connection.cursor() as cursor:
        for start in range(0, len(ids), _READ_AT_ONCE):
            some = list(ids[start : start + _READ_AT_ONCE])
            cursor.execute(_TEXTS_SQL, {"ids": some, "characters": READ_CHARACTERS})
            yield from (text for (text,) in cursor.fetchall())
