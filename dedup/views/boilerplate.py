"""The sentences that newspapers repeat, the page of one, and the whitelist that keeps it in their articles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Max, Min, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse

from articles.boilerplate.rules import monday_of
from articles.models import Article, Newspaper, RepeatedSentence, WhitelistedSentence
from articles.normalization.text import normalize_text, text_digest
from articles.paging import page_of
from articles.storage.boilerplate_whitelist import WhitelistError, end_whitelisting, history_of, whitelist_sentence
from dedup.comparison.highlighting import passages
from dedup.filters.boilerplate import BoilerplateFilter
from dedup.views.requests import EditorRequest, decision_view, query_of

WHITELIST = "articles.add_whitelistedsentence"
# Articles named of each week.
EXAMPLES = 3


def boilerplate_list(request: HttpRequest) -> HttpResponse:
    """List each newspaper's boilerplate, what stands in most articles first."""
    filterset = BoilerplateFilter(request.GET, RepeatedSentence.objects.all())
    page = page_of(_by_sentence(filterset.qs), request.GET.get("page"))
    digests = {row["digest"] for row in page.rows}
    whitelisted = set(
        WhitelistedSentence.objects.filter(digest__in=digests).order_by().values_list("newspaper", "digest")
    )
    for row in page.rows:
        row["whitelisted"] = (row["newspaper"], row["digest"]) in whitelisted
    return render(request, "boilerplate/boilerplate_list.html", {"filter": filterset, "page": page})


def _by_sentence(rows: QuerySet[RepeatedSentence]) -> QuerySet[Any]:
    grouped = rows.order_by().values("newspaper", "newspaper__name", "digest")
    counted = grouped.annotate(
        text=Min("sentence"), total=Sum("articles"), weeks=Count("pk"), first_week=Min("week"), last_week=Max("week")
    )
    return counted.order_by("-total", "newspaper", "digest")


def boilerplate(request: HttpRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Show where a sentence stands, week by week, and whether it is whitelisted."""
    newspaper = get_object_or_404(Newspaper, pk=newspaper_id)
    rows = RepeatedSentence.objects.filter(newspaper=newspaper, digest=digest)
    kept = WhitelistedSentence.objects.select_related("whitelisted_by").filter(newspaper=newspaper, digest=digest)
    latest, whitelisted = rows.order_by("-week").first(), kept.first()
    if latest is None and whitelisted is None:
        raise Http404("This sentence is repeated in no week any more.")
    page = page_of(rows.order_by("-week"), request.GET.get("page"))
    context = {
        "newspaper": newspaper,
        "digest": digest,
        "text": latest.sentence if latest else whitelisted and whitelisted.sentence,
        "page": page,
        "weeks": _with_examples(page.rows),
        "total": rows.aggregate(total=Sum("articles"))["total"] or 0,
        "latest": latest,
        "whitelisted": whitelisted,
        # What the last look said, before the whitelist changed.
        "pending": latest is not None
        and (latest.kind == RepeatedSentence.Kind.WHITELISTED) != (whitelisted is not None),
        "history": history_of(newspaper_id, digest),
    }
    return render(request, "boilerplate/boilerplate.html", context)


def _with_examples(rows: Any) -> list[tuple[RepeatedSentence, list[Article]]]:
    wanted = {pk for row in rows for pk in row.article_ids[:EXAMPLES]}
    articles = Article.objects.without_texts().in_bulk(wanted)
    return [(row, [articles[pk] for pk in row.article_ids[:EXAMPLES] if pk in articles]) for row in rows]


def _address(request: HttpRequest, newspaper_id: int, digest: UUID) -> str:
    return reverse("boilerplate", args=[newspaper_id, digest]) + query_of(request)


@decision_view(_address, permission=WHITELIST)
def boilerplate_keep(request: EditorRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Put a sentence on the newspaper's whitelist."""
    try:
        whitelist_sentence(newspaper_id, digest, user=request.user)
    except WhitelistError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Whitelisted: the next look at these weeks keeps it in every article.")
    return _back(request, newspaper_id, digest)


@decision_view(_address, permission=WHITELIST)
def boilerplate_end_keeping(request: EditorRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    """Take a sentence off the newspaper's whitelist."""
    try:
        end_whitelisting(newspaper_id, digest, user=request.user)
    except WhitelistError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Off the whitelist: the next look at these weeks may mark it again.")
    return _back(request, newspaper_id, digest)


def _back(request: HttpRequest, newspaper_id: int, digest: UUID) -> HttpResponse:
    if RepeatedSentence.objects.filter(newspaper_id=newspaper_id, digest=digest).exists():
        return redirect(_address(request, newspaper_id, digest))
    return redirect("boilerplate_list")


@dataclass(frozen=True, slots=True)
class Explained:
    """A stretch of an article; behind boilerplate a note says in how many articles it stands, and links to its page."""

    text: str
    boilerplate: bool
    note: str = ""
    link: str = ""


def explained(article: Article) -> list[Explained]:
    """Return the article's content in stretches, and what is known of those that are boilerplate.

    Neighbours that stand in as many articles have one note, behind the last of them.
    """
    rows = _repeated_in(article) if article.boilerplate else {}
    stretches: list[Explained] = []
    said = 0
    for each in reversed(list(passages(article.content, article.boilerplate))):
        row = rows.get(text_digest(normalize_text(each.text))) if each.boilerplate else None
        if row and row.articles != said:
            note = f"in {row.articles:,} article{pluralize(row.articles)} of this week"
            stretches.append(
                Explained(each.text, True, note, reverse("boilerplate", args=[row.newspaper_id, row.digest]))
            )
        else:
            stretches.append(Explained(each.text, each.boilerplate))
        if each.text.strip():
            said = row.articles if row else 0
    return stretches[::-1]


def _repeated_in(article: Article) -> dict[UUID | None, RepeatedSentence]:
    rows = RepeatedSentence.objects.filter(newspaper=article.newspaper_id, week=monday_of(article.date))
    return {row.digest: row for row in rows.filter(article_ids__contains=[article.pk])}
