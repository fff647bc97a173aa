"""The history of decisions, undoing one, and disagreements: the list, settling one, and answering a collision."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.answers import CHOICES, Answer
from dedup.forms.base import CollisionForm, NoteForm, SettleForm
from dedup.models import Decision, DenseGroup
from dedup.models.decisions import OF_CLUSTERS
from dedup.review.answers import decisions
from dedup.review.answers.decisions import MAX_NOTE_CHARACTERS, ReviewError
from dedup.review.answers.history import every_decision
from dedup.review.queries.clusters import cluster_of_decision
from dedup.review.readings import second_readings
from dedup.review.readings.second_readings import agreements, changes_of, disagreements, with_outcomes
from dedup.rows.decisions import DecisionFilter
from dedup.rows.filtering import DisagreementFilter
from dedup.views.questions import after_answer, tab_of
from dedup.views.requests import (
    EditorRequest,
    address_of,
    decision_view,
    query_of,
    refusals,
    safe_next,
    say_decided,
    values_of,
)


def history(request: HttpRequest) -> HttpResponse:
    """List the decisions, the newest first."""
    filterset = DecisionFilter(request.GET, every_decision())
    page = page_of(filterset.qs, request.GET.get("page"), by_key=True)
    return render(request, "history/history.html", {"filter": filterset, "page": page})


@decision_view("history")
def undo(request: EditorRequest, decision_id: int) -> HttpResponse:
    """Undo a decision, and return to its pair or cluster."""
    undone = get_object_or_404(Decision, pk=decision_id)
    with refusals(request, ReviewError):
        decisions.undo(decision_id, user=request.user, **values_of(NoteForm(request.POST)))
        messages.success(request, f"Undone: {undone.get_kind_display()}.")
    return redirect(safe_next(request, _subject(undone, tab_of(request)) + query_of(request)))


def _subject(decision: Decision, tab: str | None) -> str:
    """Return the URL of the pair, cluster or group of a decision, or of the history if it is gone.

    In a tab of the queue, an answer for a whole cluster was one to its card.
    """
    if decision.pair_id:
        return reverse("pair", args=[decision.pair_id])
    if number := cluster_of_decision(decision):
        asked = tab and decision.kind in OF_CLUSTERS.values()
        return reverse("cluster_card" if asked else "cluster", args=[number])
    if decision.group_number and DenseGroup.objects.filter(pk=decision.group_number).exists():
        return reverse("group", args=[decision.group_number])
    return reverse("history")


def disagreement_list(request: EditorRequest) -> HttpResponse:
    """List the pairs that two editors answered differently, the open ones first."""
    filterset = DisagreementFilter(request.GET, disagreements())
    page = page_of(filterset.qs, request.GET.get("page"))
    context = {
        "filter": filterset,
        "page": page,
        "rows": with_outcomes(page.rows),
        "agreement": agreements(),
        "answers": CHOICES,
        "note_length": MAX_NOTE_CHARACTERS,
    }
    return render(request, "disagreements/disagreements.html", context)


def changed_answers(request: EditorRequest) -> HttpResponse:
    """List the answers of the editor that others changed or contested."""
    return render(request, "disagreements/changed.html", {"changes": changes_of(request.user)})


@decision_view("disagreements", query=True)
def disagreement_settle(request: EditorRequest, reading_id: int) -> HttpResponse:
    """Settle a disagreement by a new decision on the pair."""
    with refusals(request, ReviewError):
        values = values_of(SettleForm(request.POST))
        decision = second_readings.settle(reading_id, user=request.user, **values)
        said = Answer(values["kind"]).label
        say_decided(request, f"Settled: {said}. The next disagreement is first in the list.", decision)
    return redirect(address_of(request, "disagreements"))


@decision_view("pair", "pair_id", query=True)
def collision_answer(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Agree with a decision that another editor made while this one was reading, or contest it."""
    with refusals(request, ReviewError, page=reverse("pair", args=[pair_id])):
        values = values_of(CollisionForm(request.POST))
        reading = second_readings.answer_collision(pair_id, **values, user=request.user)
        first = reading.decision.decided_by
        contested = f"Contested. The decision of {first} stays in force until the disagreement is settled."
        messages.success(request, f"You agree with {first}." if reading.agrees else contested)
        if tab_of(request):
            return redirect(after_answer(request))
    return redirect(address_of(request, "pair", pair_id))
