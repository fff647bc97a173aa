"""The page of a pair, the decision on it, and the comparison of any two articles."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html

from articles.models import Article
from articles.paging import count_up_to_ceiling, write_count
from dedup.answers import Answer, Effect
from dedup.detection.comparison.prepared import MAX_CHARACTERS
from dedup.forms.base import PairDecisionForm
from dedup.models import Pair
from dedup.review.answers import decisions
from dedup.review.queries.articles import versions_of
from dedup.review.queries.pair_page import (
    MARKABLE,
    MarkedEvidence,
    clusters_of,
    marked_evidence,
    pair_details,
    side_by_side,
)
from dedup.review.queries.series_and_groups import series_of_both, templates_for_a_rule
from dedup.review.queries.why import why
from dedup.review.questions.asking import give_back
from dedup.review.questions.question import Question
from dedup.review.questions.tabs import SECOND
from dedup.review.readings.second_readings import disputes_on
from dedup.rows.pairs import PairFilter
from dedup.views.asking import Steps, carried_query, steps_around, tab_of
from dedup.views.collisions import (
    blinded,
    collision_on,
    is_second_reading,
    remember_collision,
    store_second_reading,
)
from dedup.views.questions import after_answer, asking
from dedup.views.requests import (
    EditorRequest,
    back_address,
    decision_view,
    neighbours,
    next_of,
    query_of,
    refuse,
    refused_note,
    say_decided,
    values_of,
)

VIEWS = {"": "Side by side", "merged": "Merged", "plain": "Unmarked"}


def pair(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Show the two articles of a pair side by side, their differences, and the evidence of every pass."""
    pairs = Pair.objects.with_doubt().select_related("left__newspaper", "right__newspaper")
    shown = get_object_or_404(pairs, pk=pair_id)
    details = pair_details(shown)
    blind = is_second_reading(request, pair_id)
    if blind:
        details = blinded(shown, details)
    asked = "" if request.GET.get("view") == "merged" else request.GET.get("evidence", "")
    context = {
        "pair": shown,
        **vars(details),
        **_place(request, shown),
        "blind": blind,
        "disputes": disputes_on(pair_id) if details.read_again and not blind else [],
        "collision": collision_on(request, pair_id),
        "note": refused_note(request),
        "note_length": decisions.MAX_NOTE_CHARACTERS,
        "markable": MARKABLE,
        "versions": versions_of(shown.earlier, shown.later) if details.has_revisions else [],
        **comparison(request, shown.left, shown.right, marked_evidence(shown, details.evidence, asked)),
    }
    return render(request, "pairs/pair.html", context)


def _place(request: EditorRequest, shown: Pair) -> dict[str, Any]:
    """Return what comes before and after the pair, in its tab of the queue or in the list of pairs."""
    if tab_of(request):
        question = Question("pair", shown.pk)
        return {"steps": steps_around(request, question), **asking(request, question)}
    filterset = PairFilter(request.GET)
    around = neighbours(filterset.qs, filterset.ordering, shown)
    query = carried_query(request)
    addresses = {name: reverse("pair", args=[pk]) + query if pk else None for name, pk in around.items()}
    left = count_up_to_ceiling(filterset.qs, filterset.ceiling)
    return {"steps": Steps(**addresses), "left_in_queue": write_count(left, filterset.ceiling)}


def pair_why(request: HttpRequest, pair_id: int) -> HttpResponse:
    """Show how the probability of a verdict is calculated; the page of the pair loads it when it is asked for."""
    pairs = Pair.objects.select_related("left__newspaper", "right__newspaper")
    shown = get_object_or_404(pairs, pk=pair_id)
    return render(request, "pairs/why.html", {"pair": shown, "why": why(shown)})


def _address(request: HttpRequest, pair_id: int) -> str:
    return reverse("pair", args=[pair_id]) + query_of(request)


@decision_view(_address)
def pair_decide(request: EditorRequest, pair_id: int) -> HttpResponse:
    """Decide on a pair, and go to the next one in the selection."""
    decided = get_object_or_404(Pair.objects.with_doubt(), pk=pair_id)
    try:
        values = values_of(PairDecisionForm(request.POST))
        if request.GET.get("tab") == SECOND:
            store_second_reading(request, pair_id, values)
            return redirect(_next_address(request, decided))
        decision = decisions.decide_pair(decided, user=request.user, **values)
    except decisions.ReviewError as error:
        if isinstance(error, decisions.AlreadyDecidedError):
            remember_collision(request, pair_id, error, values)
        refuse(request, str(error), page=reverse("pair", args=[pair_id]))
        return redirect(_address(request, pair_id))
    say_decided(request, _said(decided, values["kind"]), decision)
    if values["kind"] is Answer.TEMPLATE:
        _offer_rule(request, decided)
    return redirect(back_address(request) or _next_address(request, decided))


def _said(decided: Pair, answer: Answer) -> str:
    said, apart = answer.facts.stored, answer.facts.effect is Effect.CANNOT
    if apart and (clusters := clusters_of(decided.left_id, decided.right_id)).shared:
        return f"{said} But earlier confirmations still hold both in cluster {clusters.left}."
    return said


def _offer_rule(request: HttpRequest, decided: Pair) -> None:
    """Name the series of a template pair if its other answers suggest a rule."""
    series = series_of_both(decided.left, decided.right)
    if series is not None and (templates := templates_for_a_rule(series)):
        messages.info(
            request,
            format_html(
                'Editors called {} pairs of the series <a href="{}">{}</a> templates. You can make it a rule.',
                templates,
                reverse("series", args=[series.pk]),
                series.headline or "(no headline)",
            ),
        )


def comparison(
    request: HttpRequest, left: Article, right: Article, found: MarkedEvidence | None = None
) -> dict[str, Any]:
    """Return what the comparison of two texts shows, as the request asks for it."""
    found = found or MarkedEvidence()
    compared = side_by_side(left, right, found.marks)
    view = request.GET.get("view", "")
    return {
        **vars(compared),
        **vars(found),
        "view": view if view in VIEWS else "",
        "views": VIEWS,
        "most_characters": MAX_CHARACTERS,
        # If nothing differs, the common text is all there is to see.
        "unfolded": compared.text.equal or request.GET.get("unfolded") == "1",
    }


def _next_address(request: EditorRequest, decided: Pair) -> str:
    if tab_of(request):
        give_back(Question("pair", decided.pk), request.user)
        return after_answer(request)
    filterset = PairFilter(request.GET)
    following = next_of(filterset.qs, filterset.ordering, decided)
    if following is not None:
        return reverse("pair", args=[following]) + query_of(request)
    messages.info(request, "That was the last pair in this selection.")
    return reverse("queue") + query_of(request)
