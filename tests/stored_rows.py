"""All rows of a database by what identifies them, and what is lost, doubled or different compared with another one.

Numbers that sequences give differ after a kill. So a row is known by its natural key, and what refers to a row by its
number is replaced by the key of that row. `columns_with` looks for a text in every column of every table.
"""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import connection as django_connection
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

_TABLES = """
SELECT table_name AS name FROM information_schema.tables
WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name ~ '^(articles|dedup|crawlers)_' ORDER BY 1
"""
# Foreign keys of one column: the table, its column, and the table that it refers to by its primary key.
_REFERENCES = """
SELECT own.relname AS name, attribute.attname AS column, target.relname AS target
FROM pg_constraint AS bound
JOIN pg_class AS own ON own.oid = bound.conrelid
JOIN pg_class AS target ON target.oid = bound.confrelid
JOIN pg_attribute AS attribute ON attribute.attrelid = own.oid AND attribute.attnum = bound.conkey[1]
WHERE bound.contype = 'f' AND cardinality(bound.conkey) = 1
"""
_COLUMNS = """
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' AND is_generated = 'NEVER'
    AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public')
    AND data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY', 'uuid', 'character')
ORDER BY table_name, ordinal_position
"""
# What identifies a row, where its number does not.
KEYS: dict[str, tuple[str, ...]] = {
    "articles_article": ("url",),
    "articles_articlerevision": ("article_id", "number"),
    "articles_articleurl": ("article_id", "url"),
    "articles_attachedcopy": ("url",),
    "articles_boilerplateweek": ("newspaper_id", "week"),
    "articles_declaredurl": ("article_id", "url"),
    "articles_followingpage": ("article_page_id", "number"),
    "articles_headlinevariant": ("article_id", "headline"),
    "articles_learntparameter": ("newspaper_id", "name"),
    "articles_newspaper": ("name",),
    "articles_newspaperalias": ("alias",),
    "articles_newspapermerge": ("merged_id", "into_id"),
    "articles_rejectedrow": ("file_import_id", "line", "raw"),
    "articles_repeatedsentence": ("newspaper_id", "week", "digest"),
    "crawlers_pendinglink": ("url",),
    "dedup_changedarticle": ("article",),
    "dedup_cluster": ("articles",),
    "dedup_crowdedarticle": ("pass_name", "article_id"),
    "dedup_densegroup": ("first_id",),
    "dedup_evidence": ("pair_id", "pass_name"),
    "dedup_fittedmodel": ("in_use",),
    "dedup_link": ("kind", "left_id", "right_id"),
    "dedup_membership": ("article_id",),
    "dedup_newspapermonth": ("newspaper_id", "month"),
    "dedup_openquestion": ("pair_id", "cluster_id"),
    "dedup_pair": ("left_id", "right_id"),
    "dedup_runblock": ("run_id", "pass_name", "first_day"),
    "dedup_sampledpair": ("sample_id", "left_id", "right_id"),
    "dedup_samplelabel": ("pair_id", "reader"),
    "dedup_separatearticles": ("one", "other"),
    "dedup_series": ("newspaper_id", "form"),
    "dedup_validationsample": ("name",),
}
# The books of the processes, which differ when there were several: runs, visits, signs of life, and counted results.
BOOKS = frozenset(
    {
        *("articles_fileimport", "articles_job", "articles_uploadedpart", "crawlers_crawl", "crawlers_recheck"),
        *("crawlers_sitepace", "crawlers_sourcevalidator", "crawlers_visit", "dedup_delivery", "dedup_detectionrun"),
        *("dedup_runblock", "dedup_runphase", "dedup_shinglesample", "dedup_storedreport"),
        *("dedup_watermark", "dedup_worker", "dedup_shinglecounts", "dedup_keptpairs"),
    }
)
# Numbers, moments, and which of several runs it was.
PASSING = frozenset(
    {
        *("id", "revision", "number", "run_id", "stored_at", "seen_at", "found_at", "fetched_at", "merged_at"),
        *("fitted_at", "drawn_at", "labelled_at", "uploaded_at", "learnt_at", "updated_at", "article_ids", "carried"),
        *("attached_at", "input_digest", "fingerprint", "digest_of_run"),
    }
)

# A digest of the revisions of articles.
_PASSING_OF = {"dedup_newspapermonth": frozenset({"digest"})}
# The version of a learnt model is the minute in which it was learnt.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")

Rows = dict[str, dict[Any, list[str]]]


