"""The writer of boilerplate: finds it week by week and marks it in a newspaper's articles.

The content of an article never changes; the marks and the texts without boilerplate have columns of their own. A week
is processed again if its articles, the newspaper's whitelist or the rules have changed; the same input gives the same
rows. Each week is one transaction: an interrupted run resumes, and finished weeks cost nothing.
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
from articles.normalization.times import publication_order
from articles.querysets import given
from articles.storage.fingerprints import fingerprint
from articles.storage.ingest import writing

# Only the marks, if the compared texts stay the same: the revision stays too, so no run compares the articles again.
_MARK_SQL = """
UPDATE articles_article AS article SET boilerplate = changed.boilerplate
FROM unnest(%(ids)s::bigint[], %(boilerplate)s::jsonb[]) AS changed (id, boilerplate)
WHERE article.id = changed.id
"""
# Each article is looked up by its id, in the order of the ids, whatever the statistics of the table say: the revisions
# that they get must be the same in every run.
_IN_ORDER_SQL = "SELECT set_config('enable_hashjoin', %(joins)s, true), set_config('enable_mergejoin', %(joins)s, true)"
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
    """Counts of a week: its articles, those whose compared texts changed, and its boilerplate sentences."""

    articles: int
    changed: int
    sentences: int


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts to compare without marked boilerplate, named as their columns; None if nothing is removed.

    A digest is None for an empty text too.
    """

    story_text: str | None
    story_digest: UUID | None
    topic_text: str | None
    topic_digest: UUID | None


@dataclass(frozen=True, slots=True)
class _Rules:
    """A newspaper's rules: in how many articles a sentence must occur, and the sentences that are whitelisted."""

    least_articles: int
    whitelisted: frozenset[UUID]


_TEXTS = [each.name for each in fields(_Texts)]
# The number of articles of a week, the highest of their revisions, and the sum of their revisions.
_Facts = tuple[int, int, int]
_NO_ARTICLES: _Facts = (0, 0, 0)


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
    rules = _rules(newspaper_ids)
    facts = {week for week, found in counted.items() if found[0] >= rules[week.newspaper_id].least_articles}
    looked_at = BoilerplateWeek.objects.filter(given(newspaper_id__in=newspaper_ids, week__gte=first, week__lte=until))
    known = {NewspaperWeek(each.newspaper_id, each.week): each.fingerprint for each in looked_at.iterator()}
    return {
        week: counted.get(week, _NO_ARTICLES)[0]
        # A week that has lost its articles must be processed too.
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
        if _facts_of(week) != seen:  # an article was added or changed since
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
        newspaper: _Rules(least, frozenset(digests.get(newspaper, ())))
        for newspaper, least in newspapers.values_list("pk", "boilerplate_articles")
    }


def _fingerprint(facts: _Facts, rules: _Rules) -> str:
    whitelisted = sorted(map(str, rules.whitelisted))
    return fingerprint(RULE_VERSION, NORMALIZER_VERSION, facts, rules.least_articles, whitelisted)


def _articles_of(week: NewspaperWeek) -> list[Article]:
    """Return the articles of the week in the order of publication: the first with a sentence keeps it."""
    rows = Article.objects.in_scope(week.monday, _sunday_of(week.monday), [week.newspaper_id])
    wanted = rows.only("date", "published_at", "content", "boilerplate", "story_text", "topic_text")
    articles = {article.pk: article for article in wanted}
    order = publication_order((pk, article.date, article.published_at) for pk, article in articles.items())
    return [articles[pk] for pk in order]


def _found(articles: Sequence[Article], rules: _Rules) -> tuple[list[FoundSentence], list[list[Mark]]]:
    texts = [article.content for article in articles]
    found = find_boilerplate(texts, rules.whitelisted, least_articles=rules.least_articles)
    return found.sentences, found.marks


def _store_marks(articles: Sequence[Article], marks: Sequence[Sequence[Mark]]) -> int:
    """Write what has changed; return the number of articles whose compared text changed."""
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
        cursor.execute(_IN_ORDER_SQL, {"joins": "off"})
        cursor.execute(_STORE_SQL, {"ids": list(changed), "boilerplate": found_marks, **values})
        cursor.execute(_IN_ORDER_SQL, {"joins": "on"})
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
    """Store the fingerprint of a week, or delete it if the week has too few articles to be processed again."""
    if kept:
        BoilerplateWeek.objects.update_or_create(
            newspaper_id=week.newspaper_id, week=week.monday, defaults={"fingerprint": found_in}
        )
    else:
        BoilerplateWeek.objects.filter(newspaper_id=week.newspaper_id, week=week.monday).delete()
