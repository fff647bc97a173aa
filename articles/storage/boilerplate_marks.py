"""The writer of boilerplate, which it finds week by week and marks in a newspaper's articles, and of the whitelist.

The content of an article never changes; the marks and the texts without boilerplate have columns of their own. A week
is processed again if its articles, the newspaper's whitelist or the rules have changed; the same input gives the same
rows, with any number of processes. Some weeks are one transaction: an interrupted run resumes, and finished weeks cost
nothing. The whitelist has the sentences that editors have declared not to be boilerplate.
"""

import datetime
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.db import connection, transaction
from django.db.models import Count, Max, QuerySet, Sum
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
from articles.grouping import by_key
from articles.models import Article, BoilerplateWeek, Newspaper, RepeatedSentence, WhitelistedSentence
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.text import normalize_text, text_digest
from articles.normalization.times import publication_order
from articles.processes import THIS_PROCESS, Pool, in_batches
from articles.querysets import executed, fetched, given
from articles.storage.audit_log import log_action, logged_actions
from articles.storage.fingerprints import fingerprint
from articles.storage.ingest import writing

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
    facts = dict.fromkeys(weeks, NO_ARTICLES)
    for newspaper, monday, count, top, total in fetched(_FACTS_SQL, columns_of(weeks)):
        facts[NewspaperWeek(newspaper, monday)] = (count, top, int(total))
    return facts


def columns_of(weeks: Collection[NewspaperWeek]) -> dict[str, Any]:
    """Return the weeks as parameters of a statement: `newspapers` and `mondays`."""
    return {"newspapers": [week.newspaper_id for week in weeks], "mondays": [week.monday for week in weeks]}


def rules_of(newspaper_ids: Collection[int] | None) -> dict[int, Rules]:
    """Return the rules of these newspapers; None: all."""
    whitelist = WhitelistedSentence.objects.filter(given(newspaper_id__in=newspaper_ids))
    digests = by_key(whitelist.values_list("newspaper_id", "digest"))
    leasts = Newspaper.objects.filter(given(pk__in=newspaper_ids)).values_list("pk", "boilerplate_articles")
    return {newspaper: Rules(least, frozenset(digests[newspaper])) for newspaper, least in leasts}


def fingerprint_of(facts: Facts, rules: Rules) -> str:
    """Return what the boilerplate of a week with these articles depends on."""
    whitelisted = sorted(map(str, rules.whitelisted))
    return fingerprint(RULE_VERSION, NORMALIZER_VERSION, facts, rules.least_articles, whitelisted)


def _sunday_of(day: datetime.date) -> datetime.date:
    return datetime.date.fromordinal(min(monday_of(day).toordinal() + 6, datetime.date.max.toordinal()))


def _facts(
    newspaper_ids: Collection[int] | None, since: datetime.date | None, until: datetime.date | None
) -> dict[NewspaperWeek, Facts]:
    rows = Article.objects.in_scope(since, until, newspaper_ids).order_by().annotate(week=TruncWeek("date"))
    counted = rows.values_list("newspaper_id", "week").annotate(Count("id"), Max("revision"), Sum("revision"))
    return {NewspaperWeek(newspaper, week): (count, top, int(total)) for newspaper, week, count, top, total in counted}


# A transaction has weeks until they have this many articles.
ARTICLES_AT_ONCE = 500
# Starting processes takes longer than searching this many articles.
FEW_ARTICLES = 2_000

# The index article_title finds them.
_ARTICLES_SQL = """
SELECT wanted.place, article.id, article.date, article.published_at, article.content, article.boilerplate,
       article.story_text, article.topic_text
FROM unnest(%(newspapers)s::bigint[], %(mondays)s::date[]) WITH ORDINALITY AS wanted (newspaper_id, monday, place)
JOIN articles_article AS article
  ON article.newspaper_id = wanted.newspaper_id AND article.date BETWEEN wanted.monday AND wanted.monday + 6
"""
# Only the marks, if the compared texts stay the same: the revision stays too, so no run compares the articles again.
_MARK_SQL = """
UPDATE articles_article AS article SET boilerplate = changed.boilerplate
FROM unnest(%(ids)s::bigint[], %(boilerplate)s::jsonb[]) AS changed (id, boilerplate)
WHERE article.id = changed.id
"""
# A statement for each article: the revisions that they get must be the same in every run, whatever order of rows
# PostgreSQL chooses for a statement on many.
_STORE_SQL = """
UPDATE articles_article
SET boilerplate = %(boilerplate)s::jsonb,
    story_text = %(story_text)s, story_digest = %(story_digest)s::uuid,
    topic_text = %(topic_text)s, topic_digest = %(topic_digest)s::uuid
WHERE id = %(id)s
"""
_DELETE_SQL = """
DELETE FROM articles_repeatedsentence AS stored
USING unnest(%(newspapers)s::bigint[], %(mondays)s::date[]) AS searched (newspaper_id, monday)
WHERE stored.newspaper_id = searched.newspaper_id AND stored.week = searched.monday AND NOT EXISTS (
    SELECT FROM unnest(%(found_newspapers)s::bigint[], %(found_mondays)s::date[], %(digests)s::uuid[])
        AS found (newspaper_id, monday, digest)
    WHERE found.newspaper_id = stored.newspaper_id AND found.monday = stored.week AND found.digest = stored.digest
)
"""
# A week with too few articles is not searched again, and needs no fingerprint.
_FORGET_SQL = """
DELETE FROM articles_boilerplateweek AS stored
USING unnest(%(newspapers)s::bigint[], %(mondays)s::date[]) AS small (newspaper_id, monday)
WHERE stored.newspaper_id = small.newspaper_id AND stored.week = small.monday
"""


