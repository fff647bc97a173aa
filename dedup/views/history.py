"""Every decision that was ever taken, and undoing one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from dedup import review
from dedup.filters import DecisionFilter
from dedup.forms import NoteForm
from dedup.models import Cluster, Decision
from dedup.views.paging import page_of
from dedup.views.requests import EditorRequest, decision_view, form_fault, query_of, safe_next


def history(request: HttpRequest) -> HttpResponse:
    """List the decisions, the newest first."""
    every = Decision.objects.select_related(
        "decided_by", "article", "undoes", "undone_by__decided_by", "pair__left", "pair__right"
    ).defer(
        *(
            f"{path}__{text}"
            for path in ("article", "pair__left", "pair__right")
            for text in ("content", "normalized_text")
        )
    )
    filterset = DecisionFilter(request.GET, every)
    page = page_of(filterset.qs.order_by("-id"), request.GET.get("page"))
    return render(request, "dedup/history.html", {"filter": filterset, "page": page})


@decision_view
def undo(request: EditorRequest, decision_id: int) -> HttpResponse:
    """Undo a decision, and go back to what it was about."""
    undone = get_object_or_404(Decision, pk=decision_id)
    form = NoteForm(request.POST)
    if not form.is_valid():
        messages.error(request, form_fault(form.errors))
        return redirect(safe_next(request, reverse("history")))
    try:
        review.undo(decision_id, user=request.user, note=form.cleaned_data["note"])
    except review.ReviewError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Undone: {undone.get_kind_display()}.")
    return redirect(safe_next(request, _subject(undone) + query_of(request)))


def _subject(decision: Decision) -> str:
    """Return the address of what a decision was about, or of the history where that is gone."""
    if decision.pair_id:
        return reverse("pair", args=[decision.pair_id])
    if decision.cluster_number and Cluster.objects.filter(pk=decision.cluster_number).exists():
        return reverse("cluster", args=[decision.cluster_number])
    return reverse("history")
