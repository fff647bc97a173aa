"""Webhooks: one's own, listed, made, changed and deleted."""

from __future__ import annotations

from typing import Any, Literal

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import ConfigDict, Field, StrictBool

from dedup.api.auth import HOOKS, TokenRequest
from dedup.api.cursors import Page, PageQuery, page_of
from dedup.api.problems import Fault, ProblemError
from dedup.api.shapes import DeliveryRow, MadeWebhook, WebhookRow, delivery_row, made_webhook, webhook_row
from dedup.api.values import Number, Text
from dedup.integrations.webhooks import (
    MAX_URL_CHARACTERS,
    WebhookError,
    change_webhook,
    delete_webhook,
    make_webhook,
    send_test,
)
from dedup.models import Webhook

router = Router(tags=["webhooks"])

Event = Literal["cluster.new", "cluster.changed", "cluster.confirmed", "alarm"]


class NewWebhook(Schema):
    """Where to send what."""

    model_config = ConfigDict(extra="forbid")

    url: Text = Field(min_length=1, max_length=MAX_URL_CHARACTERS)
    events: list[Event] = Field(["cluster.new"], min_length=1, max_length=4)


class WebhookChange(Schema):
    """What to change; the rest stays."""

    model_config = ConfigDict(extra="forbid")

    url: Text | None = Field(None, min_length=1, max_length=MAX_URL_CHARACTERS)
    events: list[Event] | None = Field(None, min_length=1, max_length=4)
    active: StrictBool | None = Field(None, description="Switched on again, it gets at once what it has missed.")


@router.get("", auth=HOOKS, response=Page[WebhookRow], summary="List your webhooks")
def list_webhooks(request: TokenRequest, query: Query[PageQuery]) -> Page[Any]:
    """List the webhooks of the token's owner."""
    return page_of(request, _own(request), query, ("id",), webhook_row)


@router.post("", auth=HOOKS, response={201: MadeWebhook}, summary="Make a webhook", url_name="list_webhooks")
def make(request: TokenRequest, body: NewWebhook, response: HttpResponse) -> dict[str, Any]:
    """Make a webhook. Its requests are signed by the Standard Webhooks specification."""
    try:
        hook = make_webhook(request.auth.owner, body.url, body.events)
    except WebhookError as error:
        raise _refused(error) from error
    response["Location"] = f"/api/v1/webhooks/{hook.pk}"
    return made_webhook(hook)


@router.get("/{int:webhook_id}", auth=HOOKS, response=WebhookRow, summary="Read a webhook")
def read_webhook(request: TokenRequest, webhook_id: Number) -> dict[str, Any]:
    """Return a webhook of the token's owner."""
    return webhook_row(get_object_or_404(_own(request), pk=webhook_id))


@router.patch("/{int:webhook_id}", auth=HOOKS, response=WebhookRow, summary="Change a webhook", url_name="read_webhook")
def change(request: TokenRequest, webhook_id: Number, body: WebhookChange) -> dict[str, Any]:
    """Change a webhook, or switch it on or off."""
    hook = get_object_or_404(_own(request), pk=webhook_id)
    try:
        change_webhook(hook, by=request.auth.owner, url=body.url, events=body.events, active=body.active)
    except WebhookError as error:
        raise _refused(error) from error
    return webhook_row(hook)


@router.delete(
    "/{int:webhook_id}", auth=HOOKS, response={204: None}, summary="Delete a webhook", url_name="read_webhook"
)
def delete(request: TokenRequest, webhook_id: Number) -> None:
    """Delete a webhook with what waits for it."""
    delete_webhook(get_object_or_404(_own(request), pk=webhook_id), by=request.auth.owner)


@router.get(
    "/{int:webhook_id}/deliveries", auth=HOOKS, response=Page[DeliveryRow], summary="List a webhook's deliveries"
)
def list_deliveries(request: TokenRequest, webhook_id: Number, query: Query[PageQuery]) -> Page[Any]:
    """List what was sent or waits, the latest first; what was delivered is kept for 30 days."""
    hook = get_object_or_404(_own(request), pk=webhook_id)
    return page_of(request, hook.deliveries.defer("body"), query, ("-id",), delivery_row)


@router.post("/{int:webhook_id}/test", auth=HOOKS, response={202: WebhookRow}, summary="Send a test to a webhook")
def test_webhook(request: TokenRequest, webhook_id: Number) -> dict[str, Any]:
    """Queue a request without clusters, of the type “test”."""
    hook = get_object_or_404(_own(request), pk=webhook_id)
    send_test(hook)
    return webhook_row(hook)


def _own(request: TokenRequest) -> QuerySet[Webhook]:
    return Webhook.objects.filter(owner=request.auth.owner)


def _refused(error: WebhookError) -> ProblemError:
    return ProblemError(422, str(error), errors=[Fault(where="body", detail=str(error))])
