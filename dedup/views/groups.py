"""The list of dense groups, the page of a group, its rule, and its confirmation."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.forms.base import GroupConfirmForm
from dedup.models import DenseGroup
from dedup.review.answers import decisions
from dedup.review.queries.series_and_groups import confirmed_among, group_details, listed_groups, members_of_group
from dedup.review.rules.rules import RuleError, end_group_rule, make_group_rule
from dedup.rows.lists import GroupFilter
from dedup.views.requests import (
    EditorRequest,
    decision_view,
    query_of,
    refuse,
    refused_note,
    say_decided,
    values_of,
)


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


def _address(request: HttpRequest, group_id: int) -> str:
    return reverse("group", args=[group_id]) + query_of(request)


@decision_view(_address)
def group_confirm(request: EditorRequest, group_id: int) -> HttpResponse:
    """Confirm that all articles of a dense group are the same, as it was shown."""
    try:
        decision = decisions.confirm_group(group_id, user=request.user, **values_of(GroupConfirmForm(request.POST)))
    except decisions.ReviewError as error:
        refuse(request, str(error), page=reverse("group", args=[group_id]))
    else:
        say_decided(request, f"Confirmed: all {len(decision.articles):,} articles are the same.", decision)
    return _back(request, group_id)


@decision_view(_address)
def group_rule(request: EditorRequest, group_id: int) -> HttpResponse:
    """Make it a rule that the articles of a dense group are never duplicates of each other."""
    try:
        parted = make_group_rule(group_id, user=request.user)
    except RuleError as error:
        messages.error(request, str(error))
    else:
        found = "1 pair was" if parted == 1 else f"{parted:,} pairs were"
        messages.success(request, f"Rule made: never duplicates of each other. {found} taken apart.")
    return _back(request, group_id)


@decision_view(_address)
def group_end_rule(request: EditorRequest, group_id: int) -> HttpResponse:
    """End the rule of a dense group."""
    try:
        end_group_rule(group_id, user=request.user)
    except RuleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Rule ended. The next run judges these pairs again.")
    return _back(request, group_id)


def _back(request: HttpRequest, group_id: int) -> HttpResponse:
    if DenseGroup.objects.filter(pk=group_id).exists():
        return redirect(_address(request, group_id))
    return redirect("groups")
