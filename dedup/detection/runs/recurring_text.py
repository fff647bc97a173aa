"""What recurs in the texts of newspapers around a month: learnt once from all their articles, stored, and read.

The shingle index has the phrases of every article, so nothing has to be proposed as a pair to be known as a form.
"""

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np
from django.db import connection, transaction

from articles.boilerplate.mode import Mode
from articles.storage.fingerprints import fingerprint
from dedup.detection.article_sql import article_sql
from dedup.detection.comparison.recurring import LEAST_KNOWN, NO_RECURRING_TEXT, RecurringText
from dedup.detection.judging.judge import without_collector
from dedup.detection.judging.months import MONTHS_AFTER, MONTHS_BEFORE, Learning, text_days
from dedup.detection.kernels.masked_shingles import Hashes
from dedup.detection.kernels.tokens import concatenated, keep_freed_memory
from dedup.detection.passes.reading import ArticleShingles, shingles_of_rows
from dedup.models import NewspaperMonth
from dedup.models.base import copied, read_rows

# ---- digests of the articles of a newspaper around a month, made by the database ------------------------------------
# They are taken of the headline forms, which have the newspaper, the day and the revision of every article.

# Increase this when what is learnt of the texts of a newspaper changes: all of it is learnt again.
_TEXTS_VERSION = 4

# The articles that a month of a newspaper is learnt from, as learnt_places() has them: those of the months before it,
# its own, and of a young newspaper those of some months after it, for which the step is below 0.
_NEWSPAPER_MONTHS_SQL = """
WITH printed AS (
    SELECT newspaper_id, date - (extract(day FROM date)::int - 1) AS month, count(*) AS articles,
           bit_xor(hashint8extended(article_id, revision)) AS digest
    FROM dedup_headlineform
    WHERE (%(newspapers)s::bigint[] IS NULL OR newspaper_id = ANY (%(newspapers)s))
      AND (%(month)s::date IS NULL OR date BETWEEN %(first_day)s AND %(last_day)s)
    GROUP BY 1, 2
), around AS (
    SELECT newspaper_id, (month + make_interval(months => step))::date AS month, step, articles,
           hashint8extended(digest, step + %(terms)s) AS digest
    FROM printed CROSS JOIN generate_series(-%(months_after)s, %(months_before)s) AS step
)
SELECT newspaper_id, month,
       CASE WHEN coalesce(sum(articles) FILTER (WHERE step >= 0), 0) < %(least_known)s OR max(step) < 1
            THEN bit_xor(digest)
            ELSE bit_xor(digest) FILTER (WHERE step >= 0)
       END AS digest
FROM around
GROUP BY newspaper_id, month
"""
_CREATE_SQL = "CREATE TEMPORARY TABLE newspaper_month ON COMMIT DROP AS" + _NEWSPAPER_MONTHS_SQL


def number_of(*values: Any) -> int:
    """Return a digest of these values as the database's bigint."""
    return int.from_bytes(bytes.fromhex(fingerprint(*values))[:8], "big", signed=True)


@contextmanager
def newspaper_months(boilerplate: Mode) -> Iterator[Any]:
    """Give a cursor to a temporary table newspaper_month: a digest of what each newspaper's months are learnt from.

    It is all in one transaction.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CREATE_SQL, _parameters(boilerplate))
        cursor.execute("CREATE INDEX ON newspaper_month (newspaper_id, month)")
        cursor.execute("ANALYZE newspaper_month")
        yield cursor
        cursor.execute("DROP TABLE newspaper_month")


def digests_around(month: datetime.date, newspapers: Collection[int], boilerplate: Mode) -> dict[int, int]:
    """Return the same digests for one month of these newspapers."""
    rows = read_rows(_NEWSPAPER_MONTHS_SQL, **_parameters(boilerplate, month, newspapers))
    return {newspaper: digest for newspaper, of_month, digest in rows if of_month == month}


def _parameters(
    boilerplate: Mode, month: datetime.date | None = None, newspapers: Collection[int] | None = None
) -> dict[str, Any]:
    days = (None, None) if month is None else text_days(month)
    return {
        "newspapers": None if newspapers is None else list(newspapers),
        "month": month,
        **dict(zip(("first_day", "last_day"), days, strict=True)),
        # A small number, to which others are added.
        "terms": number_of(_TEXTS_VERSION, boilerplate) >> 8,
        "months_before": MONTHS_BEFORE,
        "months_after": MONTHS_AFTER,
        "least_known": LEAST_KNOWN,
    }


# A task reads the months around its own too, so few months are much reading; many are a long wait for the last task.
_MONTHS_AT_ONCE = 4
_READ_AT_ONCE = 2_000
# The phrases of so many articles, some 12 million, are compared at a time, in a third of a gigabyte; those of a larger
# newspaper are compared in parts, and read for each.
_ARTICLES_AT_ONCE = 30_000

_OUTDATED_SQL = """
SELECT around.newspaper_id, around.month, around.digest
FROM unnest(%(newspapers)s::bigint[], %(months)s::date[]) AS asked (newspaper_id, month)
JOIN newspaper_month AS around USING (newspaper_id, month)
LEFT JOIN dedup_newspapermonth AS known USING (newspaper_id, month)
WHERE known.digest IS DISTINCT FROM around.digest
ORDER BY around.newspaper_id, around.month
"""
# From the index article_title.
_COUNT_SQL = article_sql(
    """
