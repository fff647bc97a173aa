"""The scratch database of the benchmarks: created, migrated, filled, queried by the plain join, and dropped."""

import math
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

from django.db import connection
from psycopg import sql

from benchmarks.corpus import OF_ARTICLES, pairs_in_window
from benchmarks.measuring import CHECKOUT, Server, Usage, measure
from tests.databases import child_environment

NAME = "newsdedup_benchmark"
DAY_WINDOW = 3
PREFIX = 1000

# The tables that passes write.
_FORGET_SQL = "TRUNCATE dedup_detectionrun, dedup_pair, dedup_cluster RESTART IDENTITY CASCADE"

_EMPTY_SQL = f"TRUNCATE {OF_ARTICLES}, auth_user RESTART IDENTITY CASCADE"

_SLICE_SQL = """
CREATE TABLE benchmark_left AS
SELECT id, date, left(normalized_text, %(prefix)s) AS text FROM articles_article WHERE id = ANY (%(ids)s);
CREATE TABLE benchmark_right AS
SELECT id, date, left(normalized_text, %(prefix)s) AS text FROM articles_article AS article
WHERE EXISTS (
    SELECT FROM benchmark_left WHERE article.date BETWEEN benchmark_left.date AND benchmark_left.date + %(days)s
);
CREATE INDEX ON benchmark_right (date, id);
ANALYZE benchmark_left;
ANALYZE benchmark_right;
"""
_DROP_SLICE_SQL = "DROP TABLE IF EXISTS benchmark_left, benchmark_right"

# The join that the study describes, in its fastest form: the texts are already cut to their beginnings, an index finds
# the window, and similarity() is called once per pair.
_PLAIN_JOIN_SQL = """
WITH scored AS MATERIALIZED (
    SELECT one.id AS left_id, other.id AS right_id, similarity(one.text, other.text) AS score
    FROM benchmark_left AS one
    JOIN benchmark_right AS other
        ON other.date BETWEEN one.date AND one.date + %(days)s AND (other.date, other.id) > (one.date, one.id)
)
SELECT (SELECT count(*) FROM scored), left_id, right_id, score FROM (SELECT) AS always
LEFT JOIN scored ON score >= %(threshold)s::float4
"""

_EVIDENCE_SQL = """
SELECT left_id, right_id, score
FROM dedup_evidence JOIN dedup_pair ON dedup_pair.id = pair_id
WHERE pass_name = %(pass_name)s
"""

# How similar articles are to their first copies.
_COPIES_SQL = """
WITH original AS MATERIALIZED (
    SELECT id, url, left(normalized_text, %(prefix)s) AS text FROM articles_article
    WHERE url NOT LIKE '%%#copy-%%' ORDER BY md5(id::text) LIMIT 500
)
SELECT avg(similarity(original.text, left(copy.normalized_text, %(prefix)s))),
       max(similarity(original.text, left(copy.normalized_text, %(prefix)s)))
FROM original JOIN articles_article AS copy ON copy.url = original.url || '#copy-1'
"""

Pairs = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class PlainJoin:
    """The plain join of a slice: the pairs compared and found, and their cost."""

    articles: frozenset[int]
    compared: int
    found: Pairs
    cpu: float
    wall: float


@contextmanager
def scratch_database(*, again: bool = False, keep: bool = False) -> Iterator[None]:
    """Point Django's connection to a new, migrated database, and drop it at the end.

    With `keep` it is left at the end. With `again`, the one that was left is migrated and left once more.
    """
    usual = connection.settings_dict["NAME"]
    connection.ensure_connection()  # starts the embedded server
    if not again:
        _admin("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        _admin("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'")
    connection.close()
    connection.settings_dict["NAME"] = NAME
    try:
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, cwd=CHECKOUT, env={**os.environ, **child_environment()}, check=True)
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual
        if not again and not keep:
            _admin("DROP DATABASE IF EXISTS {} WITH (FORCE)")


