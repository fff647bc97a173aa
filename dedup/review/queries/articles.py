"""The list of articles, and the page of an article."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from articles.files.json_members import members_of, plain
from articles.models import Article, ArticleURL, HeadlineVariant
from articles.querysets import ArticleQuerySet
from dedup.models import Cluster, DenseGroup, Pair, Series
from dedup.review.queries.boilerplate import Explained, explained
from dedup.review.queries.groups import group_of_article
from dedup.review.queries.pairs import most_probable
from dedup.review.queries.revisions import ListedRevision, listed_revisions
from dedup.review.queries.series import series_of_article

PAIRS_SHOWN = 50


@dataclass(frozen=True)
class ArticleDetails:
    """What the page of an article shows besides the article."""

    urls: QuerySet[ArticleURL]
    headlines: QuerySet[HeadlineVariant]
    revisions: list[ListedRevision]
    extra: list[tuple[str, str]]
    cluster: Cluster | None
    pairs: QuerySet[Pair]
    series: Series | None
    group: DenseGroup | None
    passages: list[Explained]
    pairs_shown: int = PAIRS_SHOWN


def listed_articles() -> ArticleQuerySet:
    """Return all articles with the fields that the list shows, the newest first."""
    return Article.objects.without_texts().select_related("newspaper", "membership").order_by("-date", "-id")


def article_details(article: Article) -> ArticleDetails:
    """Return what the page of an article shows: its URLs, other headlines, cluster, pairs and series."""
    return ArticleDetails(
        urls=article.urls.all(),
        headlines=article.headline_variants.all(),
        revisions=listed_revisions(article),
        extra=[(plain(each.name_json), plain(each.value_json)) for each in members_of(article.extra_columns)],
        cluster=Cluster.objects.with_kept().filter(memberships__article=article).first(),
        pairs=most_probable(Pair.objects.touching([article.pk]), PAIRS_SHOWN),
        series=series_of_article(article),
        group=group_of_article(article),
        passages=explained(article),
    )
