"""Traces the lineage of clusters: reads what is asked about their articles, and only the different texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Case, F, QuerySet, When

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.models import Article, Newspaper
from articles.normalization.times import Precision, PublicationTime
from dedup.detection.comparison.prepared import ArticleText, Preparer
from dedup.detection.lineage.articles import Lineage, LineageArticle, Text
from dedup.detection.lineage.trace import texts_to_read, trace
from dedup.models import Cluster, Membership

# Clusters are read together until they have so many articles; a larger one is read by itself.
ARTICLES_AT_ONCE = 2_000


class TracedCluster(NamedTuple):
    """The lineage of a cluster, and its texts as they were compared, without boilerplate, by their keys."""

    cluster_id: int
    lineage: Lineage
    compared: dict[str, str]


def traced_clusters(
    clusters: QuerySet[Cluster], articles_of: QuerySet[Article] | None = None
) -> Iterator[TracedCluster]:
    """Yield the lineage of each cluster, by number; memory holds the texts of one batch.

    Of `articles_of`, only these articles are traced, and clusters with fewer than two of them are left out.
    """
    newspapers = Newspaper.objects.in_bulk()
    with transaction.atomic():
        batch: list[int] = []
        articles = 0
        for number, size in clusters.order_by("pk").values_list("pk", "size").iterator():
            if batch and articles + size > ARTICLES_AT_ONCE:
                yield from _traced(batch, newspapers, articles_of)
                batch, articles = [], 0
            batch.append(number)
            articles += size
        yield from _traced(batch, newspapers, articles_of)


_FACTS = (
    *("cluster_id", "article_id", "article__newspaper_id", "article__date", "article__published_at"),
    *("article__published_offset", "article__published_precision", "article__date_doubt", "article__agency"),
    *("article__byline", "text_key"),
)
# Shared phrases are not counted here.
_NO_SHINGLES = np.empty(0, dtype=np.uint32)
# What is compared: the text without boilerplate.
_DIGEST = Case(When(article__topic_text=None, then=F("article__text_digest")), default=F("article__topic_digest"))


def _traced(
    numbers: Sequence[int], newspapers: dict[int, Newspaper], articles_of: QuerySet[Article] | None
) -> Iterator[TracedCluster]:
    members: dict[int, list[LineageArticle]] = {number: [] for number in numbers}
    facts = Membership.objects.filter(cluster__in=numbers).annotate(text_key=_DIGEST).order_by()
    if articles_of is not None:
        facts = facts.filter(article__in=articles_of)
    for row in facts.values_list(*_FACTS):
        members[row[0]].append(_article(row, newspapers))
    members = {number: articles for number, articles in members.items() if len(articles) > 1}
    wanted = {number: texts_to_read(articles) for number, articles in members.items()}
    contents = _contents([article for texts in wanted.values() for article in texts.values()])
    preparer = Preparer()
    for number, articles in members.items():
        texts: dict[str, Text] = {}
        compared: dict[str, str] = {}
        by_number = {each.number: each for each in articles}
        for key, article in wanted[number].items():
            content, compared[key] = contents[article]
            of = by_number[article]
            prepared = preparer.prepare(ArticleText(of.newspaper, of.date, "", compared[key], masked=_NO_SHINGLES))
            texts[key] = Text(content, prepared)
        yield TracedCluster(number, trace(articles, texts), compared)


def _article(row: Sequence[Any], newspapers: dict[int, Newspaper]) -> LineageArticle:
    _, number, newspaper_id, date, at, offset, precision, doubt, agency, byline, digest = row
    newspaper = newspapers[newspaper_id]
    return LineageArticle(
        number=number,
        newspaper=newspaper_id,
        name=newspaper.name,
        host=newspaper.host,
        owner=newspaper.owner,
        date=date,
        time=PublicationTime(at, offset, Precision(precision)) if at is not None else None,
        date_doubt=doubt,
        agency=agency,
        byline=byline,
        text_key=str(digest or ""),
    )


def _contents(articles: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return the content of each article, and what of it is compared."""
    rows = Article.objects.filter(pk__in=articles).order_by().values_list("pk", "content", "boilerplate")
    return {pk: (content, without_boilerplate(content, marks, Mode.TOPIC)) for pk, content, marks in rows}
