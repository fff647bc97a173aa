"""Articles for the passes that compare texts: a page at a time, so that no cursor is held open over a long run."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dedup.passes.base import Connection
from dedup.passes.grouping import scope_parameters
from dedup.shingles import IntArray
from dedup.types import Window

_PAGE = 2_000

# One page after the other by day and id, from the index article_date.
_PAGE_SQL = """
SELECT id, date, left(normalized_text, %(prefix)s)
FROM articles_article
WHERE (date, id) > (%(after_day)s, %(after_id)s)
  AND date BETWEEN %(first_day)s AND %(last_day)s + %(day_window)s
  AND (%(since)s::date IS NULL OR date >= %(since)s)
  AND (%(until)s::date IS NULL OR date <= %(until)s)
  AND (%(newspaper_ids)s::bigint[] IS NULL OR newspaper_id = ANY (%(newspaper_ids)s))
ORDER BY date, id
LIMIT %(page)s
"""


class Page(NamedTuple):
    """Some articles, ordered by day and id: ids, days as ordinal numbers, beginnings of the normalised texts."""

    ids: IntArray
    days: IntArray
    texts: list[str]


def read_pages(window: Window, connection: Connection, *, day_window: int, prefix: int) -> Iterator[Page]:
    """Yield the articles of a window and of the days after it, so many characters of each, a page at a time."""
    parameters: dict[str, Any] = {**scope_parameters(window), "day_window": day_window, "prefix": prefix}
    parameters |= {"page": _PAGE, "after_day": window.first_day, "after_id": 0}
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_PAGE_SQL, parameters)
            rows = cursor.fetchall()
        if not rows:
            return
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        days = np.array([row[1].toordinal() for row in rows], dtype=np.int64)
        yield Page(ids, days, [row[2] for row in rows])
        parameters |= {"after_day": rows[-1][1], "after_id": rows[-1][0]}


def rows_until(days: IntArray, window: Window) -> int:
    """Return how many of the articles, ordered by day, belong to the window's own days; the others come after."""
    return int(np.searchsorted(days, window.last_day.toordinal(), side="right"))
