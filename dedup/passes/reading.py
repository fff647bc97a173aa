"""Articles for the passes that compare texts, a batch at a time: no cursor stays open during a long run."""

import datetime
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from articles.boilerplate.rules import without_boilerplate
from dedup.article_sql import article_sql, scope_parameters
from dedup.kernels.tokens import IntArray
from dedup.passes.base import Connection
from dedup.types import Tally, Window

Fresh = npt.NDArray[np.bool_]

_BATCH = 2_000

# One batch at a time by day and id, from the index article_date. Without `newer_than`, the last column is null.
_NORMALIZED_SQL = article_sql(
    """
SELECT id, date, left({article.text}, %(prefix)s), revision > %(newer_than)s
FROM {articles} AS article
WHERE (date, id) > (%(after_day)s, %(after_id)s) AND date <= %(last_day)s AND {article.in_newspapers}
ORDER BY date, id
LIMIT %(batch)s
""",
    "article",
)
_CONTENT_SQL = article_sql(
    """
SELECT id, date, content, boilerplate::text
FROM {articles} AS article
WHERE (date, id) > (%(after_day)s, %(after_id)s) AND date <= %(last_day)s AND {article.in_newspapers}
ORDER BY date, id
LIMIT %(batch)s
""",
    "article",
)

# Id, day, text.
ArticleRow = tuple[int, datetime.date, str]


class ArticleBatch(NamedTuple):
    """Some articles, ordered by day and id.

    Ids, days as ordinal numbers, which of them are fresh (None: all), beginnings of the normalised texts.
    """

    ids: IntArray
    days: IntArray
    fresh: Fresh | None
    texts: list[str]


def read_batches(
    window: Window, connection: Connection, tally: Tally, *, day_window: int, prefix: int
) -> Iterator[ArticleBatch]:
    """Yield the articles of a window and the days before it, the first `prefix` characters of each, in batches."""
    begin = first_day_read(window, day_window)
    for rows in _rows(_NORMALIZED_SQL, {**scope_parameters(window), "prefix": prefix}, begin, connection):
        yield ArticleBatch(
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1].toordinal() for row in rows], dtype=np.int64),
            None if window.newer_than is None else np.array([row[3] for row in rows], dtype=np.bool_),
            [row[2] for row in rows],
        )
        tally.on_read(len(rows))


def read_contents(window: Window, connection: Connection, tally: Tally) -> Iterator[list[ArticleRow]]:
    """Yield all articles up to the window's last day, with their whole content as it is compared, in batches."""
    for rows in _rows(_CONTENT_SQL, scope_parameters(window), datetime.date.min, connection):
        yield [
            (article, day, without_boilerplate(content, json.loads(marks), window.boilerplate))
            for article, day, content, marks in rows
        ]
        tally.on_read(len(rows))


def _rows(
    statement: str, parameters: dict[str, Any], begin: datetime.date, connection: Connection
) -> Iterator[list[Any]]:
    """Yield the rows of a statement from a day on, in batches."""
    parameters |= {"batch": _BATCH, "after_day": begin, "after_id": 0}
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            rows = cursor.fetchall()
        if not rows:
            return
        yield rows
        parameters |= {"after_day": rows[-1][1], "after_id": rows[-1][0]}


def first_day_read(window: Window, day_window: int) -> datetime.date:
    """Return the first day whose articles may be paired with one of the window."""
    return datetime.date.fromordinal(max(1, window.first_day.toordinal() - day_window))


def first_row(days: IntArray, window: Window) -> int:
    """Return the position of the window's first article in `days`, which is ascending."""
    return int(np.searchsorted(days, window.first_day.toordinal()))


def all_fresh(batches: Sequence[Fresh | None]) -> Fresh | None:
    """Return which of the articles of all batches are fresh; None: all."""
    known = [batch for batch in batches if batch is not None]
    return np.concatenate(known) if known else None