@dataclass
class Differences:
    """Rows that are lost, doubled, and there but different, each in words."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    inconsistent: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.doubled or self.inconsistent)


@dataclass
class Tables:
    """The rows of all tables, and which columns of each refer to which table."""

    rows: dict[str, list[dict[str, Any]]]
    references: Mapping[str, Mapping[str, str]]

    def __post_init__(self) -> None:
        self._numbered = {name: {next(iter(row.values())): row for row in rows} for name, rows in self.rows.items()}
        self._known: dict[tuple[str, Any], Any] = {}  # natural keys, also of rows that other rows refer to

    def without(self, *tables: str) -> Tables:
        return Tables({name: rows for name, rows in self.rows.items() if name not in tables}, self.references)

    def by_keys(self, passing: Callable[[str], Container[str]]) -> Rows:
        """Return the rows by their natural keys, as text to the last digit, without columns that pass, by table."""
        found: Rows = {}
        for name, rows in self.rows.items():
            by_key: defaultdict[Any, list[str]] = defaultdict(list)
            for row in rows:
                kept = {column: value for column, value in row.items() if column not in passing(name)}
                plain = {column: self._value(name, column, value) for column, value in kept.items()}
                by_key[self._key(name, row)].append(_MOMENT.sub("(a moment)", repr(plain)))
            found[name] = dict(by_key)
        return found

    def _key(self, table: str, row: Mapping[str, Any]) -> Any:
        """Return the key of a row: of its own columns, or its number."""
        number = next(iter(row.values()))
        if (table, number) not in self._known:
            columns = KEYS.get(table, (next(iter(row)),))
            self._known[table, number] = tuple(self._value(table, column, row[column]) for column in columns)
        return self._known[table, number]

    def _value(self, table: str, column: str, value: Any) -> Any:
        if isinstance(value, memoryview):
            return bytes(value)
        target = self.references.get(table, {}).get(column)
        if value is None or target not in self._numbered or value not in self._numbered[target]:
            return value
        return self._key(target, self._numbered[target][value])


def read_tables(connection: psycopg.Connection[Any]) -> Tables:
    """Read all tables of articles, of the detection and of crawls."""
    with connection.cursor(row_factory=dict_row) as cursor:
        names = [row["name"] for row in cursor.execute(_TABLES).fetchall()]
        tables = {name: cursor.execute(SQL("SELECT * FROM {}").format(Identifier(name))).fetchall() for name in names}
        references: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for row in cursor.execute(_REFERENCES).fetchall():
            references[row["name"]][row["column"]] = row["target"]
    # Each cluster gets its articles, which identify it.
    articles: defaultdict[Any, list[Any]] = defaultdict(list)
    for row in tables["dedup_membership"]:
        articles[row["cluster_id"]].append(row["article_id"])
    for row in tables["dedup_cluster"]:
        row["articles"] = tuple(sorted(articles[row["id"]]))
    return Tables(tables, references)


def stored_rows(connection: psycopg.Connection[Any]) -> Rows:
    """Return the rows of all tables but the books, without what may differ after a kill."""
    return read_tables(connection).without(*BOOKS).by_keys(lambda table: PASSING | _PASSING_OF.get(table, frozenset()))


def compared(expected: Rows, found: Rows) -> Differences:
    """Return what differs from the rows of an undisturbed run."""
    result = Differences()
    for table, rows in expected.items():
        others = found.get(table, {})
        for key in rows.keys() | others.keys():
            before, after = rows.get(key, []), others.get(key, [])
            if len(after) < len(before):
                result.lost.append(f"{table} {key!r}")
            elif len(after) > len(before):
                result.doubled.append(f"{table} {key!r}")
            elif Counter(before) != Counter(after):
                result.inconsistent.append(f"{table} {key!r}: {_first_difference(before, after)}")
    return result


def columns_with(*markers: str) -> set[str]:
    """Return the columns, as table.column, with a value that has one of these texts, whatever its case or packing."""
    wanted = [marker.casefold() for marker in markers]
    found = set()
    with django_connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        for table, column, kind in cursor.fetchall():
            name = Identifier(column)
            value = name if kind == "bytea" else SQL("{}::text").format(name)
            cursor.execute(SQL("SELECT {} FROM {} WHERE {} IS NOT NULL").format(value, Identifier(table), name))
            texts = [text for (stored,) in cursor.fetchall() for text in _texts(stored)]
            if any(marker in text for marker in wanted for text in texts):
                found.add(f"{table}.{column}")
    return found


def _texts(stored: Any) -> list[str]:
    """Return a value as text, in all ways in which this program packs texts."""
    if isinstance(stored, str):
        texts = [stored.casefold()]
        if stored.startswith("."):  # a session: JSON, compressed, in base 64, before its signature
            data = stored[1:].partition(":")[0]
            texts.append(zlib.decompress(base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))).decode().casefold())
        return texts
    raw = bytes(stored)
    packed = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else b""
    return [form.decode("utf-8", "replace").casefold() for form in (raw, packed)]


def _first_difference(before: list[str], after: list[str]) -> str:
    one, other = min(set(before) - set(after)), min(set(after) - set(before))
    place = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    start = max(0, place - 60)
    return f"…{one[start : place + 60]}… is …{other[start : place + 60]}…"