@dataclass(frozen=True, slots=True)
class MarkedWeek:
    """Counts of a week: its articles, those whose compared texts changed, and its boilerplate sentences."""

    articles: int
    changed: int
    sentences: int


@dataclass(frozen=True, slots=True)
class FoundWeek:
    """The boilerplate of a week whose articles had these facts, and by article what has to be written."""

    week: NewspaperWeek
    facts: Facts
    rules: Rules
    ids: list[int]  # in the order of publication
    sentences: list[FoundSentence]
    marked: dict[int, str]
    changed: list[dict[str, Any]]  # by column; see _STORE_SQL


def mark_weeks(weeks: Mapping[NewspaperWeek, int], *, pool: Pool = THIS_PROCESS) -> Iterator[MarkedWeek]:
    """Find the boilerplate of these weeks in the processes of a pool and store it, week after week.

    `weeks` have their numbers of articles. Raises WorkerDiedError if a process was killed.
    """
    at_most = None if sum(weeks.values()) > FEW_ARTICLES else 1
    portions = in_batches(weeks, weeks.__getitem__, ARTICLES_AT_ONCE)
    with closing(pool.stream(portions, find_weeks, at_most=at_most)) as stream:
        for _, found in stream:
            yield from store_weeks(found)


def find_weeks(weeks: Sequence[NewspaperWeek], _on_progress: object = None) -> list[FoundWeek]:
    """Find the boilerplate of some weeks; a task of a worker process."""
    rules_by_paper = rules_of({week.newspaper_id for week in weeks})
    facts = facts_of(weeks)
    result = []
    for week, articles in zip(weeks, _articles_of(weeks), strict=True):
        rules = rules_by_paper[week.newspaper_id]
        texts, ids = [article.content for article in articles], [article.pk for article in articles]
        found = find_boilerplate(texts, rules.whitelisted, least_articles=rules.least_articles)
        marked, changed = _differences(articles, found.marks)
        result.append(FoundWeek(week, facts[week], rules, ids, found.sentences, marked, changed))
    return result


def store_weeks(found: Sequence[FoundWeek]) -> list[MarkedWeek]:
    """Store what was found in one transaction; weeks whose articles have changed meanwhile are searched again."""
    with writing():
        now = facts_of([week.week for week in found])
        current = [week if now[week.week] == week.facts else find_weeks([week.week])[0] for week in found]
        _store_marks(current)
        _store_sentences(current)
        _store_fingerprints(current)
    return [
        MarkedWeek(
            articles=len(week.ids),
            changed=len(week.changed),
            sentences=sum(sentence.kind is SentenceKind.BOILERPLATE for sentence in week.sentences),
        )
        for week in current
    ]


def _articles_of(weeks: Sequence[NewspaperWeek]) -> list[list[Article]]:
    """Return the articles of each week in the order of publication: the first with a sentence keeps it."""
    found: list[dict[int, Article]] = [{} for _ in weeks]
    rows: Iterable[Any] = Article.objects.raw(_ARTICLES_SQL, columns_of(weeks))
    for article in rows:
        found[article.place - 1][article.pk] = article
    orders = (
        publication_order((pk, article.date, article.published_at) for pk, article in week.items()) for week in found
    )
    return [[week[pk] for pk in order] for week, order in zip(found, orders, strict=True)]


def _differences(
    articles: Sequence[Article], marks: Sequence[Sequence[Mark]]
) -> tuple[dict[int, str], list[dict[str, Any]]]:
    """Return the new marks of articles whose compared texts stay the same, and those of the others with their texts."""
    marked: dict[int, str] = {}
    changed: list[dict[str, Any]] = []
    for article, found in zip(articles, marks, strict=True):
        stored = [[start, end, int(first)] for start, end, first in found]
        texts = _texts(article.content, stored)
        if (article.story_text, article.topic_text) != (texts["story_text"], texts["topic_text"]):
            changed.append({"id": article.pk, "boilerplate": json.dumps(stored), **texts})
        elif article.boilerplate != stored:
            marked[article.pk] = json.dumps(stored)
    return marked, changed


