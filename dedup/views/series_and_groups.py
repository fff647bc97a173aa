"""Series (recurring items of a newspaper) and dense groups: their lists, pages, rules and confirmations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
from dedup.rows.filtering import GroupFilter, SeriesFilter
from dedup.views.requests import EditorRequest, address_of, decision_view, note_of, refusals, say_decided, values_of


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
    return render(request, "series/series.html", {"series": shown, "page": page, **series_details(shown)})


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
        **group_details(shown),
        **note_of(request),
    }
    return render(request, "groups/group.html", context)


@decision_view("group", "group_id", query=True)
def group_confirm(request: EditorRequest, group_id: int) -> HttpResponse:
    """Confirm that all articles of a dense group are the same, as it was shown."""
    with refusals(request, decisions.ReviewError, page=reverse("group", args=[group_id])):
        decision = decisions.confirm_group(group_id, user=request.user, **values_of(GroupConfirmForm(request.POST)))
        say_decided(request, f"Confirmed: all {len(decision.articles):,} articles are the same.", decision)
    return _back(request, "group", group_id)


class _Ruled(NamedTuple):
    """What has rules: its model, what makes and ends a rule on one, and the list to return to if it is gone."""

    model: type[Series | DenseGroup]
    make: Callable[..., int]
    end: Callable[..., None]
    listed: str


_RULED = {
    "series": _Ruled(Series, make_rule, end_rule, "series_list"),
    "group": _Ruled(DenseGroup, make_group_rule, end_group_rule, "groups"),
}


def _address(request: HttpRequest, page: str, number: int) -> str:
    return address_of(request, page, number)


@decision_view(_address)
def rule(request: EditorRequest, page: str, number: int) -> HttpResponse:
    """Make it a rule that the articles of a series, or of a dense group, are never duplicates of each other."""
    with refusals(request, RuleError):
        parted = _RULED[page].make(number, user=request.user)
        found = "1 pair was" if parted == 1 else f"{parted:,} pairs were"
        messages.success(request, f"Rule made: never duplicates of each other. {found} taken apart.")
    return _back(request, page, number)


@decision_view(_address)
def end(request: EditorRequest, page: str, number: int) -> HttpResponse:
    """End the rule of a series, or of a dense group."""
    with refusals(request, RuleError):
        _RULED[page].end(number, user=request.user)
        messages.success(request, "Rule ended. The next run judges these pairs again.")
    return _back(request, page, number)


def _back(request: HttpRequest, page: str, number: int) -> HttpResponse:
    there = _RULED[page].model.objects.filter(pk=number).exists()
    return redirect(address_of(request, page, number) if there else _RULED[page].listed)
