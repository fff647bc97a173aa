"""Whether the database has what the program relies on: tables, indexes, triggers, sequences, rows referred to."""

from collections.abc import Iterator
from typing import Any, LiteralString

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.migrations.executor import MigrationExecutor
from psycopg.sql import SQL, Identifier, Literal

from articles.querysets import fetched
from dedup.checks import check_trigrams
from newsdedup_site.doctor.invariant import (
    Found,
    Invariant,
    Sample,
    by,
    foreign_keys,
    listed,
    options,
    rows,
    stored_models,
    together,
)

_INDEXES_SQL: LiteralString = """
SELECT format('index %s of %s', indexed.indexrelid::regclass, indexed.indrelid::regclass)
FROM pg_index AS indexed
JOIN pg_class AS class ON class.oid = indexed.indexrelid
WHERE class.relnamespace = current_schema()::regnamespace AND NOT (indexed.indisvalid AND indexed.indisready)
ORDER BY indexed.indexrelid
"""
_CONSTRAINTS_SQL: LiteralString = """
SELECT format('constraint %s of %s', checked.conname, checked.conrelid::regclass)
FROM pg_constraint AS checked
WHERE checked.connamespace = current_schema()::regnamespace AND NOT checked.convalidated
ORDER BY checked.oid
"""
_NAMES_SQL: LiteralString = """
SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
UNION
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'i'
"""
# What is of columns: of an index also its first column alone, which serves as an index of that column.
_OF_COLUMNS_SQL: LiteralString = """
WITH ours AS (
    SELECT oid, oid::regclass::text AS name FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
), indexed AS (
    SELECT ours.name, index.indisunique, ARRAY(
        SELECT attribute.attname::text FROM unnest(index.indkey::int2[]) WITH ORDINALITY AS key (number, place)
        JOIN pg_attribute AS attribute ON attribute.attrelid = index.indrelid AND attribute.attnum = key.number
        ORDER BY key.place
    ) AS columns
    FROM pg_index AS index JOIN ours ON ours.oid = index.indrelid
    WHERE index.indpred IS NULL AND index.indexprs IS NULL AND index.indisvalid
)
SELECT 'unique index', name, columns FROM indexed WHERE indisunique
UNION
SELECT 'index', name, columns[1:1] FROM indexed
UNION
SELECT 'NOT NULL', ours.name, ARRAY[attribute.attname::text]
FROM pg_attribute AS attribute JOIN ours ON ours.oid = attribute.attrelid
WHERE attribute.attnotnull AND NOT attribute.attisdropped
UNION
SELECT CASE checked.contype WHEN 'c' THEN 'CHECK' ELSE 'foreign key' END, ours.name, ARRAY[attribute.attname::text]
FROM pg_constraint AS checked
JOIN ours ON ours.oid = checked.conrelid
JOIN pg_attribute AS attribute ON attribute.attrelid = checked.conrelid AND attribute.attnum = checked.conkey[1]
WHERE checked.contype IN ('c', 'f') AND cardinality(checked.conkey) = 1
"""
# A sequence that was never used begins with its first value.
_SEQUENCE_SQL = SQL("""
SELECT (SELECT coalesce(max({column}), 0) FROM {table}), (SELECT last_value FROM {sequence})
""")
_SEQUENCE_NAME_SQL: LiteralString = "SELECT pg_get_serial_sequence(%(table)s, %(column)s)"
_REVISIONS = ("articles_article", "revision", "articles_article_revision")


def _tables(_sample: Sample) -> Found:
    loader = MigrationExecutor(connection).loader
    known, applied = loader.disk_migrations or {}, set(loader.applied_migrations or ())
    ours = {app for app, _ in known}
    replaced = {key for migration in known.values() for key in migration.replaces}
    # Not the plan of `migrate`, which asks only for the last migration of each app.
    missing, others = set(loader.graph.nodes) - applied, applied - known.keys() - replaced
    return listed(
        [f"{app}.{name} is not applied" for app, name in sorted(missing)]
        + [f"{app}.{name} is of another version" for app, name in sorted(others) if app in ours]
    )


def _settings(_sample: Sample) -> Found:
    return listed(str(trigram.msg) for trigram in check_trigrams([DEFAULT_DB_ALIAS]))


