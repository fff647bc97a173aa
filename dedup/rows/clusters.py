"""Clusters and stories: their columns and the filters of their lists; and the exports of clusters and of lineages.

A story is what a reader wants to see once. The export of clusters has a row for each of their articles, that of
lineages one for each article that follows another one of its cluster.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import django_filters as filters
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Greatest, Least

from articles.models import Article
from articles.paging import COUNT_CEILING, DEAR_CEILING
from articles.querysets import LONG_TEXTS
from dedup.detection.lineage.articles import Edge, Lineage, LineageArticle
from dedup.models import Cluster, Membership, Pair
from dedup.models.pairs import ClusterQuerySet
from dedup.review.queries.articles import matching
from dedup.review.queries.lineage import traced_clusters
from dedup.review.queries.stories import having, in_several_newspapers
from dedup.rows.articles import ARTICLE, PUBLISHED
from dedup.rows.columns import Column, ColumnType, Filter, Place, Rows
from dedup.rows.files import Export, in_batches
from dedup.rows.filtering import ListFilter, SearchedFilter, Unit, filters_of, newspaper_filter

_article = ARTICLE.api_values()
_SIZE = Filter("size_from", "gte", "Minimum articles", "With so many articles or more.", least=2, most=2**31 - 1)
# What an article in a cluster has of it, too.
_OWN = (
    Column("id", "number of the cluster", file="cluster"),
    Column(
        "state",
        help="“proposed”, or “confirmed”: held together by decisions alone.",
        filters=(Filter(everything="any state"),),
    ),
    Column("size", help="The number of its articles.", filters=(_SIZE,)),
    Column("lowest_probability", source="lowest_score"),
)
CLUSTER = Rows(
    "Articles that a reader would call the same.",
    (
        *_OWN,
        Column("first_day"),
        Column("last_day"),
        Column(
            "kept",
            of=ARTICLE,
            help="The article that represents the cluster.",
            source=lambda cluster: _article(cluster.kept, cluster=cluster.pk),
        ),
        Column(
            "kept_text",
            type=ColumnType.INTEGER,
            help="The id of the article whose text represents it: that of the kept one unless an editor chose another.",
            source=lambda cluster: cluster.kept_text_id or cluster.kept_id,
        ),
    ),
    model=Cluster,
)
_MEMBER = Rows(
    "An article in a cluster.",
    (
        Column("cluster", of=Rows(CLUSTER.help, _OWN, model=Cluster), file=""),
        Column(
            "kept",
            type=ColumnType.BOOLEAN,
            help="Whether this article represents the cluster.",
            source=lambda member: member.cluster.kept_id == member.article_id,
        ),
        Column("relation", help="What it is to the article that represents the cluster; empty: they are not a pair."),
        Column("matched", type=ColumnType.SHARE, help="The share of its words that that article has.", optional=True),
        Column(
            "kept_matched", type=ColumnType.SHARE, help="The share of those of that article that it has.", optional=True
        ),
        Column("article", of=ARTICLE, file=""),
    ),
)


def _members(clusters: QuerySet[Any]) -> Iterator[Membership]:
    both = OuterRef("article_id"), OuterRef("cluster__kept_id")
    pair = Pair.objects.filter(left=Least(*both), right=Greatest(*both)).order_by()
    left, right = (Subquery(pair.values(f"{side}_matched")) for side in ("left", "right"))
    is_left = Q(article_id__lt=F("cluster__kept_id"))
    members = Membership.objects.filter(cluster__in=clusters.order_by().values("pk")).annotate(
        relation=Subquery(pair.values("relation")),
        matched=Case(When(is_left, then=left), default=right),
        kept_matched=Case(When(is_left, then=right), default=left),
    )
    full = members.select_related("cluster", "article__newspaper").defer(*(f"article__{name}" for name in LONG_TEXTS))
    return chain.from_iterable(in_batches(full.order_by("cluster_id", "article_id")))


@filters_of(CLUSTER)
class ClusterFilter(ListFilter):
    """Filters clusters by state, size, newspaper and weakest link."""

    newspaper = newspaper_filter(method="by_newspaper")
    held = filters.ChoiceFilter(
        method=lambda clusters, _name, _value: clusters.weakly_held(),
        choices=[("weak", "with a weak link")],
        label="Links",
        empty_label="any",
    )

    def by_newspaper(self, queryset: ClusterQuerySet, _name: str, value: Unit) -> ClusterQuerySet:
        members = Article.objects.filter(membership__cluster=OuterRef("pk"), newspaper__in=value)
        return queryset.filter(Exists(members))


CLUSTERS = Export("clusters", "clusters, a row for each of their articles", _MEMBER, _members, ClusterFilter)

# ---- stories -----------------------------------------------------------------------------------------

STORY = Rows(
    "A cluster, or an article that is in none.",
    (
        Column(
            "number",
            type=ColumnType.INTEGER,
            help="The lowest id of its articles, which stays when articles join later.",
        ),
        Column(
            "article",
            of=ARTICLE,
            help="The article, or the one that represents the cluster.",
            source=lambda story: _article(story.article, cluster=story.cluster_id),
        ),
        Column("date", type=ColumnType.DAY, filters=PUBLISHED, places=Place(0)),
        Column("first_sentence"),
        Column("articles", type=ColumnType.COUNT, help="The number of its articles, 1 or more."),
        Column(
            "newspapers",
            type=ColumnType.TEXTS,
            help="Those that have it, the first one first.",
            source=lambda story: [source.newspaper for source in story.sources],
        ),
        Column("changed_at", type=ColumnType.MOMENT, help="When the last of its articles was stored."),
    ),
)


@filters_of(STORY, after="newspaper")
class StoryFilter(SearchedFilter):
    """Filters stories by words, newspaper, day and number of newspapers; any of their articles counts."""

    newspaper = newspaper_filter(
        method=lambda stories, _name, unit: having(stories, Article.objects.filter(newspaper__in=unit))
    )
    papers = filters.ChoiceFilter(
        choices=[("2", "two or more"), ("3", "three or more"), ("5", "five or more")],
        method=lambda stories, _name, least: in_several_newspapers(stories, int(least)),
        label="Newspapers that have it",
        empty_label="any number",
    )

    @property
    def ceiling(self) -> int:
        """Up to how many stories are counted: fewer if their articles or newspapers have to be looked up."""
        values = self.values()
        return DEAR_CEILING if any(values.get(name) for name in ("q", "newspaper", "papers")) else COUNT_CEILING

    def by_words(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Return the stories with an article that has these words, or this number or URL."""
        return having(queryset, matching(Article.objects.all(), value))


