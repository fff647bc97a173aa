"""Pairs: listed and read; and decisions on them: made, listed and undone."""

from functools import partial
from typing import Annotated, Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import parse_etags
from ninja import Header, Query, Router
from pydantic import Field

from dedup.answers import AnswerKey
from dedup.api.auth import DECIDES, READS, TokenRequest
from dedup.api.problems import RENDERER, ProblemError, etag_of
from dedup.api.requests import Body, Number, Page, PageQuery, Text, page_of
from dedup.api.shapes import DecisionRow, PairFull, PairRow, decision_row, filtered, filtering, pair_full, pair_row
from dedup.detection.clustering.constraints import lock_review
from dedup.models import Decision, Pair
from dedup.review.answers.decisions import MAX_NOTE_CHARACTERS, decide_pair, decisions_on, undo
from dedup.rows.decisions import DECISION
from dedup.rows.pairs import PAIR

pairs = Router(tags=["pairs"])
decisions = Router(tags=["decisions"])


@partial(filtering, PAIR)
class PairQuery(PageQuery):
    """Which pairs to list."""


@partial(filtering, DECISION)
class DecisionQuery(PageQuery):
    """Which decisions to list."""

    pair: Number | None = Field(None, description="Decisions on this pair.")


class NewDecision(Body):
    """What the two articles of a pair are."""

    kind: AnswerKey
    note: Text = Field("", max_length=MAX_NOTE_CHARACTERS)


class NewUndo(Body):
    """Why a decision is undone."""

    note: Text = Field("", max_length=MAX_NOTE_CHARACTERS)


@pairs.get("", auth=READS, response=Page[PairRow], summary="List pairs")
def list_pairs(request: HttpRequest, query: Query[PairQuery]) -> Page[Any]:
    """List the pairs that some pass currently proposes, by their number."""
    rows = Pair.objects.proposed().with_articles().select_related("left__membership", "right__membership")
    return page_of(request, filtered(rows, PAIR, query).defer("reasons"), query, ("id",), pair_row)


@pairs.get("/{int:pair_id}", auth=READS, response=PairFull, summary="Read a pair")
def read_pair(request: HttpRequest, pair_id: Number) -> dict[str, Any]:
    """Return a pair with its evidence. A decision on it names the ETag of this answer."""
    return _pair(pair_id)


@pairs.post("/{int:pair_id}/decisions", auth=DECIDES, response={201: DecisionRow}, summary="Decide on a pair")
def decide(
    request: TokenRequest,
    pair_id: Number,
    body: NewDecision,
    response: HttpResponse,
    if_match: Annotated[Text | None, Header(alias="If-Match", max_length=200)] = None,
) -> dict[str, Any]:
    """Say what the two articles of a pair are; clusters follow at once.

    Without the header If-Match, the answer is 428. If the pair changed since it was read, by a decision or by a run,
    its ETag did too, and the answer is 412: read it and decide again.
    """
    if not if_match:
        raise ProblemError(428, "Send the ETag of the pair in the header If-Match: read the pair first.")
    with transaction.atomic():
        # Nothing about the pair can change between the comparison and the decision.
        lock_review()
        current = etag_of(
            RENDERER.render(request, PairFull(**_pair(pair_id)).model_dump(), response_status=200).encode()
        )
        if not {"*", current}.intersection(parse_etags(if_match)):
            raise ProblemError(412, f"Pair {pair_id} has changed since you read it. Read it, and decide again.")
        made = decide_pair(pair_id, body.kind, user=request.auth.owner, note=body.note)
    response["Location"] = f"/api/v1/decisions/{made.pk}"
    return decision_row(made)


@decisions.get("", auth=READS, response=Page[DecisionRow], summary="List decisions")
def list_decisions(request: HttpRequest, query: Query[DecisionQuery]) -> Page[Any]:
    """List decisions, the latest first. Undone ones stay in the list."""
    rows = filtered(_decisions(), DECISION, query)
    if query.pair:
        pair = Pair.objects.filter(pk=query.pair).first()
        rows = rows.filter(pk__in=decisions_on(pair).values("pk")) if pair else rows.none()
    return page_of(request, rows, query, ("-id",), decision_row)


@decisions.get("/{int:decision_id}", auth=READS, response=DecisionRow, summary="Read a decision")
def read_decision(request: HttpRequest, decision_id: Number) -> dict[str, Any]:
    """Return a decision."""
    return decision_row(get_object_or_404(_decisions(), pk=decision_id))


@decisions.post("/{int:decision_id}/undo", auth=DECIDES, response={201: DecisionRow}, summary="Undo a decision")
def undo_decision(request: TokenRequest, decision_id: Number, body: NewUndo, response: HttpResponse) -> dict[str, Any]:
    """Undo a decision; the one before it is in force again. The undo is a decision too."""
    get_object_or_404(Decision, pk=decision_id)
    made = undo(decision_id, user=request.auth.owner, note=body.note)
    response["Location"] = f"/api/v1/decisions/{made.pk}"
    return decision_row(made)


def _pair(pair_id: int) -> dict[str, Any]:
    full = Pair.objects.with_articles().select_related("left__membership", "right__membership")
    return pair_full(get_object_or_404(full.prefetch_related("evidence"), pk=pair_id))


def _decisions() -> QuerySet[Decision]:
    return Decision.objects.select_related("decided_by", "undone_by").defer("undone_by__articles")
