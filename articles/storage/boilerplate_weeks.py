"""The weeks whose boilerplate is to be found: those whose articles, whitelist or rules have changed since."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from django.db import connection
from django.db.models import Count, Max, Sum
from django.db.models.functions import TruncWeek

from articles.boilerplate.rules import RULE_VERSION, monday_of
from articles.models import Article, BoilerplateWeek, Newspaper, WhitelistedSentence
from articles.normalization import NORMALIZER_VERSION
from articles.querysets import given
from articles.storage.fingerprints import fingerprint

# The number of articles of a week, the highest of their revisions, and the sum of their revisions.
Facts: TypeAlias = tuple[int, int, int]
NO_ARTICLES: Facts = (0, 0, 0)

# The index article_title finds the articles of a newspaper's week.
_FACTS_SQL = """
SELECT wanted.newspaper_id, wanted.monday, count(*), max(article.revision), sum(article.revision)
FROM unnest(%(newspapers)s::bigint[], %(mondays)s::date[]) AS wanted (newspaper_id, monday)
JOIN articles_article AS article
  ON article.newspaper_id = wanted.newspaper_id AND article.date BETWEEN wanted.monday AND wanted.monday + 6
GROUP BY wanted.newspaper_id, wanted.monday
"""


class NewspaperWeek(NamedTuple):
    """A newspaper's week, by its Monday."""

    newspaper_id: int
    monday: datetime.date


@dataclass(frozen=True, slots=True)
class Rules:
    """A newspaper's rules: in how many articles a sentence must occur, and the sentences that are whitelisted."""

    least_articles: int
    whitelisted: frozenset[UUID]


def outdated_weeks(
    newspaper_ids: Collection[int] | None = None,
    *,
    since: datetime.date | None = None,
    until: datetime.date | None = None,
    every: bool = False,
) -> dict[NewspaperWeek, int]:
    """Return the weeks to process, in order, each with its number of articles; with `every`, also those up to date.

    Of these newspapers (None: all), from the week of `since` to the week of `until`. Weeks with too few articles to
    repeat anything are skipped.
    """
    first = monday_of(since) if since else None
    counted = _facts(newspaper_ids, first, _sunday_of(until) if until else None)
    rules = rules_of(newspaper_ids)
    facts = {week for week, found in counted.items() if found[0] >= rules[week.newspaper_id].least_articles}
    looked_at = BoilerplateWeek.objects.filter(given(newspaper_id__in=newspaper_ids, week__gte=first, week__lte=until))
    known = {NewspaperWeek(week.newspaper_id, week.week): week.fingerprint for week in looked_at.iterator()}
    return {
        week: counted.get(week, NO_ARTICLES)[0]
        # A week that has lost its articles must be processed too.
        for week in sorted(facts | known.keys())
        if every or known.get(week) != fingerprint_of(counted.get(week, NO_ARTICLES), rules[week.newspaper_id])
    }


def facts_of(weeks: Collection[NewspaperWeek]) -> dict[NewspaperWeek, Facts]:
    """Return the facts of each of these weeks."""
    facts = dict.fromkeys(weeks, NO_ARTICLES)
    with connection.cursor() as cursor:
        cursor.execute(_FACTS_SQL, columns_of(weeks))
        for newspaper, monday, count, top, total in cursor.fetchall():
            facts[NewspaperWeek(newspaper, monday)] = (count, top, int(total))
    return facts


def columns_of(weeks: Collection[NewspaperWeek]) -> dict[str, Any]:
    """Return the weeks as parameters of a statement: `newspapers` and `mondays`."""
    return {"newspapers": [week.newspaper_id for week in weeks], "mondays": [week.monday for week in weeks]}


def rules_of(newspaper_ids: Collection[int] | None) -> dict[int, Rules]:
    """Return the rules of these newspapers; None: all."""
    newspapers, whitelist = Newspaper.objects.all(), WhitelistedSentence.objects.all()
    if newspaper_ids is not None:
        newspapers, whitelist = (
            newspapers.filter(pk__in=newspaper_ids),
            whitelist.filter(newspaper_id__in=newspaper_ids),
        )
    digests: dict[int, set[UUID]] = {}
    for newspaper, digest in whitelist.values_list("newspaper_id", "digest"):
        digests.setdefault(newspaper, set()).add(digest)
    return {
        newspaper: Rules(least, frozenset(digests.get(newspaper, ())))
        for newspaper, least in newspapers.values_list("pk", "boilerplate_articles")
    }


def fingerprint_of(facts: Facts, rules: Rules) -> str:
    """Return what the boilerplate of a week with these articles depends on."""
    whitelisted = sorted(map(str, rules.whitelisted))
    return fingerprint(RULE_VERSION, NORMALIZER_VERSION, facts, rules.least_articles, whitelisted)


def _sunday_of(day: datetime.date) -> datetime.date:
    last = monday_of(day).toordinal() + 6
    return datetime.date.fromordinal(min(last, datetime.date.max.toordinal()))


def _facts(
    newspaper_ids: Collection[int] | None, since: datetime.date | None, until: datetime.date | None
) -> dict[NewspaperWeek, Facts]:
    rows = Article.objects.in_scope(since, until, newspaper_ids).order_by().annotate(week=TruncWeek("date"))
    counted = rows.values_list("newspaper_id", "week").annotate(Count("id"), Max("revision"), Sum("revision"))
    return {NewspaperWeek(newspaper, week): (count, top, int(total)) for newspaper, week, count, top, total in counted}
