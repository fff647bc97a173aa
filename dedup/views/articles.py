"""The list of articles and the page of one; the check of a text; repeated sentences and the whitelist."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import Truncator

from articles.jobs.attached_copies import AttachedCopyError, store_separately
from articles.models import Article, BoilerplateWeek, Newspaper, RepeatedSentence
from articles.normalization.logins import without_login
from articles.paging import count_up_to_ceiling, page_of, page_of_groups
from articles.storage.boilerplate_marks import WhitelistError, end_whitelisting, whitelist_sentence
from articles.storage.incoming import url_fault
from articles.storage.search_index import not_indexed
from dedup.forms.base import CheckForm
from dedup.review.queries.articles import (
    add_snippets,
    add_texts,
    article_details,
    by_sentence,
    mark_whitelisted,
    revision,
    sentence_details,
    stored_under,
    weeks_of,
    with_examples,
)
from dedup.review.queries.check import MAX_CHARACTERS, Pasted
from dedup.review.queries.check import check as check_text
from dedup.review.rules.trials import FetchError, fetch
from dedup.rows.articles import ArticleFilter
from dedup.rows.filtering import BoilerplateFilter
from dedup.views.pairs import comparison
from dedup.views.requests import EditorRequest, address_of, decision_view, refusals


def articles(request: HttpRequest) -> HttpResponse:
    """List the articles, the newest first."""
    shown = Article.objects.without_texts().select_related("newspaper", "membership")
    filterset = ArticleFilter(request.GET, shown.order_by("-date", "-id"))
    page = page_of(filterset.qs, request.GET.get("page"), by_key=True)
    if filterset.searched:
        add_snippets(page.rows, filterset.searched)
    context = {"filter": filterset, "page": page, "not_indexed": count_up_to_ceiling(not_indexed())}
    return render(request, "articles/articles.html", context)


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


@decision_view("article", "article_id")
def copy_store(request: EditorRequest, article_id: int, number: int) -> HttpResponse:
    """Store an attached copy as an article of its own, and show that."""
    with refusals(request, AttachedCopyError, text="It stays attached: {}."):
        article_id = store_separately(number, user=request.user)
        messages.success(request, "This is an article of its own now. The next run compares it.")
    return redirect("article", article_id)


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


_WHITELIST_ACTS = {
    "keep": (whitelist_sentence, "Whitelisted. The next update of these weeks keeps it in every article."),
    "end": (
        end_whitelisting,
        "Removed from the whitelist. The next update of these weeks may mark it as boilerplate again.",
    ),
}


@decision_view("boilerplate", "newspaper_id", "digest", query=True)
def boilerplate_whitelist(request: EditorRequest, newspaper_id: int, digest: UUID, act: str) -> HttpResponse:
    """Put a sentence on the newspaper's whitelist, or remove it."""
    write, done = _WHITELIST_ACTS[act]
    with refusals(request, WhitelistError):
        write(newspaper_id, digest, user=request.user)
        messages.success(request, done)
    there = weeks_of(newspaper_id, digest).exists()
    return redirect(address_of(request, "boilerplate", newspaper_id, digest) if there else "boilerplate_list")


def check(request: HttpRequest) -> HttpResponse:
    """Show the likely copies of a pasted text, or of the article at a URL."""
    if request.method == "POST":
        return _pasted(request, CheckForm(request.POST))
    url = without_login(request.GET.get("url", "").replace("\0", "").strip())
    context: dict[str, Any] = {"url": url, "form": CheckForm()}
    if url:
        if fault := url_fault(url):
            context["fault"] = f"This is not the URL of an article: {fault}."
        elif (article := stored_under(url)) is None:
            context["unknown"] = True
        else:
            pasted = Pasted(article.content[:MAX_CHARACTERS], article.headline, article.date)
            context |= {"article": article, "checked": check_text(pasted, but=article.pk)}
    return render(request, "check/check.html", context)


def _pasted(request: HttpRequest, form: CheckForm, **context: Any) -> HttpResponse:
    """Show what a valid form's text is like, or what is wrong with the form."""
    if form.is_valid():
        values = form.cleaned_data
        context["checked"] = check_text(Pasted(values["text"], values["headline"], values["day"]))
        context["day"] = values["day"]
    return render(request, "check/check.html", {"form": form, **context})


def _checked_address(request: HttpRequest) -> str:
    return f"{reverse('check')}?{urlencode({'url': without_login(request.POST.get('url', ''))})}"


@decision_view(_checked_address)
def check_fetch(request: EditorRequest) -> HttpResponse:
    """Fetch a page that is not stored, and show what its article is like."""
    url = without_login(request.POST.get("url", "").replace("\0", "").strip())
    if url_fault(url) or stored_under(url):
        return redirect(_checked_address(request))
    try:
        article = fetch(url, user=request.user)
    except FetchError as error:
        context = {"url": url, "form": CheckForm(), "fault": str(error)}
        return render(request, "check/check.html", context)
    text = Truncator(article.text).chars(MAX_CHARACTERS, truncate="")
    form = CheckForm({"text": text, "headline": article.headline, "day": article.date})
    return _pasted(request, form, url=url, fetched=True)
