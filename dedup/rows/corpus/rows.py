"""The rows of a corpus and of its list of removed articles, and their columns: the data dictionary.

All rows need the tables that places.py has filled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from itertools import islice
from typing import Any

from django.db import connection, transaction

from articles.fields import FIELDS
from articles.files.exporting import ExportedRow, exported_rows
from articles.models import Article
from dedup.detection.article_sql import article_sql
from dedup.rows.columns import Column, ColumnType
from dedup.rows.corpus.places import Asked

_INTEGER = ColumnType.INTEGER
# The types of an article's fields have the same words.
_TYPES = {column_type.words: column_type for column_type in ColumnType}
_CLUSTER = (
    Column("cluster", type=_INTEGER, help="number of its cluster; missing if it has no copies"),
    Column("cluster_state", help="proposed or confirmed; missing without a cluster"),
    Column(
        "kept_article", type=_INTEGER, help="number of the article that represents the cluster; its own without one"
    ),
    Column("copies", type=_INTEGER, help="number of other articles of the cluster in the whole archive; 0 without one"),
    Column("newspapers", type=ColumnType.TEXTS, help="newspapers of the cluster in the order of their first article"),
    Column("first_published", help="when the first article of the cluster was published: time if known, or day"),
)
CORPUS = (*(Column(field.name, type=_TYPES[field.kind], help=field.meaning) for field in FIELDS), *_CLUSTER)
REMOVED = (
    Column("article", type=_INTEGER, help="number of the removed article"),
    Column("external_id", help="its id in the collection that it came from; may be empty"),
    Column("url", help="its URL"),
    Column("newspaper", help="its newspaper"),
    Column("date", type=ColumnType.DAY, help="its day of publication"),
    Column("headline", help="its headline; may be empty"),
    Column("cluster", type=_INTEGER, help="number of its cluster; missing without one"),
    Column("reason", help="why it was removed"),
    Column("represented_by", type=_INTEGER, help="number of the article that represents it; missing if none does"),
    Column("represented_by_external_id", help="that article's id in its collection; missing if none does"),
    Column("represented_by_url", help="that article's URL; missing if none does"),
    Column("represented_by_newspaper", help="that article's newspaper; missing if none does"),
    Column("represented_by_date", type=ColumnType.DAY, help="that article's day of publication; missing if none does"),
)
_CLUSTER_NAMES = tuple(column.name for column in _CLUSTER)
CORPUS_NAMES = tuple(column.name for column in CORPUS)
REMOVED_NAMES = tuple(column.name for column in REMOVED)

# Articles whose places are looked up at a time, with their texts.
_ARTICLES_AT_ONCE = 500
_REMOVED_AT_ONCE = 2_000

_PLACES_SQL = """
SELECT place.article_id, place.reason IS NULL, cluster.id, cluster.state, cluster.kept, cluster.copies,
       cluster.newspapers, cluster.first_published
FROM corpus_place AS place LEFT JOIN corpus_cluster AS cluster ON cluster.id = place.cluster_id
WHERE place.article_id = ANY (%(ids)s)
"""
# The columns of REMOVED, in their order.
_REMOVED_SQL = article_sql(
    """
SELECT article.id, article.external_id, article.url, newspaper.name, article.date, article.headline,
       place.cluster_id, place.reason,
       other.id, other.external_id, other.url, other_newspaper.name, other.date
FROM corpus_place AS place
JOIN {articles} AS article ON article.id = place.article_id
JOIN articles_newspaper AS newspaper ON newspaper.id = article.newspaper_id
LEFT JOIN {articles} AS other ON other.id = place.represented_by
LEFT JOIN articles_newspaper AS other_newspaper ON other_newspaper.id = other.newspaper_id
WHERE place.reason IS NOT NULL
ORDER BY article.date, article.id
"""
)
_REASONS_SQL = "SELECT reason, count(*) FROM corpus_place WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason"


def corpus_rows(asked: Asked) -> Generator[ExportedRow]:
    """Yield the articles that stay, by day and id, with the columns of CORPUS."""
    articles = Article.objects.in_scope(**asked.part.bounds())
    rows = exported_rows(asked.boilerplate, articles, columns=CORPUS_NAMES)
    while batch := list(islice(rows, _ARTICLES_AT_ONCE)):
        with connection.cursor() as cursor:
            cursor.execute(_PLACES_SQL, {"ids": [row.values["id"] for row in batch]})
            places = {article: place for article, *place in cursor.fetchall()}
        for row in batch:
            article = row.values
            # An article without a cluster is one by itself.
            alone = [None, None, article["id"], 0, [article["newspaper"]], article["published_at"] or article["date"]]
            stays, *facts = places.get(article["id"], [True, None])
            if stays:
                facts = alone if facts[0] is None else facts
                yield ExportedRow(article | dict(zip(_CLUSTER_NAMES, facts, strict=True)), row.extra)


def removed_rows() -> Generator[dict[str, Any]]:
    """Yield the articles that leave, by day and id, with the columns of REMOVED."""
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(_REMOVED_SQL)
        while batch := cursor.fetchmany(_REMOVED_AT_ONCE):
            for row in batch:
                yield dict(zip(REMOVED_NAMES, row, strict=True))


def removed_by_reason() -> Counter[str]:
    """Return how many articles leave, by reason."""
    with connection.cursor() as cursor:
        cursor.execute(_REASONS_SQL)
        return Counter(dict(cursor.fetchall()))
