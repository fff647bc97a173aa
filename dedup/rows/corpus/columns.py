"""The columns of a corpus, of its list of removed articles, and what they mean: the data dictionary."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from articles.files.extra_columns import OWN_COLUMNS


class Kind(StrEnum):
    """The type of a column's values, in the words of the data dictionary."""

    INTEGER = "integer"
    TEXT = "text"
    DAY = "day, YYYY-MM-DD"
    YES_NO = "boolean"
    TEXTS = "list of texts"
    URLS = "list of objects with url and kind"
    HEADLINES = "list of objects with headline, date and url"


class Column(NamedTuple):
    """A column. A value may be missing only if its meaning says so."""

    name: str
    kind: Kind
    meaning: str


_ARTICLE = (
    Column("id", Kind.INTEGER, "number of the article in this installation"),
    Column("external_id", Kind.TEXT, "its id in the collection that it came from; may be empty"),
    Column("date", Kind.DAY, "day of publication"),
    Column("published_at", Kind.TEXT, "time of publication in ISO 8601, with its offset if known; may be empty"),
    Column("headline", Kind.TEXT, "headline; may be empty"),
    Column("url", Kind.TEXT, "URL that it was first stored under; different for every article"),
    Column("content", Kind.TEXT, "text, without boilerplate if that was asked for"),
    Column("language", Kind.TEXT, "detected language, ISO 639; empty if uncertain"),
    Column("byline", Kind.TEXT, "authors as the source names them; may be empty"),
    Column("agency", Kind.TEXT, "news agency credited with the text; may be empty"),
    Column("dateline", Kind.TEXT, "place and date before the first sentence; may be empty"),
    Column("newspaper", Kind.TEXT, "name of the newspaper"),
    Column("date_source", Kind.TEXT, "where the date was read; empty for old imports"),
    Column("date_doubt", Kind.TEXT, "why the date may be wrong; empty if certain"),
    Column("text_doubt", Kind.TEXT, "why the text may be incomplete or not the article's; empty if certain"),
    Column("paywalled", Kind.YES_NO, "whether the source showed only the beginning"),
    Column("urls", Kind.URLS, "every URL under which the article was seen"),
    Column("headlines", Kind.HEADLINES, "other headlines under which it came again"),
)
_CLUSTER = (
    Column("cluster", Kind.INTEGER, "number of its cluster; missing if it has no copies"),
    Column("cluster_state", Kind.TEXT, "proposed or confirmed; missing without a cluster"),
    Column("kept_article", Kind.INTEGER, "number of the article that represents the cluster; its own without one"),
    Column("copies", Kind.INTEGER, "number of other articles of the cluster in the whole archive; 0 without one"),
    Column("newspapers", Kind.TEXTS, "newspapers of the cluster in the order of their first article"),
    Column("first_published", Kind.TEXT, "when the first article of the cluster was published: time if known, or day"),
)
CORPUS = (*(next(each for each in _ARTICLE if each.name == name) for name in OWN_COLUMNS), *_CLUSTER)
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
CORPUS_NAMES = tuple(each.name for each in CORPUS)
REMOVED_NAMES = tuple(each.name for each in REMOVED)
