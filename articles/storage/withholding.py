"""Takes the texts of an article away, so that no page, export or run can show them, and puts them back unchanged.

The rows with texts move to WithheldRow, which nothing reads but `put_back`. What stays of the article is its number,
its newspaper, its day and the digests of its URLs, by which it is known if it comes again.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, LiteralString

from django.db import connection
from psycopg.sql import SQL, Composed, Identifier

from articles.fields import FIELDS
from articles.models import Article, Withholding

PLACEHOLDER = "Withheld"
# The columns of an article with words of it, or found in them, and what they hold without.
_EMPTY: dict[str, str | None] = {
    **dict.fromkeys((field.name for field in FIELDS if field.has_words), ""),
    **dict.fromkeys(("normalized_title", "normalized_text", "extra_columns"), ""),
    "text_digest": None,
}
# The trigger on articles empties these when the content changes, so they are written after it.
MARKS = ("boilerplate", "story_text", "story_digest", "topic_text", "topic_digest")

# The rows that go, and those of which only the URL goes: each with the column that has the article's number. The order
# is that in which they come back.
_WHOLE: tuple[tuple[LiteralString, LiteralString], ...] = (
    ("articles_headlinevariant", "article_id"),
    ("articles_articlepage", "article_id"),
    ("articles_followingpage", "article_page_id"),
    ("articles_articlerevision", "article_id"),
)
_ADDRESSES: tuple[LiteralString, ...] = ("articles_articleurl", "articles_declaredurl")

_KEEP_SQL: LiteralString = """
INSERT INTO articles_withheldrow (withholding_id, "table", row)
SELECT %(withholding)s, {name}, to_jsonb(kept) FROM {table} AS kept WHERE {column} = %(article)s
"""
_DELETE_SQL: LiteralString = "DELETE FROM {table} WHERE {column} = ANY (%(articles)s::bigint[])"
# The form is what the pass on URLs compares: no two articles may share it.
_BLANK_URLS_SQL: LiteralString = """
UPDATE articles_articleurl SET url = '', normalized_url = 'withheld ' || key
WHERE article_id = ANY (%(articles)s::bigint[])
"""
_BLANK_DECLARED_SQL: LiteralString = """
UPDATE articles_declaredurl SET url = '' WHERE article_id = ANY (%(articles)s::bigint[])
"""
_RESTORE_SQL: LiteralString = """
INSERT INTO {table} SELECT restored.* FROM articles_withheldrow AS kept
CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, kept.row) AS restored
WHERE kept.withholding_id = %(withholding)s AND kept."table" = {name}
ORDER BY kept.id
ON CONFLICT DO NOTHING
"""
_RESTORE_FIELDS_SQL: LiteralString = """
UPDATE {table} AS stored SET {fields}
FROM articles_withheldrow AS kept
CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, kept.row) AS restored
WHERE kept.withholding_id = %(withholding)s AND kept."table" = {name} AND stored.id = restored.id
"""


def take_away(withholding: Withholding) -> None:
    """Move the texts of an article to the rows of its withholding; inside ingest.writing()."""
    article = withholding.article_id
    with connection.cursor() as cursor:
        for table, column in (
            ("articles_article", "id"),
            *((address, "article_id") for address in _ADDRESSES),
            *_WHOLE,
        ):
            names = {"table": Identifier(table), "name": table, "column": Identifier(column)}
            statement = SQL(_KEEP_SQL).format(**names)
            cursor.execute(statement, {"withholding": withholding.pk, "article": article})
    blank([article], PLACEHOLDER)


def blank(articles: Collection[int], placeholder: str) -> None:
    """Delete the texts of these articles for good, and show this instead; inside ingest.writing()."""
    values = {"articles": list(articles)}
    with connection.cursor() as cursor:
        for table, column in reversed(_WHOLE):
            cursor.execute(SQL(_DELETE_SQL).format(table=Identifier(table), column=Identifier(column)), values)
        for statement in (_BLANK_URLS_SQL, _BLANK_DECLARED_SQL):
            cursor.execute(statement, values)
    marks: dict[str, Any] = {**dict.fromkeys(MARKS), "boilerplate": []}
    shown = {**_EMPTY, **marks, "headline": placeholder, "withheld": True}
    Article.objects.filter(pk__in=articles).update(**shown)


def put_back(withholding: Withholding) -> None:
    """Restore the texts of an article from the rows of its withholding, which go; inside ingest.writing()."""
    with connection.cursor() as cursor:
        values = {"withholding": withholding.pk}
        for fields in (tuple(_EMPTY), MARKS):
            cursor.execute(_restored("articles_article", fields), values)
        cursor.execute(_restored("articles_articleurl", ("url", "normalized_url")), values)
        cursor.execute(_restored("articles_declaredurl", ("url",)), values)
        for table, _ in _WHOLE:
            cursor.execute(SQL(_RESTORE_SQL).format(table=Identifier(table), name=table), values)
    Article.objects.filter(pk=withholding.article_id).update(withheld=False)
    withholding.rows.all().delete()


def _restored(table: LiteralString, fields: Collection[str]) -> Composed:
    assigned = SQL(", ").join(SQL("{0} = restored.{0}").format(Identifier(field)) for field in fields)
    return SQL(_RESTORE_FIELDS_SQL).format(table=Identifier(table), name=table, fields=assigned)
