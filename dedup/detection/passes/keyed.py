"""Passes whose pairs share a key: the same URL, headline or text. A pass declares its key; all the rest is here.

PostgreSQL alone says which articles have which key. A run here asks it for those that several articles share; an export
writes them all, and a run on a cluster brings equal ones together (detection/spark/keyed.py).
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import combinations, groupby
from operator import itemgetter
from string import Template
from typing import Any, ClassVar, NamedTuple

from dedup.declarations import SettingEffect, setting
from dedup.detection.article_sql import article_sql, scope_parameters
from dedup.detection.kernels.masked_shingles import READ_CHARACTERS, has_contents
from dedup.detection.passes.base import Connection, Explanation, Pass, Reach, Spread, too_far
from dedup.detection.types import Candidate, Tally, Window

_NO_NOTE = "NULL"


@dataclass(frozen=True, slots=True)
class Key:
    """What articles of a pair share, as SQL over {articles} AS article, with the settings of the pass as parameters.

    See article_sql for what is in braces. Articles whose `key` is null, that are not `eligible`, or whose `measure` is
    below the setting `least`, have no key. `measure` and `note`, which `evidence` reads, are only asked of articles
    that share their key: they may be slow. `lookup` finds the key %(only)s by an index.
    """

    key: str
    source: str = "{articles} AS article"
    several: bool = False  # whether an article may have more than one
    eligible: str = "TRUE"
    measure: str = "0"
    least: str = ""
    note: str = _NO_NOTE
    lookup: str = ""

    @cache  # noqa: B019 - one for each pass
    def statements(self) -> tuple[str, str, str]:
        """Return the statements of shared keys, of the keys of two articles, and of those that are exported."""
        values = dataclasses.asdict(self) | {
            "distinct": "DISTINCT" if self.several else "",
            "lookup": self.lookup or f"({self.key}) = %(only)s",
        }
        asks = self.least or self.note != _NO_NOTE
        shared_sql = (_PLACED_SQL, _MEASURED_SQL if asks else _SHARED_SQL)
        statements = ("".join(shared_sql), _TWO_SQL, _KEYS_SQL)
        shared, two, keys = (article_sql(Template(statement).substitute(values), "article") for statement in statements)
        return shared, two, keys


def articles_of_a_key(default: int, help_text: str, source: str, label: str) -> Any:
    """Declare how many articles may have a key."""
    return setting(
        default,
        range=(2, 1000),
        unit="articles",
        help=help_text,
        source=source,
        label=label,
        effect=SettingEffect.MORE_IF_HIGHER,
    )


# In one scan. Materialized, or each key would be made twice: to ask whether it is null, too. With OFFSET 0, only
# articles that share their key are measured; otherwise all are read for it.
_PLACED_SQL = """
WITH keyed AS MATERIALIZED (
    SELECT $distinct CASE WHEN %(one_newspaper)s THEN article.newspaper_id ELSE 0 END AS place, $key AS key, article.id,
           article.date, article.newspaper_id
    FROM $source
    WHERE article.date BETWEEN %(first_read)s AND %(last_day)s
      AND {article.in_newspapers}
      AND ($eligible)
      AND (%(only)s IS NULL OR $lookup)
), counted AS (
    SELECT *, count(*) OVER (PARTITION BY place, key) AS articles FROM keyed WHERE key IS NOT NULL
)"""
_SHARED_SQL = """
SELECT place, key, id, date, newspaper_id, NULL
FROM counted
WHERE articles > 1
ORDER BY place, key, date, id
"""
_MEASURED_SQL = """
SELECT place, key, counted.id, counted.date, counted.newspaper_id, measured.note
FROM counted
CROSS JOIN LATERAL (
    SELECT $measure AS measure, $note AS note FROM {articles} AS article WHERE article.id = counted.id OFFSET 0
) AS measured
WHERE articles > 1 AND measure >= %(least)s
ORDER BY place, key, counted.date, counted.id
"""
_TWO_SQL = """
SELECT article.id, $key, article.newspaper_id, article.date, $eligible, $measure
FROM $source
WHERE article.id = ANY (%(ids)s)
"""
_KEYS_SQL = """
SELECT $distinct article.id, article.newspaper_id, article.date,
       CASE WHEN %(one_newspaper)s THEN article.newspaper_id ELSE 0 END, ($key)::text, ($note)::text
FROM $source
WHERE article.id = ANY (%(ids)s) AND ($eligible) AND ($key) IS NOT NULL AND $measure >= %(least)s
"""
_TEXTS_SQL = article_sql(
    """
