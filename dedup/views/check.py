"""The check of a pasted text, or of the article at a URL."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import Truncator

from articles.normalization.logins import without_login
from articles.storage.incoming import url_fault
from dedup.forms.base import CheckForm
from dedup.review.queries.articles import stored_under
from dedup.review.queries.check import MAX_CHARACTERS, Pasted
from dedup.review.queries.check import check as check_text
from dedup.review.rules.trials import FetchError, fetch
from dedup.views.requests import EditorRequest, decision_view


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


def _address(request: HttpRequest) -> str:
    return f"{reverse('check')}?{urlencode({'url': without_login(request.POST.get('url', ''))})}"


@decision_view(_address)
def check_fetch(request: EditorRequest) -> HttpResponse:
    """Fetch a page that is not stored, and show what its article is like."""
    url = without_login(request.POST.get("url", "").replace("\0", "").strip())
    if url_fault(url) or stored_under(url):
        return redirect(_address(request))
    try:
        article = fetch(url, user=request.user)
    except FetchError as error:
        context = {"url": url, "form": CheckForm(), "fault": str(error)}
        return render(request, "check/check.html", context)
    values = {
        "text": Truncator(article.text).chars(MAX_CHARACTERS, truncate=""),
        "headline": article.headline,
        "day": article.date,
    }
    return _pasted(request, CheckForm(values), url=url, fetched=True)
