"""The history of decisions, and undoing one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.forms.base import NoteForm
from dedup.models import Decision, DenseGroup
from dedup.review.answers import decisions
from dedup.review.answers.history import every_decision
from dedup.review.queries.clusters import find_cluster
from dedup.rows.decisions import DecisionFilter
from dedup.views.asking import tab_of
from dedup.views.requests import EditorRequest, decision_view, query_of, safe_next, values_of


def history(request: HttpRequest) -> HttpResponse:
    """List the decisions, the newest first."""
    filterset = DecisionFilter(request.GET, every_decision())
    page = page_of(filterset.qs, request.GET.get("page"), by_key=True)
    return render(request, "history/history.html", {"filter": filterset, "page": page})


def _address(_request: HttpRequest, decision_id: int) -> str:  # noqa: ARG001 - the page of every decision is the same
    return reverse("history")


@decision_view(_address)
def undo(request: EditorRequest, decision_id: int) -> HttpResponse:
    """Undo a decision, and return to its pair or cluster."""
    undone = get_object_or_404(Decision, pk=decision_id)
    try:
        decisions.undo(decision_id, user=request.user, **values_of(NoteForm(request.POST)))
    except decisions.ReviewError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Undone: {undone.get_kind_display()}.")
    return redirect(safe_next(request, _subject(undone, tab_of(request)) + query_of(request)))


def _subject(decision: Decision, tab: str | None) -> str:
    """Return the URL of the pair, cluster or group of a decision, or of the history if it is gone.

    In a tab of the queue, a confirmed cluster was an answer to its card.
    """
    if decision.pair_id:
        return reverse("pair", args=[decision.pair_id])
    if decision.cluster_number and find_cluster(decision.cluster_number):
        asked = tab and decision.kind == Decision.Kind.CONFIRM_CLUSTER
        return reverse("cluster_card" if asked else "cluster", args=[decision.cluster_number])
    if decision.group_number and DenseGroup.objects.filter(pk=decision.group_number).exists():
        return reverse("group", args=[decision.group_number])
    return reverse("history")
