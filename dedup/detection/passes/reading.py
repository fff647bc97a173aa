"""Articles for the passes that compare texts, a batch at a time: no cursor stays open during a long run."""

import datetime
import json
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from articles.boilerplate.rules import without_boilerplate
from dedup.detection.article_sql import article_sql, scope_parameters
from dedup.detection.kernels.inverted_index import HASHES
from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets, masked_shingle_sets
from dedup.detection.kernels.sentences import MarkedSentences, marked_sentences
from dedup.detection.kernels.tokens import Flags, IntArray, Ragged, concatenated, divided
from dedup.detection.passes.base import Connection
from dedup.detection.types import Tally, Window

_BATCH = 2_000
# More bytes than these have take PostgreSQL longer to put together: its memory for them is mapped each time.
_PACKED_BATCH = 500
_HASH_BYTES = 4
_ALL_IDS = (0, (1 << 63) - 1)
# Hashes are put together range by range, to bound memory.
_RANGES = 16

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
# Without `newer_than`: who asks for some articles wants all of them.
_BEGINNINGS_OF_SQL = article_sql(
    """
SELECT id, date, left({article.text}, %(prefix)s)
FROM {articles} AS article
WHERE id = ANY (%(ids)s)
ORDER BY date, id
""",
    "article",
)
_CONTENTS_OF_SQL = article_sql(
    "SELECT id, date, content, boilerplate::text FROM {articles} AS article WHERE id = ANY (%(ids)s) ORDER BY date, id"
)

# The shingles as they are stored, or else the text to make them of: where there is no row, where it is outdated, and
# where some of the text is left out.
_SHINGLES = """
SELECT article.id, article.date, article.newspaper_id, known.shingles,
       CASE WHEN known.shingles IS NULL THEN {article.text} END
FROM {articles} AS article
LEFT JOIN dedup_articleshingles AS known
    ON known.article_id = article.id AND known.revision = article.revision AND {article.whole}
"""
# A batch is one row, in which numbers follow each other as the binary form has them: a row for each article would take
# the client ten times as long. Days are numbered as Python numbers them.
_AS_ONE_ROW = """
)
SELECT string_agg(int8send(id), ''), string_agg(int8send(newspaper_id), ''),
       string_agg(int4send(date - DATE '0001-01-01' + 1), ''),
       string_agg(int4send(coalesce(length(shingles), -1)), ''), string_agg(shingles, ''),
       array_agg(text) FILTER (WHERE shingles IS NULL)
FROM batch
) TO STDOUT (FORMAT binary)
"""
# In batches by the index article_date.
_SHINGLES_SQL = article_sql(
    "COPY (WITH batch (id, date, newspaper_id, shingles, text) AS ("
    + _SHINGLES
    + """
WHERE (article.date, article.id) > (%(after_day)s, %(after_id)s) AND article.date <= %(last_day)s
  AND {article.in_newspapers}
ORDER BY article.date, article.id
LIMIT %(batch)s
"""
    + _AS_ONE_ROW,
    "article",
)
# In batches by the primary keys, in which neighbours are stored next to each other: where the order does not matter.
_SHINGLES_BY_ID_SQL = article_sql(
    "COPY (WITH batch (id, date, newspaper_id, shingles, text) AS ("
    + _SHINGLES
    + """
    AND known.article_id > %(after_id)s  -- or each batch would read the index from its beginning
WHERE article.id > %(after_id)s AND article.id <= %(last_id)s
  AND article.date <= %(last_day)s AND {article.in_newspapers}
ORDER BY article.id
LIMIT %(batch)s
"""
    + _AS_ONE_ROW,
    "article",
)
_SHINGLES_TYPES = ("bytea", "bytea", "bytea", "bytea", "bytea", "text[]")
_SHINGLES_OF_SQL = article_sql(
    _SHINGLES + "WHERE article.id = ANY (%(ids)s) ORDER BY article.date, article.id", "article"
)
_FRESH_SQL = article_sql("SELECT id FROM {articles} AS article WHERE revision > %(newer_than)s ORDER BY id", "article")

