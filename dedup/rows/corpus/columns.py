"""The columns of a corpus, of its list of removed articles, and what they mean: the data dictionary."""

from __future__ import annotations

from articles.fields import FIELDS
from dedup.rows.columns import Column, ColumnType

_INTEGER = ColumnType.INTEGER
# The types of an article's fields have the same words.
_TYPES = {column_type.words: column_type for column_type in ColumnType}
_CLUSTER = (
    Column("cluster", type=_INTEGER, help="number of its cluster; missing if it has no copies"),
    Column("cluster_state", help="proposed or confirmed; missing without a cluster"),
    Column(
        "kept_article",
        type=_INTEGER,
        help="number of the article that represents the cluster; its own without one",
    ),
    Column(
        "copies",
        type=_INTEGER,
        help="number of other articles of the cluster in the whole archive; 0 without one",
    ),
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
CORPUS_NAMES = tuple(column.name for column in CORPUS)
REMOVED_NAMES = tuple(column.name for column in REMOVED)