SELECT count(*) FROM {articles}
WHERE newspaper_id = %(newspaper)s AND date BETWEEN %(first_day)s AND %(last_day)s
"""
)
# In binary, because the text form of bytes is twice as long.
_SHINGLES_SQL = article_sql(
    """
COPY (
    SELECT article.id, article.date, article.newspaper_id, known.shingles,
           CASE WHEN known.shingles IS NULL THEN {article.text} END
    FROM {articles} AS article
    LEFT JOIN dedup_articleshingles AS known
        ON known.article_id = article.id AND known.revision = article.revision AND {article.whole}
    WHERE article.newspaper_id = %(newspaper)s AND article.date BETWEEN %(first_day)s AND %(last_day)s
    ORDER BY article.date, article.id
) TO STDOUT (FORMAT binary)
""",
    "article",
)
_SHINGLES_TYPES = ("int8", "date", "int8", "bytea", "text")
_TEXTS_SQL = article_sql("SELECT id, {article.text} FROM {articles} AS article WHERE id = ANY (%(ids)s)", "article")


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
    tasks = []
    for newspaper, rows in groupby(cursor.fetchall(), key=lambda row: row[0]):
        found = ((month, digest) for _, month, digest in rows)
        while part := tuple(islice(found, _MONTHS_AT_ONCE)):
            tasks.append(MonthsToLearn(newspaper, part, boilerplate))
    return tasks


# Not one function with `judge`: a process returns the memory of one kind of task before it begins another kind.
def learn_months(task: MonthsToLearn, _on_learnt: Callable[[int], None]) -> None:
    """Learn and store what recurs in a newspaper around some months."""
    keep_freed_memory()
    with without_collector(), transaction.atomic():
        learnt = _learnt(task.newspaper, [month for month, _ in task.months], None, task.boilerplate)
        NewspaperMonth.objects.bulk_create(
            [
                NewspaperMonth(newspaper_id=task.newspaper, month=month, digest=digest, **learnt[month].stored())
                for month, digest in task.months
            ],
            update_conflicts=True,
            unique_fields=["newspaper", "month"],
            update_fields=["digest", *NO_RECURRING_TEXT.stored()],
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
        row.newspaper_id: RecurringText.of_stored(bytes(row.phrases), row.common, row.articles, row.young)
        for row in rows
        if digests is None or digests.get(row.newspaper_id) == row.digest
    }


def _learnt(
    newspaper: int, months: Sequence[datetime.date], asked: Hashes | None, boilerplate: Mode
) -> dict[datetime.date, RecurringText]:
    """Return what recurs in a newspaper around some months, ascending; of phrases, those asked for at least, if any.

    All its articles around these months are read once, and their phrases are sorted once for all months.
    """
    scope: dict[str, Any] = {
        "newspaper": newspaper,
        "first_day": text_days(months[0]).first,
        "last_day": text_days(months[-1]).last,
        "boilerplate": boilerplate.value,
    }
    [(articles,)] = read_rows(_COUNT_SQL, **scope)
    parts = max(1, -(-articles // _ARTICLES_AT_ONCE))
    learning = Learning(months, (_articles(scope, part, parts) for part in range(parts)), asked)
    texts = read_rows(_TEXTS_SQL, ids=list(learning.wanted), boilerplate=boilerplate.value)
    return learning.learnt(dict(texts))


def _articles(scope: Mapping[str, Any], part: int, parts: int) -> ArticleShingles:
    """Return a newspaper's articles of some days, by day and id, with one of so many parts of their phrases."""
    batches = [shingles_of_rows([])]
    for read in copied(_SHINGLES_SQL, _SHINGLES_TYPES, _READ_AT_ONCE, **scope):
        batch = shingles_of_rows(read)
        phrases = batch.sets
        if parts > 1:
            phrases = phrases.only(phrases.values % np.uint32(parts) == part)
        batches.append(batch._replace(sets=phrases))
    return concatenated(batches)