# The sentences as they are stored, or else the content to make them of, as with shingles: the content, because
# normalised texts have no sentence ends.
_SENTENCES_SQL = article_sql(
    """
COPY (
    SELECT article.id, article.date, known.hashes, known.marks,
           CASE WHEN known.hashes IS NULL THEN article.content END,
           CASE WHEN known.hashes IS NULL THEN article.boilerplate::text END
    FROM {articles} AS article
    LEFT JOIN dedup_articlesentences AS known
        ON known.article_id = article.id AND known.revision = article.revision AND {article.whole}
    WHERE (article.date, article.id) > (%(after_day)s, %(after_id)s) AND article.date <= %(last_day)s
      AND {article.in_newspapers}
    ORDER BY article.date, article.id
    LIMIT %(batch)s
) TO STDOUT (FORMAT binary)
""",
    "article",
)
_SENTENCES_TYPES = ("int8", "date", "bytea", "bytea", "text", "text")

# Id, day, text.
ArticleRow = tuple[int, datetime.date, str]


class ArticleBatch(NamedTuple):
    """Some articles, ordered by day and id.

    Ids, days as ordinal numbers, which of them are fresh (None: all), beginnings of the normalised texts.
    """

    ids: IntArray
    days: IntArray
    fresh: Flags | None
    texts: list[str]


NO_ARTICLES = ArticleBatch(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), None, [])


class Holders(NamedTuple):
    """Which articles have which of some shingles: the id of an article and a hash, ordered by both."""

    ids: IntArray
    hashes: npt.NDArray[np.uint32]


class ArticleShingles(NamedTuple):
    """The masked word shingles of some articles, ordered by day and id: ids, newspapers, days as ordinal numbers."""

    ids: IntArray
    newspapers: IntArray
    days: IntArray
    sets: ShingleSets


class ArticleSentences(NamedTuple):
    """The sentences of some articles, ordered by day and id: ids, days as ordinal numbers, the sentences."""

    ids: IntArray
    days: IntArray
    marked: MarkedSentences


def read_batches(
    window: Window, connection: Connection, tally: Tally, *, day_window: int, prefix: int
) -> Iterator[ArticleBatch]:
    """Yield the articles of a window and the days before it, the first `prefix` characters of each, in batches."""
    begin = first_day_read(window, day_window)
    for rows in _rows(_NORMALIZED_SQL, {**scope_parameters(window), "prefix": prefix}, begin, connection):
        fresh = None if window.newer_than is None else np.array([row[3] for row in rows], dtype=np.bool_)
        yield ArticleBatch(_ids(rows), _days(rows), fresh, [row[2] for row in rows])
        tally.on_read(len(rows))


def read_sentences(
    window: Window, connection: Connection, tally: Tally, *, first_day: datetime.date = datetime.date.min
) -> Iterator[ArticleSentences]:
    """Yield the sentences of all articles from `first_day` to the window's last, as their contents are compared.

    In batches. They are those of marked_sentences: up-to-date rows of the index are read; the others are made of the
    contents, and nothing is written.
    """
    for rows in _rows(_SENTENCES_SQL, scope_parameters(window), first_day, connection, _SENTENCES_TYPES):
        yield _sentences_of(rows, window)
        tally.on_read(len(rows))


def read_beginnings_of(articles: Collection[int], window: Window, connection: Connection, prefix: int) -> ArticleBatch:
    """Return these articles as read_batches does, all fresh; of the window, only `boilerplate` counts."""
    parameters = {**scope_parameters(window), "ids": list(articles), "prefix": prefix}
    rows = _fetched(_BEGINNINGS_OF_SQL, parameters, connection)
    return ArticleBatch(_ids(rows), _days(rows), None, [row[2] for row in rows])


def _ids(rows: Sequence[Any]) -> IntArray:
    return np.array([row[0] for row in rows], dtype=np.int64)


def _days(rows: Sequence[Any]) -> IntArray:
    return np.array([row[1].toordinal() for row in rows], dtype=np.int64)