def _admin(statement: LiteralString) -> None:
    rows(sql.SQL(statement).format(sql.Identifier(NAME)))


def measured(server: Server, *arguments: str, repeat: int = 1) -> Usage:
    """Run a management command on the scratch database, and return what it cost."""
    return measure([sys.executable, "manage.py", *arguments], server, child_environment(), repeat=repeat)[0]


def settle() -> None:
    """Vacuum and write a checkpoint now, so that neither starts during a measurement."""
    rows("VACUUM (ANALYZE)")
    rows("CHECKPOINT")


def forget() -> None:
    """Remove all results of passes, so that each starts from scratch."""
    rows(_FORGET_SQL)


def empty() -> None:
    """Remove all articles, newspapers, results and users."""
    forget()
    rows(_EMPTY_SQL)


def rows(statement: LiteralString | sql.Composed, values: Any = None) -> list[tuple[Any, ...]]:
    """Return what a statement gives."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def counted(table: str) -> int:
    """Return the number of rows of a table."""
    [(number,)] = rows(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
    return number


def evidence(pass_name: str) -> Pairs:
    """Return the pairs that a pass has found, with their scores."""
    return {(left, right): score for left, right, score in rows(_EVIDENCE_SQL, {"pass_name": pass_name})}


def articles_by_day() -> dict[int, int]:
    """Return the number of articles of each day, by its day number."""
    return {day.toordinal(): count for day, count in rows("SELECT date, count(*) FROM articles_article GROUP BY date")}


def by_chance(pairs: int) -> list[int]:
    """Return randomly chosen articles, always the same, with about this many pairs in their windows."""
    by_day = articles_by_day()
    total, number = pairs_in_window(by_day, DAY_WINDOW), sum(by_day.values())
    wanted = min(number, math.ceil(pairs * number / max(total, 1)))
    return [pk for (pk,) in rows("SELECT id FROM articles_article ORDER BY md5(id::text) LIMIT %s", [wanted])]


def plain_join(server: Server, ids: Sequence[int], *, threshold: float) -> PlainJoin:
    """Run the plain join for the pairs whose earlier article is one of these."""
    values = {"prefix": PREFIX, "ids": list(ids), "days": DAY_WINDOW, "threshold": threshold}
    with connection.cursor() as cursor:
        cursor.execute(_DROP_SLICE_SQL)
        for statement in _SLICE_SQL.strip().split(";\n"):
            cursor.execute(statement, values if "%(" in statement else None)
        before, began = server.cpu_seconds(), time.perf_counter()
        cursor.execute(_PLAIN_JOIN_SQL, values)
        rows = cursor.fetchall()
        wall, cpu = time.perf_counter() - began, server.cpu_seconds() - before
        cursor.execute(_DROP_SLICE_SQL)
    found = {(left, right): score for _, left, right, score in rows if left is not None}
    return PlainJoin(frozenset(ids), rows[0][0], found, cpu, wall)


def texts(ids: Sequence[int], prefix: int) -> list[str]:
    """Return the beginnings of the normalised texts of these articles, in this order."""
    by_id = dict(rows("SELECT id, left(normalized_text, %s) FROM articles_article WHERE id = ANY (%s)", [prefix, ids]))
    return [by_id[id_] for id_ in ids]


def within(pairs: Collection[tuple[int, int]], days: int) -> frozenset[tuple[int, int]]:
    """Return the pairs of articles that are at most this many days apart."""
    wanted = sorted({article for pair in pairs for article in pair})
    dates = dict(rows("SELECT id, date FROM articles_article WHERE id = ANY (%s)", [wanted]))
    return frozenset(pair for pair in pairs if abs((dates[pair[0]] - dates[pair[1]]).days) <= days)


def likeness_of_copies() -> tuple[float, float] | None:
    """Return the mean and the highest similarity of articles and their first copies; None without copies."""
    [(mean, highest)] = rows(_COPIES_SQL, {"prefix": PREFIX})
    return None if mean is None else (mean, highest)
