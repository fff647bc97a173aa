"""Queries for articles that several places share."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection, models

if TYPE_CHECKING:
    from articles.models import Article, Newspaper  # noqa: F401 - the base classes name them in strings


# Long columns that no list of articles needs.
LONG_TEXTS = (
    *("content", "normalized_text", "normalized_title", "story_text", "topic_text"),
    *("boilerplate", "extra_columns"),
)

# The columns that Article.publication_time reads.
TIME_COLUMNS = ("published_at", "published_offset", "published_precision")


def fetched(statement: Any, values: Mapping[str, Any] | None = None) -> list[Any]:
    """Return the rows that a statement of SQL finds, all at once."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def executed(statement: Any, values: Mapping[str, Any] | None = None) -> int:
    """Execute a statement of SQL; return how many rows it has changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.rowcount


def texts_of(*articles: str) -> list[str]:
    """Return the names of the long texts of articles that a query joins as, for `defer`."""
    return [f"{article}__{name}" for article in articles for name in LONG_TEXTS]


def given(**bounds: Any) -> models.Q:
    """Return the condition for the bounds that are not None."""
    return models.Q(**{name: value for name, value in bounds.items() if value is not None})


def days_fault(since: datetime.date | None, until: datetime.date | None) -> str:
    """Return why no day is from `since` to `until`; empty if there is one."""
    return f"since {since} is after until {until}; swap them" if since and until and since > until else ""


_Row = TypeVar("_Row", bound=models.Model)


def in_portions(rows: models.QuerySet[_Row], size: int) -> Iterator[list[_Row]]:
    """Yield the rows by their numbers, `size` at a time, each portion by a statement of its own when it is wanted."""
    last = 0
    while portion := list(rows.order_by("pk").filter(pk__gt=last)[:size]):
        yield portion
        last = portion[-1].pk


class ArticleQuerySet(models.QuerySet["Article"]):
    def in_scope(
        self,
        since: datetime.date | None,
        until: datetime.date | None,
        newspaper_ids: Collection[int] | None,
        found: Collection[int] | None = None,
    ) -> ArticleQuerySet:
        """Return the articles published from `since` to `until`, both included, by these newspapers; None: no bound.

        `found` are the ids that a search found.
        """
        return self.filter(given(date__gte=since, date__lte=until, newspaper_id__in=newspaper_ids, pk__in=found))

    def without_texts(self) -> ArticleQuerySet:
        """Return the same articles without loading their long texts."""
        return self.defer(*LONG_TEXTS)


class NewspaperQuerySet(models.QuerySet["Newspaper"]):
    def in_use(self) -> NewspaperQuerySet:
        """Return the newspapers that were not merged into another one."""
        return self.filter(merged_into=None)