def _declared(_sample: Sample) -> Found:
    stored = {name for (name,) in fetched(_NAMES_SQL)}
    on_columns = _on_columns()
    named = (
        f"{part.name} of {table.db_table} is missing"
        for table in stored_models()
        for part in (*table.constraints, *table.indexes)
        if part.name not in stored
    )
    unnamed = (
        f"{table}.{', '.join(columns)} has no {kind}"
        for kind, table, columns in _expected_of_columns()
        if (kind, table, columns) not in on_columns
    )
    return listed([*named, *unnamed])


def _on_columns() -> set[tuple[str, str, tuple[str, ...]]]:
    return {(kind, table.strip('"'), tuple(columns)) for kind, table, columns in fetched(_OF_COLUMNS_SQL)}


def _expected_of_columns() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield what Django makes of fields without a name in the model: the kind, the table and the columns."""
    for table in stored_models():
        for columns in table.unique_together:
            yield "unique index", table.db_table, tuple(table.get_field(name).column for name in columns)
        for field in table.local_concrete_fields:
            column = (table.db_table, (field.column,))
            if field.db_parameters(connection)["check"]:
                yield "CHECK", *column
            if not field.null:
                yield "NOT NULL", *column
            if field.unique:
                yield "unique index", *column
            elif field.db_index:
                yield "index", *column


def _triggers(_sample: Sample) -> Found:
    faults = []
    for model, trigger in pgtrigger.registered():
        status, enabled = trigger.get_installation_status(model)
        if status != "INSTALLED" or not enabled:
            state = status.lower() if status != "INSTALLED" else "switched off"
            faults.append(f"trigger {trigger.name} of {options(model).db_table} is {state}")
    return listed(faults)


def _serials() -> Iterator[tuple[str, str, str]]:
    """Yield the table, the column and the sequence of each number that the database counts up."""
    for table in stored_models():
        key = table.pk
        if isinstance(key, models.AutoField | models.BigAutoField) and key.column:
            [(sequence,)] = fetched(_SEQUENCE_NAME_SQL, {"table": table.db_table, "column": key.column})
            yield table.db_table, key.column, sequence or ""
    yield _REVISIONS


def _sequences(_sample: Sample) -> Found:
    faults = []
    for table, column, sequence in _serials():
        if not sequence:
            faults.append(f"{table}.{column} has no sequence")
            continue
        own = Identifier(*(part.strip('"') for part in sequence.split(".")))
        statement = _SEQUENCE_SQL.format(column=Identifier(column), table=Identifier(table), sequence=own)
        [(highest, last)] = fetched(statement)
        if highest > last:
            faults.append(f"{sequence} is at {last}, but {table}.{column} has {highest}")
    return listed(faults)


_MIGRATE = "Run `manage.py migrate`, of the version that wrote this database last."


# One pass over each table: PostgreSQL hashes the keys that are referred to.
_ORPHANS_SQL = SQL("""
SELECT format('%s: %s is %s, which is not in %s', {table}, {column}, orphan.{name}, {target})
FROM {orphans} AS orphan
WHERE orphan.{name} IS NOT NULL
    AND NOT EXISTS (SELECT FROM {targets} AS found WHERE found.{key} = orphan.{name})
""")
_ORPHANS_IN_ARRAYS_SQL = SQL("""
SELECT format('%s %s: %s has %s, which is not in %s', {table}, orphan.{own_key}, {column},
    number, {target})
FROM {orphans} AS orphan CROSS JOIN unnest(orphan.{name}) AS number
WHERE {concerned} AND NOT EXISTS (SELECT FROM {targets} AS found WHERE found.{key} = number)
""")
# Columns that hold the id of a row, or several, and are not foreign keys for Django.
_NUMBERS = {
    "dedup_decision.articles": "articles_article",
    "dedup_confirmedarticle.first": "dedup_confirmedarticle",
    "dedup_separatearticles.one": "articles_article",
    "dedup_separatearticles.other": "articles_article",
    "dedup_openquestion.article": "articles_article",
    "dedup_batchitem.articles": "articles_article",
    "articles_repeatedsentence.article_ids": "articles_article",
    "articles_newspapermerge.article_ids": "articles_article",
}
# Decisions on articles that an admin removed keep the numbers.
_UNLESS = {"dedup_decision.articles": "tombstone"}
_CONTENT_TYPES_SQL: LiteralString = """
SELECT format('permission %s of group %s has a content type without a model', permission.codename,
    granted.group_id)
