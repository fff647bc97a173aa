"""The list of repeated sentences, the page of a sentence, and the whitelist."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.models import BoilerplateWeek, Newspaper, RepeatedSentence
from articles.paging import page_of, page_of_groups
from articles.storage.boilerplate_whitelist import WhitelistError, end_whitelisting, whitelist_sentence
from dedup.review.queries.boilerplate import (
    add_texts,
    by_sentence,
    mark_whitelisted,
    sentence_details,
    weeks_of,
    with_examples,
)
from dedup.rows.lists import BoilerplateFilter
from dedup.views.requests import EditorRequest, decision_view, query_of


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
    return render(request, "boilerplate/boilerplate.html", context | vars(details))


def _address(request: HttpRequest, newspaper_id: int, digest: UUID) -> str:
    return reverse("boilerplate", args=[newspaper_id, digest]) + query_of(request)


@decision_view(_address)
def boilerplate_keep(request: EditorRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Put a sentence on the newspaper's whitelist."""
    try:
        whitelist_sentence(newspaper_id, digest, user=request.user)
    except WhitelistError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Whitelisted. The next update of these weeks keeps it in every article.")
    return _back(request, newspaper_id, digest)


@decision_view(_address)
def boilerplate_end_keeping(request: EditorRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Remove a sentence from the newspaper's whitelist."""
    try:
        end_whitelisting(newspaper_id, digest, user=request.user)
    except WhitelistError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, "Removed from the whitelist. The next update of these weeks may mark it as boilerplate again."
        )
    return _back(request, newspaper_id, digest)


def _back(request: HttpRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    if weeks_of(newspaper_id, digest).exists():
        return redirect(_address(request, newspaper_id, digest))
    return redirect("boilerplate_list")
