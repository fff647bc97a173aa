"""The list of articles, and the page of an article."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from articles.models import Article
from articles.paging import page_of
from dedup.review.queries.articles import article_details, listed_articles, revision
from dedup.rows.articles import ArticleFilter
from dedup.views.pairs import comparison


def articles(request: HttpRequest) -> HttpResponse:
    """List the articles, the newest first."""
    filterset = ArticleFilter(request.GET, listed_articles())
    page = page_of(filterset.qs, request.GET.get("page"), by_key=True)
    return render(request, "articles/articles.html", {"filter": filterset, "page": page})


def article(request: HttpRequest, article_id: int) -> HttpResponse:
    """Show an article as stored, with its URLs, its cluster and its pairs."""
    shown = get_object_or_404(Article.objects.select_related("newspaper"), pk=article_id)
    if shown.withheld:
        return render(request, "articles/withheld.html", {"article": shown})
    return render(request, "articles/article.html", {"article": shown, **vars(article_details(shown))})


def article_revision(request: HttpRequest, article_id: int, number: int) -> HttpResponse:
    """Show a later version of an article next to the version before it."""
    shown = get_object_or_404(Article.objects.select_related("newspaper"), pk=article_id)
    found = revision(shown, number)
    if found is None:
        raise Http404(f"article {article_id} has no version with a text under number {number}")
    compared = comparison(request, found.before, found.after)
    context = {"article": shown, "revision": found, "unlinked": True, **compared}
    return render(request, "articles/revision.html", context)