def read_contents_of(articles: Collection[int], window: Window, connection: Connection) -> list[ArticleRow]:
    """Return these articles with their whole content as it is compared; of the window, only `boilerplate` counts."""
    return [
        (article, day, without_boilerplate(content, json.loads(marks), window.boilerplate))
        for article, day, content, marks in _fetched(_CONTENTS_OF_SQL, {"ids": list(articles)}, connection)
    ]


def read_holders(
    hashes: npt.NDArray[np.uint32], window: Window, connection: Connection, ids: tuple[int, int] = _ALL_IDS
) -> Holders:
    """Return which articles up to the window's last day have which of these shingles, ascending and distinct.

    It reads the shingles of all articles, or of those above the first id and up to the last: about a second for
    100,000.
    """
    asked = np.zeros(1 << 16, dtype=np.bool_)
    asked[hashes >> np.uint32(16)] = True
    parts = [Holders(np.empty(0, dtype=np.int64), hashes[:0])]
    for part in shingles_by_id(window, connection, ids):
        # A table of the upper bits leaves few to look for.
        places = np.flatnonzero(asked[part.sets.values >> np.uint32(16)])
        found = part.sets.values[places]
        known = np.searchsorted(hashes, found)
        wanted = hashes[np.minimum(known, len(hashes) - 1)] == found
        owners = np.searchsorted(part.sets.offsets, places[wanted], side="right") - 1
        parts.append(Holders(part.ids[owners], found[wanted]))
    return concatenated(parts)


def read_hashes(window: Window, connection: Connection, tally: Tally, *, low: int, high: int) -> Iterator[Hashes]:
    """Yield the hashes from `low` to before `high` of the shingles of all articles up to the window's last day.

    Each article's set counts, so a hash comes as often as articles have it. Range by range, without order in a range.
    """
    bounds = np.array([low + (high - low) * place // _RANGES for place in range(1, _RANGES)], dtype=np.uint64)

    def ordered() -> Iterator[Hashes]:
        for part in shingles_by_id(window, connection):
            hashes = part.sets.values
            yield np.sort(hashes[(hashes >= low) & (hashes < high)] if high - low < HASHES else hashes)
            tally.articles += len(part.ids)
            tally.on_read(len(part.ids))

    return divided(chain([np.empty(0, dtype=np.uint32)], ordered()), bounds)


def read_shingles(window: Window, connection: Connection, tally: Tally, *, first_day: datetime.date) -> ArticleShingles:
    """Return the shingles of all articles from `first_day` to the window's last, of their texts as they are compared.

    They are those of masked_shingle_sets. Up-to-date rows of the index are read; the others are made of the texts, and
    nothing is written. Memory: four bytes per shingle, twice.
    """
    parts = [shingles_of_rows([])]
    parameters = {**scope_parameters(window), "after_day": first_day, "after_id": 0}
    while part := _packed(_SHINGLES_SQL, parameters, connection):
        parameters |= {"after_day": datetime.date.fromordinal(part.days[-1]), "after_id": int(part.ids[-1])}
        parts.append(part)
        tally.on_read(len(part.ids))
    return concatenated(parts)


def read_fresh(newer_than: int, connection: Connection) -> IntArray:
    """Return the ids of all articles with a higher revision, ascending."""
    return _ids(_fetched(_FRESH_SQL, {"newer_than": newer_than}, connection))


def read_shingles_of(articles: Collection[int], window: Window, connection: Connection) -> ArticleShingles:
    """Return the shingles of these articles, as read_shingles does; of the window, only `boilerplate` counts."""
    parameters = {**scope_parameters(window), "ids": list(articles)}
    return shingles_of_rows(_fetched(_SHINGLES_OF_SQL, parameters, connection))


def _sentences_of(rows: Sequence[Any], window: Window) -> ArticleSentences:
    made = marked_sentences(
        [without_boilerplate(row[4], json.loads(row[5]), window.boilerplate) for row in rows if row[2] is None]
    )
    fresh = zip(made.sets.split(), Ragged(made.marks, made.sets.offsets).split(), strict=True)
    both = [
        next(fresh) if row[2] is None else (np.frombuffer(row[2], dtype="<i8"), np.frombuffer(row[3], dtype="<u2"))
        for row in rows
    ]
    hashes, marks = zip(*both, strict=True)
    return ArticleSentences(
        _ids(rows), _days(rows), MarkedSentences(Ragged.of(hashes, np.int64), np.concatenate(marks))
    )


def shingles_by_id(
    window: Window, connection: Connection, ids: tuple[int, int] = _ALL_IDS
) -> Iterator[ArticleShingles]:
    """Yield the shingles of all articles up to the window's last day, in batches by id; `ids` as in read_holders."""
    parameters = {**scope_parameters(window), "after_id": ids[0], "last_id": ids[1]}
    while part := _packed(_SHINGLES_BY_ID_SQL, parameters, connection):
        parameters["after_id"] = int(part.ids[-1])
        yield part


def _packed(statement: str, parameters: dict[str, Any], connection: Connection) -> ArticleShingles | None:
    """Return the shingles of the next batch; None: there are no more articles."""
    [(ids, newspapers, days, sizes, stored, texts)] = _copied(
        statement, {**parameters, "batch": _PACKED_BATCH}, connection, _SHINGLES_TYPES
    )
    if ids is None:
        return None
    sizes = np.frombuffer(sizes, dtype=">i4").astype(np.int64) // _HASH_BYTES
    values = np.frombuffer(stored or b"", dtype="<u4")
    if texts:
        # The members of all sets, of which those of a negative size are made.
        made, missing, read = masked_shingle_sets(texts), sizes < 0, values
        sizes[missing] = made.sizes
        values, is_made = np.empty(sizes.sum(), dtype=np.uint32), np.repeat(missing, sizes)
        values[is_made], values[~is_made] = made.values, read
    return ArticleShingles(
        np.frombuffer(ids, dtype=">i8").astype(np.int64),
        np.frombuffer(newspapers, dtype=">i8").astype(np.int64),
        np.frombuffer(days, dtype=">i4").astype(np.int64),
        ShingleSets(values, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])),
    )


