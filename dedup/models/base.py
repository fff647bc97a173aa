"""What models share: how rows are written in words, and the triggers of rows that are only appended."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, TypeAlias

import pgtrigger
from django.conf import settings
from django.db import connection, models

from articles.querysets import fetched


class Row(models.Model):
    """A row that is written in a few words: `written`, in which {0} is the row."""

    written: ClassVar[str]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.written.format(self)


def read_rows(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    """Return the rows that a statement finds, all at once."""
    return fetched(statement, values)


def copied(statement: str, types: Sequence[str], at_once: int, **values: Any) -> Iterator[list[tuple[Any, ...]]]:
    """Yield what a COPY in binary gives, so many rows at a time: not all of them are in memory at once."""
    # The driver's own cursor: the one of Django that logs queries, with DEBUG, copies without parameters only.
    with connection.cursor() as cursor, cursor.cursor.copy(statement, values) as copy:
        copy.set_types(types)
        rows = copy.rows()
        while read := list(islice(rows, at_once)):
            yield read


# A statement and its values.
Asked: TypeAlias = tuple[str, Mapping[str, Any] | Sequence[Any]]


def read_each(*asked: Asked) -> list[list[tuple[Any, ...]]]:
    """Run these statements, one after the other, in one round trip; return the rows of each, none if it has none.

    Each sees what those before it have written. Outside of a transaction, they are one.
    """
    with connection.cursor() as cursor:
        cursor.execute(";\n".join(cursor.mogrify(*statement) for statement in asked))
        return [
            cursor.fetchall() if cursor.description else []
            for place in range(len(asked))
            if place == 0 or cursor.nextset()
        ]


class Ruled(Row):
    """A row that an editor can make a rule about."""

    ruled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The editor who made the rule that its articles are never duplicates of each other.",
    )
    ruled_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


# ---- rows that are only appended -------------------------------------------------------------------------------------
# A removal that is under way may change them, and nobody else. It says which one it is in the setting newsdedup.removal
# of its transaction (newsdedup_site/privacy/). That alone opens nothing: the row must also be about an article which
# that removal names, and only what has to go may change.

# A removal that is under way and an article of it; `about` is an array of article ids.
_REMOVED = """EXISTS (
    SELECT FROM articles_removal AS removal
    JOIN articles_article AS article
        ON article.id = ANY (removal.article_ids) OR article.newspaper_id = ANY (removal.newspaper_ids)
    WHERE removal.id = nullif(current_setting('newsdedup.removal', true), '')::bigint
      AND removal.state = 'running' AND article.id = ANY ({about})
)"""
_OF_PAIR = "ARRAY(SELECT unnest(ARRAY[left_id, right_id]) FROM dedup_pair WHERE id = OLD.pair_id)"

# When a row may be changed: the condition, and what the trigger returns then.
LINK_GOES = "TG_OP = 'DELETE' AND " + _REMOVED.format(about="ARRAY[OLD.left_id, OLD.right_id]")
TOMBSTONE = """TG_OP = 'UPDATE' AND NEW.tombstone AND NEW.note = ''
    AND (NEW.pair_id IS NULL OR NEW.pair_id = OLD.pair_id)
    AND (NEW.article_id IS NULL OR NEW.article_id = OLD.article_id)
    AND to_jsonb(NEW) - '{pair_id,article_id,note,tombstone}'::text[]
        = to_jsonb(OLD) - '{pair_id,article_id,note,tombstone}'::text[]
    AND """ + _REMOVED.format(about=f"OLD.articles || {_OF_PAIR}")
READING_TOMBSTONE = """TG_OP = 'UPDATE' AND NEW.pair_id IS NULL AND NEW.note = ''
    AND to_jsonb(NEW) - '{pair_id,note}'::text[] = to_jsonb(OLD) - '{pair_id,note}'::text[]
    AND """ + _REMOVED.format(about=_OF_PAIR)


def append_only(condition: str) -> pgtrigger.Trigger:
    """Return a trigger that refuses changes and deletions unless this condition holds."""
    return pgtrigger.Trigger(
        name="append_only",
        when=pgtrigger.Before,
        operation=pgtrigger.Update | pgtrigger.Delete,
        func=f"""
        IF {condition} THEN
            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
        """,
    )
