"""Disagreements between editors: the list, settling one, and answering a decision that was made meanwhile."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.answers import CHOICES, Answer
from dedup.forms.base import CollisionForm, SettleForm
from dedup.review.answers.decisions import MAX_NOTE_CHARACTERS, ReviewError
from dedup.review.readings import second_readings
from dedup.review.readings.second_readings import agreements, changes_of, disagreements, with_outcomes
from dedup.rows.lists import DisagreementFilter
from dedup.views.asking import tab_of
from dedup.views.questions import after_answer
from dedup.views.requests import EditorRequest, decision_view, query_of, refuse, say_decided, values_of


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


def _list_address(request: HttpRequest, reading_id: int) -> str:  # noqa: ARG001 - one page lists all
    return reverse("disagreements") + query_of(request)


@decision_view(_list_address)
def disagreement_settle(request: EditorRequest, reading_id: int) -> HttpResponse:
    """Settle a disagreement by a new decision on the pair."""
    try:
        values = values_of(SettleForm(request.POST))
        decision = second_readings.settle(reading_id, user=request.user, **values)
    except ReviewError as error:
        messages.error(request, str(error))
    else:
        said = Answer(values["kind"]).label
        say_decided(request, f"Settled: {said}. The next disagreement is first in the list.", decision)
    return redirect(_list_address(request, reading_id))


def _pair_address(request: HttpRequest, pair_id: int) -> str:
    return reverse("pair", args=[pair_id]) + query_of(request)


@decision_view(_pair_address)
def collision_answer(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Agree with a decision that another editor made while this one was reading, or contest it."""
    try:
        values = values_of(CollisionForm(request.POST))
        reading = second_readings.answer_collision(
            pair_id, values["decision"], values["kind"], user=request.user, note=values["note"]
        )
    except ReviewError as error:
        refuse(request, str(error), page=reverse("pair", args=[pair_id]))
        return redirect(_pair_address(request, pair_id))
    first = reading.decision.decided_by
    if reading.agrees:
        messages.success(request, f"You agree with {first}.")
    else:
        messages.success(
            request, f"Contested. The decision of {first} stays in force until the disagreement is settled."
        )
    return redirect(after_answer(request) if tab_of(request) else _pair_address(request, pair_id))
