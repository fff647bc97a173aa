"""The writer of boilerplate: finds it week by week and marks it in a newspaper's articles.

What was stored of an article never changes; the marks and the texts without boilerplate stand beside it. A week is
looked at again when its articles, the newspaper's whitelist or the rules have changed, and gives the same rows every
time. Each week is a transaction of its own: what was interrupted goes on, and what is done costs nothing to do again.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Count, Max, Sum
from django.db.models.functions import TruncWeek

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import (
    RULE_VERSION,
    FoundSentence,
    Mark,
    SentenceKind,
    find_boilerplate,
    monday_of,
    without_boilerplate,
)
from articles.models import Article, BoilerplateWeek, Newspaper, RepeatedSentence, WhitelistedSentence
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.text import normalize_text, text_digest
from articles.querysets import given
from articles.storage.fingerprints import fingerprint
from articles.storage.ingest import writing

# The marks alone, where the compared texts stay: that counts up no revision, and no run looks at the articles again.
_MARK_SQL = """
UPDATE articles_article AS article SET boilerplate = changed.boilerplate
FROM unnest(%(ids)s::bigint[], %(boilerplate)s::jsonb[]) AS changed (id, boilerplate)
WHERE article.id = changed.id
"""
_STORE_SQL = """
UPDATE articles_article AS article
SET boilerplate = changed.boilerplate,
    story_text = changed.story_text, story_digest = changed.story_digest,
    topic_text = changed.topic_text, topic_digest = changed.topic_digest
FROM unnest(
    %(ids)s::bigint[], %(boilerplate)s::jsonb[], %(story_text)s::text[], %(story_digest)s::uuid[],
    %(topic_text)s::text[], %(topic_digest)s::uuid[]
) AS changed (id, boilerplate, story_text, story_digest, topic_text, topic_digest)
WHERE article.id = changed.id
"""


class NewspaperWeek(NamedTuple):
    """A newspaper's week, by its Monday."""

    newspaper_id: int
    monday: datetime.date


@dataclass(frozen=True, slots=True)
class MarkedWeek:
    """What became of a week: its articles, those whose compared texts changed, and its boilerplate sentences."""

    articles: int
    changed: int
    sentences: int


@dataclass(frozen=True, slots=True)
class _Texts:
    """What the marks of an article leave to compare, named as the columns that keep it; None where that is all of it.

    A digest is None for an empty text too.
    """

    story_text: str | None
    story_digest: UUID | None
    topic_text: str | None
    topic_digest: UUID | None


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a newspaper's boilerplate goes by: in how many articles a sentence stands, and what is none all the same."""

    least_articles: int
    whitelisted: frozenset[UUID]


_TEXTS = [each.name for each in fields(_Texts)]
# Of a week: how many articles it has, the highest of their revisions, and the sum of them.
_Facts = tuple[int, int, int]
_NO_ARTICLES: _Facts = (0, 0, 0)


def outdated_weeks(
    newspaper_ids: Collection[int] | None = None,
    *,
    since: datetime.date | None = None,
    until: datetime.date | None = None,
    every: bool = False,
) -> dict[NewspaperWeek, int]:
    """Return the weeks to look at, in order, each with the number of its articles; `every`: also those up to date.

    Of these newspapers (None: of all), and from the week of `since` to that of `until`. Weeks of too few articles to
    repeat anything are passed over.
    """
    first = monday_of(since) if since else None
    counted = _facts(newspaper_ids, first, _sunday_of(until) if until else None)
    rules = _rules(newspaper_ids)
    facts = {week for week, found in counted.items() if found[0] >= rules[week.newspaper_id].least_articles}
    looked_at = BoilerplateWeek.objects.filter(given(newspaper_id__in=newspaper_ids, week__gte=first, week__lte=until))
    known = {NewspaperWeek(each.newspaper_id, each.week): each.fingerprint for each in looked_at.iterator()}
    return {
        week: counted.get(week, _NO_ARTICLES)[0]
        # A week that has lost its articles has to be looked at too.
        for week in sorted(facts | known.keys())
        if every or known.get(week) != _fingerprint(counted.get(week, _NO_ARTICLES), rules[week.newspaper_id])
    }


def mark_week(week: NewspaperWeek) -> MarkedWeek:
    """Find the boilerplate of a week and store it in one transaction. Memory: the texts of the week."""
    rules = _rules([week.newspaper_id])[week.newspaper_id]
    seen = _facts_of(week)
    articles = _articles_of(week)
    sentences, marks = _found(articles, rules)
    with writing():
        if _facts_of(week) != seen:  # an article has come or changed meanwhile
            articles = _articles_of(week)
            sentences, marks = _found(articles, rules)
        changed = _store_marks(articles, marks)
        _store_sentences(week, sentences, [article.pk for article in articles])
        _store_week(week, _fingerprint(_facts_of(week), rules), kept=len(articles) >= rules.least_articles)
    found = len([each for each in sentences if each.kind is SentenceKind.BOILERPLATE])
    return MarkedWeek(len(articles), changed, found)


