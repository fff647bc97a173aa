"""The saved views of a user: a page of them, and saving, renaming and deleting one."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from dedup.models import SavedView
from dedup.review.saved_views import NAME_CHARACTERS, SavedViewError, rename_view, save_view, view_query
from dedup.views.requests import EditorRequest, refusals


def saved_views(request: EditorRequest) -> HttpResponse:
    """List the user's own views, by page."""
    rows = SavedView.objects.filter(user=request.user)
    return render(request, "saved_views/saved_views.html", {"views": rows, "name_length": NAME_CHARACTERS})


@require_POST
def view_save(request: EditorRequest, page: str) -> HttpResponse:
    """Save the list that the form was on, and return to it. Raises Http404."""
    if page not in SavedView.Page.values:
        raise Http404(f"There is no list {page!r}.")
    query = request.POST.get("query", "")
    with refusals(request, SavedViewError):
        saved = save_view(request.user, page, request.POST.get("name", ""), query)
        messages.success(request, f"Saved as “{saved.name}”.")
    kept = view_query(query)
    return redirect(reverse(page) + (f"?{kept}" if kept else ""))


@require_POST
def view_rename(request: EditorRequest, view_id: int) -> HttpResponse:
    """Give one of the user's views another name."""
    view = get_object_or_404(SavedView, pk=view_id, user=request.user)
    with refusals(request, SavedViewError):
        rename_view(view, request.POST.get("name", ""))
        messages.success(request, "Renamed.")
    return redirect("saved_views")


@require_POST
def view_delete(request: EditorRequest, view_id: int) -> HttpResponse:
    """Delete one of the user's views."""
    view = get_object_or_404(SavedView, pk=view_id, user=request.user)
    view.delete()
    messages.success(request, f"“{view.name}” was deleted.")
    return redirect("saved_views")
