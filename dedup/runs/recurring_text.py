"""What recurs in the texts of newspapers around a month: learnt once from all their articles, stored, and read.

The shingle index has the phrases of every article, so nothing has to be proposed as a pair to be known as a form.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from django.db import connection

from articles.boilerplate.mode import Mode
from dedup.article_sql import article_sql
from dedup.comparison.recurring import RecurringText
from dedup.judging.months import text_days
from dedup.judging.recurring_text import recurring_text, sampled
from dedup.kernels.masked_shingles import Hashes, ShingleSets
from dedup.kernels.tokens import IntArray
from dedup.models import NewspaperMonth
from dedup.passes.reading import ArticleShingles, shingles_of_rows
from dedup.runs.digests import digests_around

# A task reads the months around its own too, so few months are much reading; many are a long wait for the last task.
_MONTHS_AT_ONCE = 12
_READ_AT_ONCE = 2_000
# The phrases of so many articles, some 25 million, are compared at a time; those of a larger newspaper are compared in
# parts, and read for each.
_ARTICLES_AT_ONCE = 75_000

_OUTDATED_SQL = """
SELECT around.newspaper_id, around.month, around.digest
FROM unnest(%(newspapers)s::bigint[], %(months)s::date[]) AS asked (newspaper_id, month)
JOIN newspaper_month AS around USING (newspaper_id, month)
LEFT JOIN dedup_newspapermonth AS known USING (newspaper_id, month)
WHERE known.digest IS DISTINCT FROM around.digest
ORDER BY around.newspaper_id, around.month
"""
# The largest number of articles around one of some months, from the index article_title.
_MOST_SQL = article_sql(
    """
SELECT coalesce(max(found.articles), 0)
FROM unnest(%(firsts)s::date[], %(lasts)s::date[]) AS days (first_day, last_day)
CROSS JOIN LATERAL (
    SELECT count(*) AS articles FROM {articles}
    WHERE newspaper_id = %(newspaper)s AND date BETWEEN days.first_day AND days.last_day
) AS found
"""
)
_SHINGLES_SQL = article_sql(
    """
SELECT article.id, article.date, article.newspaper_id, known.shingles,
       CASE WHEN known.shingles IS NULL THEN {article.text} END
FROM {articles} AS article
LEFT JOIN dedup_articleshingles AS known
    ON known.article_id = article.id AND known.revision = article.revision AND {article.whole}