def _sunday_of(day: datetime.date) -> datetime.date:
    last = monday_of(day).toordinal() + 6
    return datetime.date.fromordinal(min(last, datetime.date.max.toordinal()))


def _facts(
    newspaper_ids: Collection[int] | None, since: datetime.date | None, until: datetime.date | None
) -> dict[NewspaperWeek, _Facts]:
    rows = Article.objects.in_scope(since, until, newspaper_ids).order_by().annotate(week=TruncWeek("date"))
    counted = rows.values_list("newspaper_id", "week").annotate(Count("id"), Max("revision"), Sum("revision"))
    return {NewspaperWeek(newspaper, week): (count, top, int(total)) for newspaper, week, count, top, total in counted}


def _facts_of(week: NewspaperWeek) -> _Facts:
    return _facts([week.newspaper_id], week.monday, _sunday_of(week.monday)).get(week, _NO_ARTICLES)


def _rules(newspaper_ids: Collection[int] | None) -> dict[int, _Rules]:
    """Return the rules of these newspapers; None: of all."""
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
        newspaper: _Rules(least, frozenset(digests.get(newspaper, ())))
        for newspaper, least in newspapers.values_list("pk", "boilerplate_articles")
    }


def _fingerprint(facts: _Facts, rules: _Rules) -> str:
    whitelisted = sorted(map(str, rules.whitelisted))
    return fingerprint(RULE_VERSION, NORMALIZER_VERSION, facts, rules.least_articles, whitelisted)


def _articles_of(week: NewspaperWeek) -> list[Article]:
    rows = Article.objects.in_scope(week.monday, _sunday_of(week.monday), [week.newspaper_id])
    return list(rows.order_by("date", "id").only("content", "boilerplate", "story_text", "topic_text"))


def _found(articles: Sequence[Article], rules: _Rules) -> tuple[list[FoundSentence], list[list[Mark]]]:
    texts = [article.content for article in articles]
    found = find_boilerplate(texts, rules.whitelisted, least_articles=rules.least_articles)
    return found.sentences, found.marks


def _store_marks(articles: Sequence[Article], marks: Sequence[Sequence[Mark]]) -> int:
    """Write what has changed; return of how many articles a compared text has."""
    marked: dict[int, str] = {}
    changed: dict[int, tuple[str, _Texts]] = {}
    for article, found in zip(articles, marks, strict=True):
        stored = [[start, end, int(first)] for start, end, first in found]
        texts = _texts(article.content, stored)
        if (article.story_text, article.topic_text) != (texts.story_text, texts.topic_text):
            changed[article.pk] = json.dumps(stored), texts
        elif article.boilerplate != stored:
            marked[article.pk] = json.dumps(stored)
    columns = [asdict(texts) for _, texts in changed.values()]
    values = {name: [each[name] for each in columns] for name in _TEXTS}
    with connection.cursor() as cursor:
        cursor.execute(_MARK_SQL, {"ids": list(marked), "boilerplate": list(marked.values())})
        found_marks = [mark for mark, _ in changed.values()]
        cursor.execute(_STORE_SQL, {"ids": list(changed), "boilerplate": found_marks, **values})
    return len(changed)


def _texts(content: str, marks: Sequence[Sequence[int]]) -> _Texts:
    story = topic = None
    if not all(mark[2] for mark in marks):
        story = normalize_text(without_boilerplate(content, marks, Mode.STORY))
    if marks:
        topic = normalize_text(without_boilerplate(content, marks, Mode.TOPIC))
    return _Texts(story, text_digest(story or ""), topic, text_digest(topic or ""))


def _store_sentences(week: NewspaperWeek, found: Sequence[FoundSentence], ids: Sequence[int]) -> None:
    rows = [
        RepeatedSentence(
            newspaper_id=week.newspaper_id,
            week=week.monday,
            digest=each.digest,
            sentence=each.text,
            kind=each.kind.value,
            articles=len(each.articles),
            article_ids=[ids[place] for place in each.articles],
        )
        for each in found
    ]
    before = RepeatedSentence.objects.filter(newspaper_id=week.newspaper_id, week=week.monday)
    before.exclude(digest__in=[row.digest for row in rows]).delete()
    RepeatedSentence.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["newspaper", "week", "digest"],
        update_fields=["sentence", "kind", "articles", "article_ids"],
    )


def _store_week(week: NewspaperWeek, found_in: str, *, kept: bool) -> None:
    """Note what a week looked like; not of one that has too few articles to be looked at again."""
    if kept:
        BoilerplateWeek.objects.update_or_create(
            newspaper_id=week.newspaper_id, week=week.monday, defaults={"fingerprint": found_in}
        )
    else:
        BoilerplateWeek.objects.filter(newspaper_id=week.newspaper_id, week=week.monday).delete()
