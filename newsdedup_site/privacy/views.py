"""The pages on which admins remove newspapers and articles, withhold articles, and read the log of it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from articles.forms import StyledForm, UserRequest
from articles.models import Article, Newspaper, Removal, Withholding
from articles.paging import page_of
from dedup.detection.runs.requests import is_worker_alive
from newsdedup_site.privacy import removal, retention


class ReasonForm(StyledForm):
    reason = forms.CharField(
        max_length=removal.MAX_REASON_CHARACTERS,
        label="Reason",
        help_text="Who asked for it, and why. It stays in the log, so do not quote the article.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class RemovalForm(ReasonForm):
    """What is removed, typed again so that nobody removes by mistake, and why."""

    field_order = ("confirm", "reason")
    confirm = forms.CharField(
        max_length=300,
        strip=True,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def __init__(self, *args: Any, wanted: str, what: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.wanted = wanted
        self.fields["confirm"].label = f"Type {what} to confirm"

    def clean_confirm(self) -> str:
        """Return what was typed if it is exactly what is to be removed."""
        typed: str = self.cleaned_data["confirm"]
        if typed != self.wanted:
            raise forms.ValidationError(f"“{typed}” is not “{self.wanted}”. Type it exactly, or nothing is removed.")
        return typed


class PageDaysForm(StyledForm, forms.ModelForm[Newspaper]):
    """For how many days the fetched pages of a newspaper are kept."""

    class Meta:
        model = Newspaper
        fields = ("page_days",)


# Articles whose texts are deleted before the page answers; a worker deletes those of the others.
HIDDEN_BEFORE_ANSWER = 1_000
WITHHELD_SHOWN = 200


def removals(request: HttpRequest) -> HttpResponse:
    """Show the log of removals, and the articles that are withheld."""
    rows = Removal.objects.select_related("requested_by", "lifted_by").order_by("-pk")
    withheld = Withholding.objects.select_related("article__newspaper", "withheld_by", "released_by").order_by("-pk")
    context = {
        "page": page_of(rows, request.GET.get("page")),
        "withheld": withheld.filter(released_at=None)[:WITHHELD_SHOWN],
        "released": withheld.exclude(released_at=None)[:WITHHELD_SHOWN],
        "worker_alive": is_worker_alive(),
    }
    return render(request, "privacy/removals.html", context)


def newspaper_remove(request: UserRequest, newspaper_id: int) -> HttpResponse:
    """Show what the removal of a newspaper would take; remove it if its name is typed."""
    newspaper = get_object_or_404(Newspaper, pk=newspaper_id)
    form = RemovalForm(request.POST or None, wanted=newspaper.name, what="the name of the newspaper")
    begin = partial(removal.begin_newspaper, newspaper)
    return _remove(request, form, partial(removal.preview_newspaper, newspaper), begin, newspaper=newspaper)


def article_remove(request: UserRequest, article_id: int) -> HttpResponse:
    """Show what the removal of an article would take; remove it if its number is typed."""
    article = get_object_or_404(Article.objects.select_related("newspaper"), pk=article_id)
    form = RemovalForm(request.POST or None, wanted=str(article.pk), what="the number of the article")
    begin = partial(removal.begin_articles, [article_id])
    return _remove(request, form, partial(removal.preview_article, article_id), begin, article=article)


def _remove(
    request: UserRequest,
    form: RemovalForm,
    preview: Callable[[], removal.Preview],
    begin: Callable[..., Removal],
    **context: Any,
) -> HttpResponse:
    try:
        if request.method == "POST" and form.is_valid():
            begun = begin(reason=form.cleaned_data["reason"], user=request.user)
            hidden = removal.hide(begun, at_most=HIDDEN_BEFORE_ANSWER)
            removal.request_removal(begun, user=request.user)
            what = "No page shows it any more" if hidden else "A worker is deleting the texts"
            messages.success(request, f"Removal {begun.pk} has begun. {what}; a worker removes the rest.")
            return redirect("removals")
        context["preview"] = preview()
    except removal.RemovalError as error:
        context["fault"] = f"{error}."
    context |= {"form": form, "wanted": form.wanted}
    return render(request, "privacy/remove.html", context, status=400 if form.errors else 200)


def newspaper_pages(request: UserRequest, newspaper_id: int) -> HttpResponse:
    """Set for how many days the fetched pages of a newspaper are kept; first show what a worker would delete."""
    newspaper = get_object_or_404(Newspaper.objects.in_use(), pk=newspaper_id)
    form = PageDaysForm(request.POST or None, instance=newspaper)
    context: dict[str, Any] = {"newspaper": newspaper, "form": form, "kept": retention.count_old(newspaper, 0)}
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["page_days"]
        if "preview" not in request.POST:
            retention.set_page_days(newspaper, days, user=request.user)
            messages.success(request, f"The fetched pages of {newspaper} are kept {retention.kept_for(days)}.")
            return redirect("newspaper_crawls", newspaper.pk)
        context |= {"previewed": True, "goes": retention.count_old(newspaper, days) if days else 0}
    return render(request, "privacy/pages.html", context, status=400 if form.errors else 200)


def removal_continue(request: UserRequest, removal_id: int) -> HttpResponse:
    found = get_object_or_404(Removal, pk=removal_id)
    if request.method == "POST" and found.state == Removal.State.RUNNING:
        removal.request_removal(found, user=request.user)
        messages.success(request, f"Removal {found.pk} waits for a worker.")
    return redirect("removals")


def removal_lift(request: UserRequest, removal_id: int) -> HttpResponse:
    found = get_object_or_404(Removal, pk=removal_id)
    allow = partial(removal.allow_again, found, user=request.user)
    return _do(request, allow, f"What removal {found.pk} took is no longer refused.", "removals")


def article_withhold(request: UserRequest, article_id: int) -> HttpResponse:
    """Ask why an article is to be withheld, and withhold it."""
    article = get_object_or_404(Article.objects.select_related("newspaper"), pk=article_id)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            removal.withhold(article_id, **form.cleaned_data, user=request.user)
        except removal.RemovalError as error:
            form.add_error(None, f"{str(error).capitalize()}.")
        else:
            messages.success(request, f"Article {article_id} is withheld. The page Removals can release it.")
            return redirect("article", article_id)
    context = {"article": article, "form": form}
    return render(request, "privacy/withhold.html", context, status=400 if form.errors else 200)


def article_release(request: UserRequest, article_id: int) -> HttpResponse:
    release = partial(removal.release, article_id, user=request.user)
    done = f"Article {article_id} is shown again. The next run finds its pairs."
    return _do(request, release, done, "article", article_id)


def _do(request: UserRequest, act: Callable[[], object], done: str, page: str, *row: int) -> HttpResponse:
    """Act on a POST, say how that ended, and return to the page."""
    if request.method == "POST":
        try:
            act()
        except removal.RemovalError as error:
            messages.error(request, f"{str(error).capitalize()}.")
        else:
            messages.success(request, done)
    return redirect(page, *row)