FROM auth_group_permissions AS granted
JOIN auth_permission AS permission ON permission.id = granted.permission_id
LEFT JOIN django_content_type AS kind ON kind.id = permission.content_type_id
WHERE kind.id IS NULL
"""


def _in_vain(of: Any, column: str, target: str, key: str) -> Found:
    """Return which keys the target does not have, of those in this column of a model: one in each row, or an array."""
    statement = _ORPHANS_IN_ARRAYS_SQL if isinstance(of.get_field(column), ArrayField) else _ORPHANS_SQL
    unless = _UNLESS.get(f"{of.db_table}.{column}")
    return rows(
        statement.format(
            table=Literal(of.db_table),
            column=Literal(column),
            target=Literal(target),
            name=Identifier(column),
            orphans=Identifier(of.db_table),
            targets=Identifier(target),
            key=Identifier(key),
            own_key=Identifier(of.pk.column),
            concerned=SQL("NOT orphan.{}").format(Identifier(unless)) if unless else SQL("true"),
        )
    )


def _foreign_keys(_sample: Sample) -> Found:
    """Look at the foreign keys of all models, with or without a constraint in the database."""
    keys = [(field, field.target_field) for field in foreign_keys()]
    return together(
        *(_in_vain(options(own.model), own.column, options(other.model).db_table, other.column) for own, other in keys)
    )


def _numbers(_sample: Sample) -> Found:
    tables = {table.db_table: table for table in stored_models()}
    named = [(*name.split("."), target) for name, target in _NUMBERS.items()]
    return together(
        *(_in_vain(tables[table], column, target, tables[target].pk.column) for table, column, target in named)
    )


# The constraints that the database should have, by table and column.
def _enforced(_sample: Sample) -> Found:
    stored = _on_columns()
    return listed(
        f"{table}.{field.column} has no foreign key in the database"
        for field in foreign_keys()
        if field.db_constraint
        and ("foreign key", (table := options(field.model).db_table), (field.column,)) not in stored
    )


INVARIANTS = (
    Invariant("tables", "The tables are those of this version.", _tables, _MIGRATE),
    Invariant(
        "server",
        "The server is new enough, has pg_trgm, and the database is in UTF-8 and not in the C locale.",
        _settings,
        "See docs/running.md, “The database”.",
    ),
    Invariant(
        "indexes",
        "Every index is valid.",
        by(_INDEXES_SQL),
        "Run REINDEX INDEX CONCURRENTLY on each; an index that broke off while it was built stays unused until then.",
    ),
    Invariant(
        "constraints",
        "Every constraint holds for all rows.",
        by(_CONSTRAINTS_SQL),
        "Run ALTER TABLE … VALIDATE CONSTRAINT on each; it names the rows that break it.",
    ),
    Invariant("declared", "Every declared constraint and index exists.", _declared, _MIGRATE),
    Invariant(
        "triggers",
        "Every trigger exists and is on: they count revisions, and refuse changes of decisions.",
        _triggers,
        "Run `manage.py pgtrigger install` and `manage.py pgtrigger enable`.",
    ),
    Invariant(
        "sequences",
        "Every sequence is at or above the numbers that its table has.",
        _sequences,
        "Run SELECT setval('SEQUENCE', NUMBER) with a number of at least the highest one.",
    ),
    Invariant("foreign-keys", "Whatever a row refers to exists.", _foreign_keys),
    Invariant(
        "foreign-keys-enforced",
        "The database itself checks every reference that it is to check.",
        _enforced,
        "Run `manage.py migrate` on an empty database, and restore a backup into it.",
    ),
    Invariant("numbers", "Every article that is named by its number alone exists.", _numbers),
    Invariant("permissions", "Every right of a role is of a table that exists.", by(_CONTENT_TYPES_SQL)),
)