def _store_marks(weeks: Sequence[FoundWeek]) -> None:
    """Write what has changed, in the order of the weeks and of publication."""
    marked = {pk: marks for week in weeks for pk, marks in week.marked.items()}
    with connection.cursor() as cursor:
        if marked:
            cursor.execute(_MARK_SQL, {"ids": list(marked), "boilerplate": list(marked.values())})
        cursor.executemany(_STORE_SQL, [row for week in weeks for row in week.changed])


def _texts(content: str, marks: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the texts to compare without marked boilerplate, by column; None if nothing is removed.

    A digest is None for an empty text too.
    """
    story = topic = None
    if not all(mark[2] for mark in marks):
        story = normalize_text(without_boilerplate(content, marks, Mode.STORY))
    if marks:
        topic = normalize_text(without_boilerplate(content, marks, Mode.TOPIC))
    digests = {"story_digest": text_digest(story or ""), "topic_digest": text_digest(topic or "")}
    return {"story_text": story, "topic_text": topic, **digests}


def _store_sentences(weeks: Sequence[FoundWeek]) -> None:
    rows = [
        RepeatedSentence(
            newspaper_id=week.week.newspaper_id,
            week=week.week.monday,
            digest=sentence.digest,
            sentence=sentence.text,
            kind=sentence.kind.value,
            articles=len(sentence.articles),
            article_ids=[week.ids[place] for place in sentence.articles],
        )
        for week in weeks
        for sentence in week.sentences
    ]
    found = {
        "found_newspapers": [row.newspaper_id for row in rows],
        "found_mondays": [row.week for row in rows],
        "digests": [row.digest for row in rows],
    }
    executed(_DELETE_SQL, columns_of([week.week for week in weeks]) | found)
    RepeatedSentence.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["newspaper", "week", "digest"],
        update_fields=["sentence", "kind", "articles", "article_ids"],
    )


def _store_fingerprints(weeks: Sequence[FoundWeek]) -> None:
    """Store the fingerprints of the weeks as they are now; delete those of weeks with too few articles to be kept."""
    now = facts_of([week.week for week in weeks])
    small = [week.week for week in weeks if len(week.ids) < week.rules.least_articles]
    current = {week.week: fingerprint_of(now[week.week], week.rules) for week in weeks if week.week not in small}
    BoilerplateWeek.objects.bulk_create(
        (BoilerplateWeek(newspaper_id=paper, week=week, fingerprint=found) for (paper, week), found in current.items()),
        update_conflicts=True,
        unique_fields=["newspaper", "week"],
        update_fields=["fingerprint"],
    )
    if small:
        executed(_FORGET_SQL, columns_of(small))


WHITELISTED = "whitelisted it"
ENDED = "took it off the whitelist"


class WhitelistError(ValueError):
    """A sentence that cannot be added to the whitelist or removed from it; the message is for the editor."""


def whitelist_sentence(newspaper_id: int, digest: UUID, *, user: Any) -> None:
    """Keep a sentence in all articles of a newspaper. Raises WhitelistError.

    The next `find_boilerplate`, or the next run that compares texts without boilerplate, processes the newspaper's
    weeks again. The same happens when the whitelisting ends.
    """
    found = RepeatedSentence.objects.filter(newspaper_id=newspaper_id, digest=digest).first()
    if found is None:
        raise WhitelistError("No week repeats this sentence any longer, so there is nothing to whitelist.")
    with transaction.atomic():
        row, created = WhitelistedSentence.objects.select_related("whitelisted_by").get_or_create(
            newspaper_id=newspaper_id, digest=digest, defaults={"sentence": found.sentence, "whitelisted_by": user}
        )
        if not created:
            raise WhitelistError(
                f"{row.whitelisted_by} already whitelisted this sentence on {row.whitelisted_at:%Y-%m-%d}."
            )
        log_action(row, ADDITION, WHITELISTED, user=user, object_id=logged_key(newspaper_id, digest))


def end_whitelisting(newspaper_id: int, digest: UUID, *, user: Any) -> None:
    """Let a sentence be boilerplate again. Raises WhitelistError."""
    with transaction.atomic():
        row = WhitelistedSentence.objects.select_for_update().filter(newspaper_id=newspaper_id, digest=digest).first()
        if row is None:
            raise WhitelistError("This sentence is not whitelisted; someone may have removed it from the whitelist.")
        log_action(row, DELETION, ENDED, user=user, object_id=logged_key(newspaper_id, digest))
        row.delete()


def history_of(newspaper_id: int, digest: UUID) -> QuerySet[LogEntry]:
    """Return who added a sentence to the whitelist or removed it, the latest first."""
    return logged_actions(WhitelistedSentence, object_id=logged_key(newspaper_id, digest))


def logged_key(newspaper_id: int, digest: UUID | str) -> str:
    """Return the key of the sentence in the log, the same when it is removed and added again."""
    return f"{newspaper_id} {digest}"
