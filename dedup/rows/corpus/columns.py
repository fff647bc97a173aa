"""The columns of a corpus, of its list of removed articles, and what they mean: the data dictionary."""

from __future__ import annotations

from typing import NamedTuple

from articles.fields import FIELDS, Kind


class Column(NamedTuple):
    """A column. A value may be missing only if its meaning says so."""

    name: str
    kind: Kind
    meaning: str


_CLUSTER = (
    Column("cluster", Kind.INTEGER, "number of its cluster; missing if it has no copies"),
    Column("cluster_state", Kind.TEXT, "proposed or confirmed; missing without a cluster"),
    Column("kept_article", Kind.INTEGER, "number of the article that represents the cluster; its own without one"),
    Column("copies", Kind.INTEGER, "number of other articles of the cluster in the whole archive; 0 without one"),
    Column("newspapers", Kind.TEXTS, "newspapers of the cluster in the order of their first article"),
    Column("first_published", Kind.TEXT, "when the first article of the cluster was published: time if known, or day"),
)
CORPUS = (*(Column(field.name, field.kind, field.meaning) for field in FIELDS), *_CLUSTER)
REMOVED = (
    Column("article", Kind.INTEGER, "number of the removed article"),
    Column("external_id", Kind.TEXT, "its id in the collection that it came from; may be empty"),
    Column("url", Kind.TEXT, "its URL"),
    Column("newspaper", Kind.TEXT, "its newspaper"),
    Column("date", Kind.DAY, "its day of publication"),
    Column("headline", Kind.TEXT, "its headline; may be empty"),
    Column("cluster", Kind.INTEGER, "number of its cluster; missing without one"),
    Column("reason", Kind.TEXT, "why it was removed"),
    Column("represented_by", Kind.INTEGER, "number of the article that represents it; missing if none does"),
    Column("represented_by_external_id", Kind.TEXT, "that article's id in its collection; missing if none does"),
    Column("represented_by_url", Kind.TEXT, "that article's URL; missing if none does"),
    Column("represented_by_newspaper", Kind.TEXT, "that article's newspaper; missing if none does"),
    Column("represented_by_date", Kind.DAY, "that article's day of publication; missing if none does"),
)
CORPUS_NAMES = tuple(column.name for column in CORPUS)
REMOVED_NAMES = tuple(column.name for column in REMOVED)