WHERE article.newspaper_id = %(newspaper)s AND article.date BETWEEN %(first_day)s AND %(last_day)s
ORDER BY article.date, article.id
""",
    "article",
)
_TEXTS_SQL = article_sql("SELECT {article.text} FROM {articles} AS article WHERE id = ANY (%(ids)s)", "article")


@dataclass(frozen=True, slots=True)
class MonthsToLearn:
    """Months of a newspaper, ascending, each with a digest of the articles around it, as a task for any process."""

    newspaper: int
    months: tuple[tuple[datetime.date, int], ...]
    boilerplate: Mode


def months_to_learn(
    cursor: Any, asked: Collection[tuple[int, datetime.date]], boilerplate: Mode
) -> list[MonthsToLearn]:
    """Return those of the months of newspapers where what recurs is not known, or outdated.

    The cursor is one of newspaper_months().
    """
    newspapers, months = [newspaper for newspaper, _ in asked], [month for _, month in asked]
    cursor.execute(_OUTDATED_SQL, {"newspapers": newspapers, "months": months})
    tasks: list[MonthsToLearn] = []
    for newspaper, rows in groupby(cursor.fetchall(), key=lambda row: row[0]):
        found = [(month, digest) for _, month, digest in rows]
        starts = range(0, len(found), _MONTHS_AT_ONCE)
        parts = (tuple(found[start : start + _MONTHS_AT_ONCE]) for start in starts)
        tasks += [MonthsToLearn(newspaper, part, boilerplate) for part in parts]
    return tasks


def learn_months(task: MonthsToLearn) -> None:
    """Learn and store what recurs in a newspaper around some months. Call it in a transaction."""
    learnt = _learnt(task.newspaper, [month for month, _ in task.months], None, task.boilerplate)
    NewspaperMonth.objects.bulk_create(
        [
            NewspaperMonth(
                newspaper_id=task.newspaper,
                month=month,
                digest=digest,
                articles=learnt[month].articles,
                phrases=learnt[month].phrases.astype("<u4").tobytes(),
                common=" ".join(sorted(learnt[month].common)),
            )
            for month, digest in task.months
        ],
        update_conflicts=True,
        unique_fields=["newspaper", "month"],
        update_fields=["digest", "articles", "phrases", "common"],
    )


def texts_around(
    month: datetime.date, newspapers: Collection[int], asked: Hashes, boilerplate: Mode
) -> dict[int, RecurringText]:
    """Return what recurs in these newspapers around a month: of the phrases, those asked for at least.

    What is stored and up to date is read; the rest is learnt from the articles, in some tenths of a second.
    """
    digests = digests_around(month, newspapers, boilerplate)
    texts = stored_texts(month, newspapers, digests)
    for newspaper in sorted(set(newspapers) - texts.keys()):
        texts[newspaper] = _learnt(newspaper, [month], asked, boilerplate)[month]
    return texts


def stored_texts(
    month: datetime.date, newspapers: Iterable[int], digests: Mapping[int, int] | None = None
) -> dict[int, RecurringText]:
    """Return what is stored of what recurs in these newspapers around a month; only with these digests, if given."""
    rows = NewspaperMonth.objects.filter(month=month, newspaper__in=list(newspapers))
    return {
        row.newspaper_id: RecurringText(
            np.frombuffer(row.phrases, dtype="<u4"), frozenset(row.common.split()), row.articles
        )
        for row in rows
        if digests is None or digests.get(row.newspaper_id) == row.digest
    }


def _learnt(
    newspaper: int, months: Sequence[datetime.date], asked: Hashes | None, boilerplate: Mode
) -> dict[datetime.date, RecurringText]:
    """Return what recurs in a newspaper around some months, ascending; of phrases, only those asked for, if any are."""
    days = [text_days(month) for month in months]
    with connection.cursor() as cursor:
        firsts, lasts = map(list, zip(*days, strict=True))
        cursor.execute(_MOST_SQL, {"newspaper": newspaper, "firsts": firsts, "lasts": lasts})
        parts = -(-cursor.fetchone()[0] // _ARTICLES_AT_ONCE)
    texts = dict.fromkeys(months, RecurringText())
    for part in range(parts):
        for month, found in _around(newspaper, months, boilerplate, (part, parts)):
            texts_of = () if part else _texts(found.ids, boilerplate)
            text = recurring_text(asked, found.days, found.sets, texts_of)
            known = texts[month] if part else text
            texts[month] = replace(known, phrases=np.sort(np.concatenate([texts[month].phrases, text.phrases])))
    return texts


def _around(
    newspaper: int, months: Sequence[datetime.date], boilerplate: Mode, part: tuple[int, int]
) -> Iterator[tuple[datetime.date, ArticleShingles]]:
    """Yield a newspaper's articles around each of some months, ascending, with this part of their phrases."""
    held: list[ArticleShingles] = []
    batches = _batches(newspaper, text_days(months[0]).first, text_days(months[-1]).last, boilerplate)
    for month in months:
        first, last = (day.toordinal() for day in text_days(month))
        while not held or held[-1].days[-1] <= last:
            batch = next(batches, None)
            if batch is None:
                break
            held.append(batch._replace(sets=_part_of(batch.sets, *part)))
        held = [batch for batch in held if batch.days[-1] >= first]
        if held:
            yield month, _between(held, first, last)


def _batches(
    newspaper: int, first_day: datetime.date, last_day: datetime.date, boilerplate: Mode
) -> Iterator[ArticleShingles]:
    parameters: dict[str, Any] = {"newspaper": newspaper, "first_day": first_day, "last_day": last_day}
    with connection.chunked_cursor() as cursor:
        cursor.execute(_SHINGLES_SQL, parameters | {"boilerplate": boilerplate.value})
        while rows := cursor.fetchmany(_READ_AT_ONCE):
            yield shingles_of_rows(rows)


def _part_of(phrases: ShingleSets, part: int, parts: int) -> ShingleSets:
    if parts == 1:
        return phrases
    kept = phrases.values % np.uint32(parts) == part
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    return ShingleSets(phrases.values[kept], ends[phrases.offsets])


def _between(batches: Sequence[ArticleShingles], first: int, last: int) -> ArticleShingles:
    """Return the articles of some batches, in order of day, from one day to another, both included."""
    ids, newspapers, days = (
        np.concatenate([getattr(batch, name) for batch in batches]) for name in ("ids", "newspapers", "days")
    )
    begin, end = np.searchsorted(days, first), np.searchsorted(days, last, side="right")
    sizes = np.concatenate([batch.sets.sizes for batch in batches])
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])[begin : end + 1]
    values = np.concatenate([batch.sets.values for batch in batches])[offsets[0] : offsets[-1]]
    rows = slice(begin, end)
    return ArticleShingles(ids[rows], newspapers[rows], days[rows], ShingleSets(values, offsets - offsets[0]))


def _texts(ids: IntArray, boilerplate: Mode) -> Iterator[str]:
    """Yield the texts of the sampled ones of a newspaper's articles, given in order of day and id."""
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS_SQL, {"ids": ids[sampled(len(ids))].tolist(), "boilerplate": boilerplate.value})
        for (text,) in cursor:
            yield text
