"""Webhooks: one's own, listed, made, changed and deleted."""

from typing import Any, Literal

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router
from pydantic import Field, StrictBool

from dedup.api.auth import HOOKS, TokenRequest
from dedup.api.requests import Body, Number, Page, PageQuery, Text, page_of
from dedup.api.shapes import DeliveryRow, MadeWebhook, WebhookRow, delivery_row, made_webhook, webhook_row
from dedup.integrations.webhooks import MAX_URL_CHARACTERS, change_webhook, delete_webhook, make_webhook, send_test
from dedup.models import Webhook

router = Router(tags=["webhooks"])

Event = Literal["cluster.new", "cluster.changed", "cluster.confirmed", "alarm"]


class NewWebhook(Body):
    """Where to send what."""

    url: Text = Field(min_length=1, max_length=MAX_URL_CHARACTERS)
    events: list[Event] = Field(["cluster.new"], min_length=1, max_length=4)


class WebhookChange(Body):
    """What to change; the rest stays."""

    url: Text | None = Field(None, min_length=1, max_length=MAX_URL_CHARACTERS)
    events: list[Event] | None = Field(None, min_length=1, max_length=4)
    active: StrictBool | None = Field(None, description="Switched on again, it gets at once what it has missed.")


@router.get("", auth=HOOKS, response=Page[WebhookRow], summary="List your webhooks")
def list_webhooks(request: TokenRequest, query: Query[PageQuery]) -> Page[Any]:
    """List the webhooks of the token's owner."""
    return page_of(request, request.auth.owner.webhooks.all(), query, ("id",), webhook_row)


@router.post("", auth=HOOKS, response={201: MadeWebhook}, summary="Make a webhook", url_name="list_webhooks")
def make(request: TokenRequest, body: NewWebhook, response: HttpResponse) -> dict[str, Any]:
    """Make a webhook. Its requests are signed by the Standard Webhooks specification."""
    hook = make_webhook(request.auth.owner, body.url, body.events)
    response["Location"] = f"/api/v1/webhooks/{hook.pk}"
    return made_webhook(hook)


@router.get("/{int:webhook_id}", auth=HOOKS, response=WebhookRow, summary="Read a webhook")
def read_webhook(request: TokenRequest, webhook_id: Number) -> dict[str, Any]:
    """Return a webhook of the token's owner."""
    return webhook_row(_own(request, webhook_id))


@router.patch("/{int:webhook_id}", auth=HOOKS, response=WebhookRow, summary="Change a webhook", url_name="read_webhook")
def change(request: TokenRequest, webhook_id: Number, body: WebhookChange) -> dict[str, Any]:
    """Change a webhook, or switch it on or off."""
    hook = _own(request, webhook_id)
    change_webhook(hook, by=request.auth.owner, url=body.url, events=body.events, active=body.active)
    return webhook_row(hook)


@router.delete(
    "/{int:webhook_id}", auth=HOOKS, response={204: None}, summary="Delete a webhook", url_name="read_webhook"
)
def delete(request: TokenRequest, webhook_id: Number) -> None:
    """Delete a webhook with what waits for it."""
    delete_webhook(_own(request, webhook_id), by=request.auth.owner)


@router.get(
    "/{int:webhook_id}/deliveries", auth=HOOKS, response=Page[DeliveryRow], summary="List a webhook's deliveries"
)
def list_deliveries(request: TokenRequest, webhook_id: Number, query: Query[PageQuery]) -> Page[Any]:
    """List what was sent or waits, the latest first; what was delivered is kept for 30 days."""
    deliveries = _own(request, webhook_id).deliveries.defer("body")
    return page_of(request, deliveries, query, ("-id",), delivery_row)


@router.post("/{int:webhook_id}/test", auth=HOOKS, response={202: WebhookRow}, summary="Send a test to a webhook")
def test_webhook(request: TokenRequest, webhook_id: Number) -> dict[str, Any]:
    """Queue a request without clusters, of the type “test”."""
    hook = _own(request, webhook_id)
    send_test(hook)
    return webhook_row(hook)


def _own(request: TokenRequest, webhook_id: int) -> Webhook:
    return get_object_or_404(Webhook, owner=request.auth.owner, pk=webhook_id)
