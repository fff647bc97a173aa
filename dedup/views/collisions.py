"""When two editors meet on a pair: second readings, and decisions that were made meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from dedup.answers import Answer
from dedup.models import Decision, Pair
from dedup.review.answers.decisions import AlreadyDecidedError
from dedup.review.queries.pair_page import ClustersOf, PairDetails
from dedup.review.questions.tabs import SECOND
from dedup.review.readings import second_readings
from dedup.views.requests import EditorRequest

_COLLISION = "collision"


def is_second_reading(request: EditorRequest, pair_id: int) -> bool:
    """Return whether the editor reads this pair as the second one, without seeing the first answer."""
    if request.GET.get("tab") != SECOND or not request.user.has_perm("dedup.add_decision"):
        return False
    return second_readings.waits_for(pair_id, request.user)


def blinded(shown: Pair, details: PairDetails) -> PairDetails:
    """Return the details without anything that the first answer shows through, and make the pair undecided."""
    shown.state, shown.implied = Pair.State.UNDECIDED, False
    nothing = ClustersOf(None, None, shared=False)
    doubts = [doubt for doubt in details.doubts if doubt.name != "apart"]
    hidden = replace(details, decisions=[], seen=0, implied_by=[], declared=None)
    return replace(hidden, clusters=nothing, kept_apart=False, doubts=doubts)


def store_second_reading(request: EditorRequest, pair_id: int, values: dict[str, Any]) -> None:
    """Store the answer to a second reading, and say so. Raises ReviewError."""
    second_readings.read_again(pair_id, values["kind"], user=request.user, note=values["note"])
    messages.success(
        request, "Stored as a second reading. If it differs from the first answer, it is listed under Disagreements."
    )


def remember_collision(request: HttpRequest, pair_id: int, error: AlreadyDecidedError, values: dict[str, Any]) -> None:
    """Keep the answer that came too late, for the page that is shown next."""
    kept = {"pair": pair_id, "decision": error.decision.pk, "kind": values["kind"], "note": values["note"]}
    request.session[_COLLISION] = kept


def collision_on(request: HttpRequest, pair_id: int) -> dict[str, Any] | None:
    """Return the editor's answer that came too late, and the decision that came first; once."""
    if request.session.get(_COLLISION, {}).get("pair") != pair_id:
        return None
    kept = request.session.pop(_COLLISION)
    decision = Decision.objects.select_related("decided_by").filter(pk=kept["decision"], undone_by=None).first()
    if decision is None or decision.decided_by_id == request.user.pk:
        return None
    mine = Answer(kept["kind"])
    said = second_readings.said_about(decision, pair_id)
    if said is None:
        return None
    return {"decision": decision, "said": said, "mine": mine, "note": kept["note"], "agrees": said == mine}
