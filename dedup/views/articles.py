"""The articles, and the page of one."""

from __future__ import annotations

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from articles.models import Article
from articles.paging import page_of
from dedup.filters.articles import ArticleFilter
from dedup.models import Cluster, Pair
from dedup.runs.headlines import series_of_article
from dedup.views.boilerplate import explained

PAIRS_SHOWN = 50
MOST_PROBABLE_FIRST = (F("duplicate_probability").desc(nulls_last=True), "-best_score", "id")


def articles(request: HttpRequest) -> HttpResponse:
    """List the articles, the newest first."""
    stored = Article.objects.without_texts().select_related("newspaper", "membership")
    filterset = ArticleFilter(request.GET, stored)
    page = page_of(filterset.qs.order_by("-date", "-id"), request.GET.get("page"))
    return render(request, "articles/articles.html", {"filter": filterset, "page": page})


def article(request: HttpRequest, article_id: int) -> HttpResponse:
    """Show an article as it was stored, with every URL it was seen under, its cluster and its pairs."""
    shown = get_object_or_404(Article.objects.select_related("newspaper"), pk=article_id)
    pairs = Pair.objects.touching([shown.pk]).with_articles()
    context = {
        "article": shown,
        "urls": shown.urls.all(),
        "cluster": Cluster.objects.with_kept().filter(memberships__article=shown).first(),
        "pairs": pairs.prefetch_related("evidence").order_by(*MOST_PROBABLE_FIRST)[:PAIRS_SHOWN],
        "pairs_shown": PAIRS_SHOWN,
        "series": series_of_article(shown),
        "passages": explained(shown),
    }
    return render(request, "articles/article.html", context)