def shingles_of_rows(rows: Sequence[Any]) -> ArticleShingles:
    """Return the shingles of rows of id, day, newspaper, shingles or null, and the text if they are null."""
    made = masked_shingle_sets([row[4] for row in rows if row[3] is None])
    fresh = iter(made.split())
    sets = [next(fresh) if row[3] is None else np.frombuffer(row[3], dtype="<u4") for row in rows]
    return ArticleShingles(
        _ids(rows), np.array([row[2] for row in rows], dtype=np.int64), _days(rows), ShingleSets.of(sets, np.uint32)
    )


def _rows(
    statement: str,
    parameters: dict[str, Any],
    begin: datetime.date,
    connection: Connection,
    types: Sequence[str] | None = None,
) -> Iterator[list[Any]]:
    """Yield the rows of a statement from a day on, in batches; with `types` of the columns, it copies them."""
    parameters |= {"batch": _BATCH, "after_day": begin, "after_id": 0}
    while rows := (
        _copied(statement, parameters, connection, types) if types else _fetched(statement, parameters, connection)
    ):
        yield rows
        parameters |= {"after_day": rows[-1][1], "after_id": rows[-1][0]}


def _fetched(statement: str, parameters: dict[str, Any], connection: Connection) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows: list[Any] = cursor.fetchall()
    return rows


def _copied(statement: str, parameters: dict[str, Any], connection: Connection, types: Sequence[str]) -> list[Any]:
    with connection.cursor() as cursor, cursor.copy(cursor.mogrify(statement, parameters)) as copy:
        copy.set_types(types)
        return list(copy.rows())


def first_day_read(window: Window, day_window: int) -> datetime.date:
    """Return the first day whose articles may be paired with one of the window."""
    return datetime.date.fromordinal(max(1, window.first_day.toordinal() - day_window))


def first_row(days: IntArray, window: Window) -> int:
    """Return the position of the window's first article in `days`, which is ascending."""
    return int(np.searchsorted(days, window.first_day.toordinal()))
