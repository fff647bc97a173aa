"""Digests of what verdicts rest on, made by the database: when one changes, what rests on it is made again.

They are taken of the headline forms, which have the newspaper, the day and the revision of every article.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from articles.boilerplate.mode import Mode
from articles.storage.fingerprints import fingerprint

# Increase this when what is learnt of the texts of a newspaper changes: all of it is learnt again.
_TEXTS_VERSION = 1

# The articles of a newspaper around a month: all halves of months that text_days() and series_days() touch. Those lie
# within three months. A day of the month above 15 is in its second half.
_NEWSPAPER_MONTHS_SQL = """
WITH half AS (
    SELECT newspaper_id, date - (extract(day FROM date)::int - 1) AS month, extract(day FROM date) > 15 AS late,
           bit_xor(hashint8extended(article_id, revision)) AS digest
    FROM dedup_headlineform
    WHERE (%(newspapers)s::bigint[] IS NULL OR newspaper_id = ANY (%(newspapers)s))
      AND (%(month)s::date IS NULL OR date BETWEEN %(month)s::date - 100 AND %(month)s::date + 131)
    GROUP BY 1, 2, 3
)
SELECT half.newspaper_id, around.month,
       bit_xor(hashint8extended(half.digest, half.late::int + 2 * (half.month - around.month) + %(terms)s)) AS digest
FROM half
CROSS JOIN LATERAL (
    SELECT (half.month + make_interval(months => step))::date AS month FROM generate_series(-3, 3) AS step
) AS around
WHERE (half.month + CASE WHEN half.late THEN 30 ELSE 14 END) >= around.month - 60
  AND (half.month + CASE WHEN half.late THEN 15 ELSE 0 END)
      <= (around.month + interval '1 month')::date - 1 + 60
GROUP BY half.newspaper_id, around.month
"""
_CREATE_SQL = "CREATE TEMPORARY TABLE newspaper_month ON COMMIT DROP AS" + _NEWSPAPER_MONTHS_SQL


def number_of(*values: Any) -> int:
    """Return a digest of these values as the database's bigint."""
    return int.from_bytes(bytes.fromhex(fingerprint(*values))[:8], "big", signed=True)


@contextmanager
def newspaper_months(boilerplate: Mode) -> Iterator[Any]:
    """Give a cursor to a temporary table newspaper_month: a digest of the articles of each newspaper around each month.

    It is all in one transaction.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CREATE_SQL, {"newspapers": None, "month": None, "terms": _number(boilerplate)})
        cursor.execute("CREATE INDEX ON newspaper_month (newspaper_id, month)")
        cursor.execute("ANALYZE newspaper_month")
        yield cursor
        cursor.execute("DROP TABLE newspaper_month")


def digests_around(month: datetime.date, newspapers: Collection[int], boilerplate: Mode) -> dict[int, int]:
    """Return the same digests for one month of these newspapers."""
    asked: dict[str, Any] = {"newspapers": list(newspapers), "month": month, "terms": _number(boilerplate)}
    with connection.cursor() as cursor:
        cursor.execute(_NEWSPAPER_MONTHS_SQL, asked)
        return {newspaper: digest for newspaper, of_month, digest in cursor if of_month == month}


def _number(boilerplate: Mode) -> int:
    # A small number, to which others are added.
    return number_of(_TEXTS_VERSION, boilerplate) >> 8
