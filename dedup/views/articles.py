"""The list of articles and the page of one; the list of repeated sentences, the page of one, and the whitelist."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from articles.models import Article, BoilerplateWeek, Newspaper, RepeatedSentence
from articles.paging import page_of, page_of_groups
from articles.storage.boilerplate_whitelist import WhitelistError, end_whitelisting, whitelist_sentence
from dedup.review.queries.articles import article_details, revision
from dedup.review.queries.boilerplate import (
    add_texts,
    by_sentence,
    mark_whitelisted,
    sentence_details,
    weeks_of,
    with_examples,
)
from dedup.rows.articles import ArticleFilter
from dedup.rows.filtering import BoilerplateFilter
from dedup.views.pairs import comparison
from dedup.views.requests import EditorRequest, address_of, decision_view, refusals


def articles(request: HttpRequest) -> HttpResponse:
    """List the articles, the newest first."""
    shown = Article.objects.without_texts().select_related("newspaper", "membership")
    filterset = ArticleFilter(request.GET, shown.order_by("-date", "-id"))
    page = page_of(filterset.qs, request.GET.get("page"), by_key=True)
    return render(request, "articles/articles.html", {"filter": filterset, "page": page})


def article(request: HttpRequest, article_id: int) -> HttpResponse:
    """Show an article as stored, with its URLs, its cluster and its pairs."""
    shown = get_object_or_404(Article.objects.select_related("newspaper"), pk=article_id)
    if shown.withheld:
        return render(request, "articles/withheld.html", {"article": shown})
    return render(request, "articles/article.html", {"article": shown, **article_details(shown)})


def article_revision(request: HttpRequest, article_id: int, number: int) -> HttpResponse:
    """Show a later version of an article next to the version before it."""
    shown = get_object_or_404(Article.objects.select_related("newspaper"), pk=article_id)
    found = revision(shown, number)
    if found is None:
        raise Http404(f"article {article_id} has no version with a text under number {number}")
    compared = comparison(request, found["before"], found["after"])
    context = {"article": shown, "revision": found, "unlinked": True, **compared}
    return render(request, "articles/revision.html", context)


def boilerplate_list(request: HttpRequest) -> HttpResponse:
    """List the newspapers' boilerplate, the most frequent first."""
    filterset = BoilerplateFilter(request.GET, RepeatedSentence.objects.all())
    page = page_of_groups(by_sentence(filterset.qs), request.GET.get("page"))
    add_texts(page.rows)
    mark_whitelisted(page.rows)
    # Only an empty list asks whether there was a search.
    context = {"filter": filterset, "page": page, "searched": BoilerplateWeek.objects.exists}
    return render(request, "boilerplate/boilerplate_list.html", context)


def boilerplate(request: HttpRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Show in which articles a sentence occurs, by week, and whether it is whitelisted."""
    newspaper = get_object_or_404(Newspaper, pk=newspaper_id)
    details = sentence_details(newspaper_id, digest)
    if details is None:
        raise Http404("This sentence is no longer repeated in any week.")
    page = page_of(weeks_of(newspaper_id, digest), request.GET.get("page"))
    context = {"newspaper": newspaper, "digest": digest, "page": page, "weeks": with_examples(page.rows)}
    return render(request, "boilerplate/boilerplate.html", context | details)


@decision_view("boilerplate", "newspaper_id", "digest", query=True)
def boilerplate_keep(request: EditorRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Put a sentence on the newspaper's whitelist."""
    with refusals(request, WhitelistError):
        whitelist_sentence(newspaper_id, digest, user=request.user)
        messages.success(request, "Whitelisted. The next update of these weeks keeps it in every article.")
    return _back(request, newspaper_id, digest)


@decision_view("boilerplate", "newspaper_id", "digest", query=True)
def boilerplate_end_keeping(request: EditorRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Remove a sentence from the newspaper's whitelist."""
    with refusals(request, WhitelistError):
        end_whitelisting(newspaper_id, digest, user=request.user)
        messages.success(
            request, "Removed from the whitelist. The next update of these weeks may mark it as boilerplate again."
        )
    return _back(request, newspaper_id, digest)


def _back(request: HttpRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    there = weeks_of(newspaper_id, digest).exists()
    return redirect(address_of(request, "boilerplate", newspaper_id, digest) if there else "boilerplate_list")
