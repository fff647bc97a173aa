"""Series (recurring items of a newspaper) and dense groups: their lists, pages, rules and confirmations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.detection.runs.headlines import LEAST_DAYS
from dedup.forms.base import GroupConfirmForm
from dedup.models import DenseGroup, Series
from dedup.review.answers import decisions
from dedup.review.queries.runs import last_finished_run
from dedup.review.queries.series_and_groups import (
    articles_of,
    confirmed_among,
    group_details,
    listed_groups,
    members_of_group,
    series_details,
)
from dedup.review.rules.rules import RuleError, end_group_rule, end_rule, make_group_rule, make_rule
from dedup.rows.lists import GroupFilter, SeriesFilter
from dedup.views.requests import EditorRequest, decision_view, query_of, refuse, refused_note, say_decided, values_of


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


def groups(request: HttpRequest) -> HttpResponse:
    """List the dense groups, the largest first."""
    filterset = GroupFilter(request.GET, listed_groups())
    page = page_of(filterset.qs.order_by("-size", "id"), request.GET.get("page"))
    context = {"filter": filterset, "page": page, "confirmed": confirmed_among(page.rows)}
    return render(request, "groups/groups.html", context)


def group(request: HttpRequest, group_id: int) -> HttpResponse:
    """Show a dense group: its articles, some of its pairs, where passes left out pairs, and what editors decided."""
    shown = get_object_or_404(listed_groups().select_related("ruled_by"), pk=group_id)
    context = {
        "group": shown,
        "page": page_of(members_of_group(shown), request.GET.get("page")),
        **vars(group_details(shown)),
        "note": refused_note(request),
        "note_length": decisions.MAX_NOTE_CHARACTERS,
    }
    return render(request, "groups/group.html", context)


def _series_address(request: HttpRequest, series_id: int) -> str:
    return reverse("series", args=[series_id]) + query_of(request)


def _group_address(request: HttpRequest, group_id: int) -> str:
    return reverse("group", args=[group_id]) + query_of(request)


@decision_view(_series_address)
def series_rule(request: EditorRequest, series_id: int) -> HttpResponse:
    """Make it a rule that the articles of a series are never duplicates of each other."""
    _make(request, make_rule, series_id)
    return _back_to_series(request, series_id)


@decision_view(_series_address)
def series_end_rule(request: EditorRequest, series_id: int) -> HttpResponse:
    """End the rule of a series."""
    _end(request, end_rule, series_id)
    return _back_to_series(request, series_id)


@decision_view(_group_address)
def group_rule(request: EditorRequest, group_id: int) -> HttpResponse:
    """Make it a rule that the articles of a dense group are never duplicates of each other."""
    _make(request, make_group_rule, group_id)
    return _back_to_group(request, group_id)


@decision_view(_group_address)
def group_end_rule(request: EditorRequest, group_id: int) -> HttpResponse:
    """End the rule of a dense group."""
    _end(request, end_group_rule, group_id)
    return _back_to_group(request, group_id)


@decision_view(_group_address)
def group_confirm(request: EditorRequest, group_id: int) -> HttpResponse:
    """Confirm that all articles of a dense group are the same, as it was shown."""
    try:
        decision = decisions.confirm_group(group_id, user=request.user, **values_of(GroupConfirmForm(request.POST)))
    except decisions.ReviewError as error:
        refuse(request, str(error), page=reverse("group", args=[group_id]))
    else:
        say_decided(request, f"Confirmed: all {len(decision.articles):,} articles are the same.", decision)
    return _back_to_group(request, group_id)


def _make(request: EditorRequest, make: Callable[..., int], number: int) -> None:
    try:
        parted = make(number, user=request.user)
    except RuleError as error:
        messages.error(request, str(error))
    else:
        found = "1 pair was" if parted == 1 else f"{parted:,} pairs were"
        messages.success(request, f"Rule made: never duplicates of each other. {found} taken apart.")


def _end(request: EditorRequest, end: Callable[..., Any], number: int) -> None:
    try:
        end(number, user=request.user)
    except RuleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Rule ended. The next run judges these pairs again.")


def _back_to_series(request: HttpRequest, series_id: int) -> HttpResponse:
    return redirect(_series_address(request, series_id) if _exists(Series, series_id) else "series_list")


def _back_to_group(request: HttpRequest, group_id: int) -> HttpResponse:
    return redirect(_group_address(request, group_id) if _exists(DenseGroup, group_id) else "groups")


def _exists(model: type[Series | DenseGroup], number: int) -> bool:
    return model.objects.filter(pk=number).exists()
