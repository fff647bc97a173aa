"""What every export is: columns with what they mean, and rows that are read from the database as they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

# Rows fetched from the database at a time; memory holds no more.
ROWS_AT_ONCE = 2_000

Item = TypeVar("Item")


@dataclass(frozen=True)
class Export:
    """A table for other programs. `columns` explains each column; `rows` yields the rows of a list, ordered by ids."""

    name: str
    columns: Mapping[str, str]
    rows: Callable[[QuerySet[Any]], Iterator[dict[str, Any]]]


def in_batches(rows: QuerySet[Any]) -> Iterator[list[Any]]:
    """Yield rows of a query ROWS_AT_ONCE at a time, all as of one moment: a cursor of the server keeps the others."""
    with transaction.atomic():
        streamed = rows.iterator(ROWS_AT_ONCE)
        while batch := list(islice(streamed, ROWS_AT_ONCE)):
            yield batch


def article_columns(side: str = "") -> dict[str, str]:
    """Return the columns of an article; `side` comes before their names."""
    of = f" of the {side.removesuffix('_')} article" if side else ""
    return {
        f"{side}article": f"number{of}",
        f"{side}external_id": f"number{of} in the file that it was imported from",
        f"{side}url": f"URL{of}",
        f"{side}newspaper": f"newspaper{of}",
        f"{side}date": f"day of publication{of}",
        f"{side}headline": f"headline{of}",
    }


def article_values(article: Any, side: str = "") -> dict[str, Any]:
    """Return the values of these columns, of an article with its newspaper."""
    return {
        f"{side}article": article.pk,
        f"{side}external_id": article.external_id,
        f"{side}url": article.url,
        f"{side}newspaper": article.newspaper.name,
        f"{side}date": article.date,
        f"{side}headline": article.headline,
    }