# ---- lineages ----------------------------------------------------------------------------------------


def _end(side: str, words: str, more: str = "") -> tuple[Column, ...]:
    """Return the columns of one of the two articles; `words` say which one it is."""
    return (
        Column(side, f"number of {words}{more}", ColumnType.INTEGER, source=f"{side}.number"),
        Column(f"{side}_newspaper", f"newspaper of {words}", source=f"{side}.name"),
        Column(
            f"{side}_published",
            f"time of publication of {words} in ISO 8601, or the day alone",
            source=lambda step: str(getattr(step, side).time or getattr(step, side).date),
        ),
    )


def _sentences(name: str, label: str) -> Column:
    return Column(name, label, ColumnType.COUNT, source=lambda step: len(getattr(step.edge, name)))


class _Step(NamedTuple):
    """An article that follows another one of its cluster."""

    cluster: int
    lineage: Lineage
    edge: Edge
    source: LineageArticle
    follower: LineageArticle


_STEP = Rows(
    "An article that follows another one of its cluster.",
    (
        Column("cluster", "number of the cluster", ColumnType.INTEGER),
        Column(
            "cluster_kind",
            help="Wire, release, newspaper, common, or own (of one newspaper or owner).",
            source="lineage.kind.value",
        ),
        Column(
            "cluster_confidence",
            help="How well that is supported: clear, likely or doubtful.",
            source="lineage.confidence.value",
        ),
        *_end("source", "the likely source", ": the article before it that it shares most with, or names"),
        *_end("follower", "the article that follows"),
        Column("kind", "kind of reuse between these two", source="edge.kind.value"),
        Column(
            "direction",
            help="How sure it is that the source came first: clear, likely or doubtful (unknown).",
            source="edge.direction.value",
        ),
        Column(
            "hours",
            type=ColumnType.NUMBER,
            help="Hours from the source to the follower, negative if the source has the later time; empty if unknown.",
            source=lambda step: None if step.edge.hours is None else round(step.edge.hours, 3),
        ),
        Column("days", "days between their days of publication", ColumnType.COUNT, source="edge.days"),
        _sentences("added", "number of sentences that the follower has and the source has not"),
        _sentences("dropped", "number of sentences that the source has and the follower has not"),
        _sentences("changed", "number of sentences that the follower has in other words"),
        Column("reasons", "why, in words", source=lambda step: " ".join(step.edge.reasons)),
    ),
)


def _steps(clusters: QuerySet[Any]) -> Iterator[_Step]:
    for number, lineage, _ in traced_clusters(clusters):
        articles = {article.number: article for article in lineage.articles}
        for edge in lineage.edges:
            yield _Step(number, lineage, edge, articles[edge.source], articles[edge.follower])


# Not among the lists of the page Exports: to trace all clusters takes minutes, which a page does not have.
LINEAGE = Export(
    "lineage", "which article of a cluster follows which, a row for each follower", _STEP, _steps, ClusterFilter
)
