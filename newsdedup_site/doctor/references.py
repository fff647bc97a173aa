"""Whether whatever a row refers to exists: also where the database has no foreign key, or was told not to check one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import LiteralString, NamedTuple

from django.contrib.postgres.fields import ArrayField
from django.db import connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from newsdedup_site.doctor.invariant import (
    RESTORE,
    Found,
    Invariant,
    Sample,
    by,
    foreign_key_fields,
    listed,
    options,
    rows,
    stored_models,
    together,
)

# One pass over each table: PostgreSQL hashes the keys that are referred to.
_ORPHANS_SQL = SQL("""
SELECT count(*) OVER (), format('%s: %s is %s, which is not in %s', {table}, {column}, orphan.{name}, {target})
FROM {orphans} AS orphan
WHERE orphan.{name} IS NOT NULL
    AND NOT EXISTS (SELECT FROM {targets} AS found WHERE found.{key} = orphan.{name})
LIMIT 10
""")
_ORPHANS_IN_ARRAYS_SQL = SQL("""
SELECT count(*) OVER (), format('%s %s: %s has %s, which is not in %s', {table}, orphan.{own_key}, {column},
    number, {target})
FROM {orphans} AS orphan CROSS JOIN unnest(orphan.{name}) AS number
WHERE {concerned} AND NOT EXISTS (SELECT FROM {targets} AS found WHERE found.{key} = number)
LIMIT 10
""")
# Columns that hold the id of a row, or several, and are not foreign keys for Django.
_NUMBERS = {
    "dedup_decision.articles": "articles_article",
    "dedup_confirmedarticle.first": "dedup_confirmedarticle.article_id",
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
SELECT count(*) OVER (), format('permission %s of group %s has a content type without a model', permission.codename,
    granted.group_id)
FROM auth_group_permissions AS granted
JOIN auth_permission AS permission ON permission.id = granted.permission_id
LEFT JOIN django_content_type AS kind ON kind.id = permission.content_type_id
WHERE kind.id IS NULL
LIMIT 10
"""


class Reference(NamedTuple):
    """A column that holds keys of a table: one, or several if it is an array."""

    table: str
    column: str
    target: str
    key: str
    own_key: str = "id"
    array: bool = False
    unless: str = ""  # a column that says that they need not exist

    @property
    def statement(self) -> Composed:
        """The statement that finds what it refers to in vain."""
        return (_ORPHANS_IN_ARRAYS_SQL if self.array else _ORPHANS_SQL).format(
            table=Literal(self.table),
            column=Literal(self.column),
            target=Literal(self.target),
            name=Identifier(self.column),
            orphans=Identifier(self.table),
            targets=Identifier(self.target),
            key=Identifier(self.key),
            own_key=Identifier(self.own_key),
            concerned=SQL("NOT orphan.{}").format(Identifier(self.unless)) if self.unless else SQL("true"),
        )


def foreign_keys() -> list[Reference]:
    """Return the foreign keys of all models, with or without a constraint in the database."""
    return [
        Reference(table, field.column, options(field.target_field.model).db_table, field.target_field.column)
        for table, field in foreign_key_fields()
    ]


def numbers() -> Iterator[Reference]:
    """Yield the columns that hold ids and are not foreign keys."""
    fields = {
        f"{table.db_table}.{field.column}": (field, table.pk.column)
        for table in stored_models()
        for field in table.local_concrete_fields
    }
    for name, target in _NUMBERS.items():
        table, _, column = name.partition(".")
        where, _, key = target.partition(".")
        field, own_key = fields[name]
        yield Reference(
            table, column, where, key or "id", own_key, isinstance(field, ArrayField), _UNLESS.get(name, "")
        )


def _foreign_keys(_sample: Sample) -> Found:
    return together([rows(key.statement) for key in foreign_keys()])


def _numbers(_sample: Sample) -> Found:
    return together([rows(number.statement) for number in numbers()])


# The constraints that the database should have, by table and column.
_ENFORCED_SQL: LiteralString = """
SELECT checked.conrelid::regclass::text, attribute.attname
FROM pg_constraint AS checked
JOIN pg_attribute AS attribute ON attribute.attrelid = checked.conrelid AND attribute.attnum = checked.conkey[1]
WHERE checked.contype = 'f' AND checked.connamespace = current_schema()::regnamespace
"""


def _enforced(_sample: Sample) -> Found:
    with connection.cursor() as cursor:
        cursor.execute(_ENFORCED_SQL)
        stored = {(table.strip('"'), column) for table, column in cursor}
    return listed(
        f"{table}.{field.column} has no foreign key in the database"
        for table, field in foreign_key_fields()
        if field.db_constraint and (table, field.column) not in stored
    )


INVARIANTS = (
    Invariant("foreign-keys", "Whatever a row refers to exists.", RESTORE, _foreign_keys),
    Invariant(
        "foreign-keys-enforced",
        "The database itself checks every reference that it is to check.",
        "Run `manage.py migrate` on an empty database, and restore a backup into it.",
        _enforced,
    ),
    Invariant("numbers", "Every article that is named by its number alone exists.", RESTORE, _numbers),
    Invariant("permissions", "Every right of a role is of a table that exists.", RESTORE, by(_CONTENT_TYPES_SQL)),
)
