"""The articles, and the page of one."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from articles.models import Article, ArticleURL
from articles.querysets import ArticleQuerySet
from dedup.models import Cluster, Pair, Series
from dedup.review.queries.boilerplate import Explained, explained
from dedup.review.queries.pairs import most_probable
from dedup.review.queries.series import series_of_article

PAIRS_SHOWN = 50


@dataclass(frozen=True)
class ArticleDetails:
    """What is known of an article, apart from what is stored with it."""

    urls: QuerySet[ArticleURL]
    cluster: Cluster | None
    pairs: QuerySet[Pair]
    series: Series | None
    passages: list[Explained]
    pairs_shown: int = PAIRS_SHOWN


def listed_articles() -> ArticleQuerySet:
    """Return all articles with what a list shows of them, the newest first."""
    return Article.objects.without_texts().select_related("newspaper", "membership").order_by("-date", "-id")


def article_details(article: Article) -> ArticleDetails:
    """Return what the page of an article shows: every URL it was seen under, its cluster, its pairs, its series."""
    return ArticleDetails(
        urls=article.urls.all(),
        cluster=Cluster.objects.with_kept().filter(memberships__article=article).first(),
        pairs=most_probable(Pair.objects.touching([article.pk]), PAIRS_SHOWN),
        series=series_of_article(article),
        passages=explained(article),
    )
