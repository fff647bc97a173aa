"""The series that newspapers print again and again, the page of one, and the rule that can be made of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.models import Article
from articles.paging import page_of
from dedup.comparison.recurring import usual_gap
from dedup.filters.pairs import VERDICTS
from dedup.filters.series import SeriesFilter
from dedup.models import Pair, Series
from dedup.review.series_rules import RuleError, articles_of, end_rule, history_of, make_rule, members_of
from dedup.views.articles import MOST_PROBABLE_FIRST
from dedup.views.requests import EditorRequest, decision_view, query_of

PAIRS_SHOWN = 10


def series_list(request: HttpRequest) -> HttpResponse:
    """List the series, the largest first."""
    filterset = SeriesFilter(request.GET, Series.objects.select_related("newspaper"))
    page = page_of(filterset.qs.order_by("-articles", "id"), request.GET.get("page"))
    return render(request, "series/series_list.html", {"filter": filterset, "page": page})


def series(request: HttpRequest, series_id: int) -> HttpResponse:
    """Show the articles of a series, what the comparison says of its pairs, and whether a rule parts them."""
    shown = get_object_or_404(Series.objects.select_related("newspaper", "ruled_by"), pk=series_id)
    articles = articles_of(shown).without_texts().select_related("membership").order_by("-date", "-id")
    pairs = Pair.objects.proposed().among(members_of(shown))
    context = {
        "series": shown,
        "page": page_of(articles, request.GET.get("page")),
        "gap": usual_gap(_days(articles)),
        "verdicts": _by_verdict(pairs),
        "pairs": pairs.with_articles().prefetch_related("evidence").order_by(*MOST_PROBABLE_FIRST)[:PAIRS_SHOWN],
        "pairs_shown": PAIRS_SHOWN,
        "history": history_of(shown),
    }
    return render(request, "series/series.html", context)


def _address(request: HttpRequest, series_id: int) -> str:
    return reverse("series", args=[series_id]) + query_of(request)


@decision_view(_address)
def series_rule(request: EditorRequest, series_id: int) -> HttpResponse:
    """Make it a rule that the articles of a series are never duplicates of each other."""
    try:
        parted = make_rule(series_id, user=request.user)
    except RuleError as error:
        messages.error(request, str(error))
    else:
        found = "1 pair was" if parted == 1 else f"{parted:,} pairs were"
        messages.success(request, f"A rule now: never duplicates of each other. {found} taken apart.")
    return _back(request, series_id)


@decision_view(_address)
def series_end_rule(request: EditorRequest, series_id: int) -> HttpResponse:
    """End the rule of a series."""
    try:
        end_rule(series_id, user=request.user)
    except RuleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The rule is ended; the next run judges these pairs anew.")
    return _back(request, series_id)


def _back(request: HttpRequest, series_id: int) -> HttpResponse:
    if Series.objects.filter(pk=series_id).exists():
        return redirect(_address(request, series_id))
    return redirect("series_list")


def _days(articles: QuerySet[Article]) -> list[Any]:
    return list(articles.order_by("date").values_list("date", flat=True).distinct())


def _by_verdict(pairs: QuerySet[Pair]) -> list[tuple[str, str, int]]:
    """Return value, label and number of pairs of each verdict that there are pairs of."""
    counts = dict(pairs.order_by().values_list("verdict").annotate(Count("pk")))
    named = [(kind or "unjudged", kind) for kind in counts]
    order = list(VERDICTS)
    return [
        (value, VERDICTS[value][0], counts[kind])
        for value, kind in sorted(named, key=lambda each: order.index(each[0]))
    ]
