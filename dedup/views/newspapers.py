"""The page on which admins merge newspapers and undo it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from articles.storage.newspaper_merges import MergeError
from dedup.detection.runs.lock import RunActiveError
from dedup.forms.base import MergeForm
from dedup.review.answers.newspaper_merges import done_line, merge_newspapers, merges_made, preview_merge, undo_merge
from dedup.views.requests import EditorRequest, decision_view


def _address(_request: HttpRequest, **_numbers: int) -> str:
    return reverse("newspaper_merges")


def merges(request: EditorRequest) -> HttpResponse:
    """Show what merging the chosen newspapers would change, and all merges."""
    chosen = request.GET.keys() >= {"merged", "into"}
    form = MergeForm(request.GET) if chosen else MergeForm(initial=request.GET.dict())
    context: dict[str, Any] = {"form": form, "page": page_of(merges_made(), request.GET.get("page"))}
    if form.is_valid():
        try:
            context["preview"] = preview_merge(**form.cleaned_data)
        except MergeError as error:
            form.add_error("into", f"{error}.")
    return render(request, "newspapers/merges.html", context, status=400 if form.errors else 200)


@decision_view(_address)
def merge(request: EditorRequest) -> HttpResponse:
    """Merge a newspaper into another one."""
    form = MergeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was merged: choose two newspapers of the list.")
        return redirect("newspaper_merges")
    try:
        messages.success(request, done_line(merge_newspapers(**form.cleaned_data, user=request.user)))
    except (MergeError, RunActiveError) as error:
        messages.error(request, f"Nothing was merged: {error}.")
    return redirect("newspaper_merges")


@decision_view(_address)
def merge_undo(request: EditorRequest, merge_id: int) -> HttpResponse:
    """Undo a merge."""
    try:
        messages.success(request, undo_merge(get_object_or_404(merges_made(), pk=merge_id), user=request.user))
    except (MergeError, RunActiveError) as error:
        messages.error(request, f"Nothing was undone: {error}.")
    return redirect("newspaper_merges")
