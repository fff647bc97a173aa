"""The list of series (recurring items of a newspaper), the page of a series, and its rule."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.detection.runs.headlines import LEAST_DAYS
from dedup.models import Series
from dedup.review.queries.runs import last_finished_run
from dedup.review.queries.series_and_groups import articles_of, series_details
from dedup.review.rules.rules import RuleError, end_rule, make_rule
from dedup.rows.lists import SeriesFilter
from dedup.views.requests import EditorRequest, decision_view, query_of


def series_list(request: HttpRequest) -> HttpResponse:
    """List the series, the largest first."""
    filterset = SeriesFilter(request.GET, Series.objects.select_related("newspaper"))
    page = page_of(filterset.qs.order_by("-articles", "id"), request.GET.get("page"))
    # Only an empty list asks when somebody looked for series.
    context = {"filter": filterset, "page": page, "last_run": last_finished_run, "least_days": LEAST_DAYS}
    return render(request, "series/series_list.html", context)


def series(request: HttpRequest, series_id: int) -> HttpResponse:
    """Show the articles of a series, the verdicts of its pairs, and its rule."""
    shown = get_object_or_404(Series.objects.select_related("newspaper", "ruled_by"), pk=series_id)
    page = page_of(articles_of(shown), request.GET.get("page"))
    return render(request, "series/series.html", {"series": shown, "page": page, **vars(series_details(shown))})


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
        messages.success(request, f"Rule made: never duplicates of each other. {found} taken apart.")
    return _back(request, series_id)


@decision_view(_address)
def series_end_rule(request: EditorRequest, series_id: int) -> HttpResponse:
    """End the rule of a series."""
    try:
        end_rule(series_id, user=request.user)
    except RuleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Rule ended. The next run judges these pairs again.")
    return _back(request, series_id)


def _back(request: HttpRequest, series_id: int) -> HttpResponse:
    if Series.objects.filter(pk=series_id).exists():
        return redirect(_address(request, series_id))
    return redirect("series_list")