SELECT left(normalized_text, %(characters)s) FROM {articles} WHERE id = ANY (%(ids)s) ORDER BY date, id
"""
)
# How many articles of a key are read at a time: a few are often enough to decide.
_READ_AT_ONCE = 50


class KeyedArticle(NamedTuple):
    """An article with its key. Those of one key come in order of day and id."""

    key: Any
    article: int
    day: date
    newspaper: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """What `explain` says, for editors. In braces: the settings, {key}, its {articles}, and the {measure}."""

    same: str
    different: str
    # Both have the key: one is not eligible or its measure is too small, they are of two newspapers, or too far apart.
    ineligible: str = ""
    elsewhere: str = ""
    far: str = ""
    # Both have the key, but `told_apart` says that they are no pair.
    apart: str = ""
    # Too many articles have the key, or one newspaper has it over different texts.
    too_many: str = ""
    generic: str = ""


class _Holder(NamedTuple):
    """What one of two articles has under a key."""

    newspaper: int
    day: date
    eligible: bool
    measure: int


class KeyedPass(Pass):
    """A pass that yields the pairs of articles with one key, with score 1.

    The setting `largest_group` bounds the articles of a key: with `star`, those of a larger group are paired only with
    the first one, else not at all. The setting that `days` names bounds the days between two articles, and the group
    is then that of so many days. `contents` names the setting that says over how many clearly different texts of one
    newspaper, on any days, a key is generic and makes no pair.
    """

    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.STORE
    compares_texts: ClassVar[bool] = False
    spread: ClassVar[Spread | None] = Spread.KEYS
    seconds_an_article: ClassVar[float] = 0.00001
    key: ClassVar[Key]
    words: ClassVar[Words]
    star: ClassVar[bool] = False
    days: ClassVar[str] = ""
    contents: ClassVar[str] = ""

    def one_newspaper(self, _config: Any) -> bool:
        """Return whether both articles of a pair are of one newspaper."""
        return True

    def parameters(self, config: Any) -> dict[str, Any]:
        """Return the parameters of the expressions of the key."""
        return dataclasses.asdict(config)

    def told_apart(self, _one: KeyedArticle, _other: KeyedArticle) -> bool:
        """Return whether the notes of two articles of one key tell them apart; asked of a pass that bounds days."""
        return False

    def evidence(self, group: Sequence[KeyedArticle], _config: Any) -> dict[str, Any]:
        """Return the evidence of the pairs of a group."""
        return {"shared": group[0].key, "articles": len(group)}

    def find(
        self, window: Window, config: Any, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once; one that shares several keys has the first as evidence.

        Pairs of generic keys count only as candidates.
        """
        tally = tally or Tally()
        seen: set[tuple[int, int]] = set()
        for group in self._groups(window, config, connection):
            for candidate in self._of_group(group, window, config, connection, tally):
                ends = (candidate.left, candidate.right)
                if ends in seen:
                    continue
                if self.key.several:
                    seen.add(ends)
                yield candidate

    def explain(self, left: int, right: int, window: Window, config: Any, connection: Connection) -> Explanation:
        """Return why the two articles are proposed or not."""
        one, other = self._holders(left, right, window, config, connection)
        shared = sorted(one.keys() & other.keys())
        faults = {key: self._fault(one[key], other[key], config) for key in shared}
        said = []
        for key in (key for key in shared if not faults[key]):
            found = self._explained(key, (left, right), one[key], window, config, connection)
            if found.proposed:
                return found
            said.append(found)
        if said:
            return said[0]
        return Explanation(False, faults[shared[0]] if shared else self.words.different, float(bool(shared)))

    def exported(
        self, ids: Sequence[int], window: Window, config: Any, connection: Connection
    ) -> list[tuple[Any, ...]]:
        """Return the keys of these articles: article, newspaper, day, place, key, note."""
        with connection.cursor() as cursor:
            cursor.execute(self.key.statements()[2], {**self._parameters(window, config), "ids": list(ids)})
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def pairs(self, group: Sequence[KeyedArticle], window: Window, config: Any) -> Iterator[Candidate]:
        """Yield the pairs of the articles of a key, those of a generic key too."""
        if self.days:
            yield from self._near_pairs(group, window, config)
            return
        too_many = len(group) > config.largest_group
        if too_many and not self.star:
            return
        details = self.evidence(group, config)
        pairs = ((group[0], article) for article in group[1:]) if too_many else combinations(group, 2)
        for first, second in pairs:
            if second.day >= window.first_day:
                yield self._candidate(first, second, details)

    def is_generic(self, texts: Iterator[str], config: Any) -> bool:
        """Return whether a key is generic that one newspaper has over these texts."""
        return has_contents(texts, getattr(config, self.contents))

    def _near_pairs(self, group: Sequence[KeyedArticle], window: Window, config: Any) -> Iterator[Candidate]:
        """Yield the pairs near in time.

        A pair is left out if too many articles have the key on the later one's day and the days before it.
        """
        begin = 0
        for _, those_of_day in groupby(enumerate(group), key=lambda numbered: numbered[1].day):
            today = list(those_of_day)
            day, end = today[0][1].day, today[-1][0] + 1
            while group[begin].day < day - timedelta(days=getattr(config, self.days)):
                begin += 1
            if day < window.first_day or end - begin > config.largest_group:
                continue
            details = self.evidence(group[begin:end], config)
            for position, second in today:
                for first in group[begin:position]:
                    if not self.told_apart(first, second):
                        yield self._candidate(first, second, details)

    def _candidate(self, first: KeyedArticle, second: KeyedArticle, details: dict[str, Any]) -> Candidate:
        left, right = sorted((first.article, second.article))
        return Candidate(left, right, self.name, 1.0, details)

    def _of_group(
        self, group: Sequence[KeyedArticle], window: Window, config: Any, connection: Connection, tally: Tally
    ) -> Iterator[Candidate]:
        """Yield the pairs of a key, except those of a newspaper that has it over many different contents."""
        generic: dict[int, bool] = {}
        newspapers = {article.article: article.newspaper for article in group} if self.contents else {}
        for candidate in self.pairs(group, window, config):
            tally.candidates += 1
            two = (newspapers[candidate.left], newspapers[candidate.right]) if self.contents else ()
            # Few keys get here: most that occur twice do so on different days.
            for newspaper in {*two} - generic.keys():
                ids = [article.article for article in group if article.newspaper == newspaper]
                enough = len(ids) >= getattr(config, self.contents)
                generic[newspaper] = enough and self.is_generic(_texts(ids, connection), config)
            if not any(generic[newspaper] for newspaper in two):
                tally.verified += 1
                yield candidate

    def _groups(
        self, window: Window, config: Any, connection: Connection, only: Any = None
    ) -> Iterator[list[KeyedArticle]]:
        """Yield the articles of each key that several have, or of `only` that key."""
        with connection.cursor() as cursor:
            cursor.execute(self.key.statements()[0], {**self._parameters(window, config), "only": only})
            for _, group in groupby(cursor, key=itemgetter(0, 1)):
                yield [KeyedArticle(*row[1:]) for row in group]

    def _parameters(self, window: Window, config: Any) -> dict[str, Any]:
        least = getattr(config, self.key.least) if self.key.least else 0
        own = {"one_newspaper": self.one_newspaper(config), "least": least}
        first_read = date.min
        if self.reach is Reach.WINDOW:
            first_read = date.fromordinal(max(1, window.first_day.toordinal() - getattr(config, self.days)))
        return {**scope_parameters(window), **self.parameters(config), **own, "first_read": first_read}

    def _holders(
        self, left: int, right: int, window: Window, config: Any, connection: Connection
    ) -> tuple[Mapping[Any, _Holder], Mapping[Any, _Holder]]:
        """Return the keys of two articles."""
        holders: dict[int, dict[Any, _Holder]] = {left: {}, right: {}}
        with connection.cursor() as cursor:
            cursor.execute(self.key.statements()[1], {**self._parameters(window, config), "ids": [left, right]})
            for article, key, *rest in cursor:
                if key is not None:
                    holders[article][key] = _Holder(*rest)
        return holders[left], holders[right]

    def _fault(self, one: _Holder, other: _Holder, config: Any) -> str:
        """Return why two articles are never paired by a key that both have; empty if they may be."""
        least = getattr(config, self.key.least) if self.key.least else 0
        if not (one.eligible and other.eligible) or one.measure < least:
            return self._said(self.words.ineligible, config, measure=one.measure)
        if one.newspaper != other.newspaper and self.one_newspaper(config):
            return self.words.elsewhere
        days = abs((one.day - other.day).days)
        if self.days and days > getattr(config, self.days):
            return f"{self.words.far} {too_far(days, getattr(config, self.days))}"
        return ""

    def _explained(
        self, key: Any, two: tuple[int, int], one: _Holder, window: Window, config: Any, connection: Connection
    ) -> Explanation:
        """Return whether two articles are paired by a key that both may be paired by."""
        place = (one.newspaper,) if self.one_newspaper(config) else window.newspaper_ids
        every = dataclasses.replace(window, first_day=date.min, newspaper_ids=place)
        group = next(self._groups(every, config, connection, key), [])
        for found in self._of_group(group, every, config, connection, Tally()):
            if (found.left, found.right) == two:
                said = self._said(self.words.same, config, key=key)
                return Explanation(True, said, 1.0, evidence=found.evidence)
        if self.told_apart(*(article for article in group if article.article in two)):
            return Explanation(False, self.words.apart, 1.0)
        articles = self._near(group, two, config)
        words = self.words.too_many if articles > config.largest_group else self.words.generic
        return Explanation(False, self._said(words, config, key=key, articles=articles), 1.0)

    def _near(self, group: Sequence[KeyedArticle], two: tuple[int, int], config: Any) -> int:
        """Return how many articles of a key decide whether it is ignored for two of them."""
        if not self.days:
            return len(group)
        later = max(article.day for article in group if article.article in two)
        return sum(0 <= (later - article.day).days <= getattr(config, self.days) for article in group)

    def _said(self, words: str, config: Any, **facts: Any) -> str:
        return words.format(**dataclasses.asdict(config), **facts)


def _texts(ids: Sequence[int], connection: Connection) -> Iterator[str]:
    """Yield the texts of these articles in order of time."""
    with connection.cursor() as cursor:
        for start in range(0, len(ids), _READ_AT_ONCE):
            some = list(ids[start : start + _READ_AT_ONCE])
            cursor.execute(_TEXTS_SQL, {"ids": some, "characters": READ_CHARACTERS})
            yield from (text for (text,) in cursor.fetchall())
