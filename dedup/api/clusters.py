"""Clusters: listed and read, with their articles; and stories, what a reader wants to see once."""

from functools import partial
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router

from articles.models import Article
from dedup.api.auth import READS
from dedup.api.requests import Number, Page, PageQuery, page_of
from dedup.api.shapes import ArticleRow, ClusterRow, StoryRow, article_row, cluster_row, filtered, filtering, story_row
from dedup.models import Cluster
from dedup.review.queries.stories import listed_stories, stories_of
from dedup.rows.clusters import CLUSTER, STORY

router = Router(tags=["clusters"])


@partial(filtering, CLUSTER)
class ClusterQuery(PageQuery):
    """Which clusters to list."""


@router.get("", auth=READS, response=Page[ClusterRow], summary="List clusters")
def list_clusters(request: HttpRequest, query: Query[ClusterQuery]) -> Page[Any]:
    """List clusters by their number."""
    return page_of(request, filtered(Cluster.objects.with_kept(), CLUSTER, query), query, ("id",), cluster_row)


@router.get("/{int:cluster_id}", auth=READS, response=ClusterRow, summary="Read a cluster")
def read_cluster(request: HttpRequest, cluster_id: Number) -> dict[str, Any]:
    """Return a cluster. Its number stays while most of its articles stay together."""
    return cluster_row(get_object_or_404(Cluster.objects.with_kept(), pk=cluster_id))


@router.get("/{int:cluster_id}/articles", auth=READS, response=Page[ArticleRow], summary="List a cluster's articles")
def list_members(request: HttpRequest, cluster_id: Number, query: Query[PageQuery]) -> Page[Any]:
    """List the articles of a cluster, the earliest first."""
    get_object_or_404(Cluster, pk=cluster_id)
    rows = Article.objects.without_texts().select_related("newspaper", "membership")
    return page_of(request, rows.filter(membership__cluster=cluster_id), query, ("date", "id"), article_row)


stories = Router(tags=["stories"])


@partial(filtering, STORY)
class StoryQuery(PageQuery):
    """Which stories to list, by the day of the article that represents each."""


@stories.get("", auth=READS, response=Page[StoryRow], summary="List stories")
def list_stories(request: HttpRequest, query: Query[StoryQuery]) -> Page[Any]:
    """List each cluster once, and each article that is in no cluster; the latest first."""
    page = page_of(request, filtered(listed_stories(), STORY, query), query, ("-date", "-id"), lambda article: article)
    return Page(data=[story_row(story) for story in stories_of(page.data)], next=page.next)
