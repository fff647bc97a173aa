"""Webhooks and what is sent to them: their columns, which only the API has."""

from __future__ import annotations

from dedup.models import Delivery, Webhook
from dedup.rows.columns import Column, ColumnType, Place, Rows

WEBHOOK = Rows(
    "A webhook.",
    (
        Column("id", type=ColumnType.INTEGER),
        Column("url"),
        Column("events", type=ColumnType.TEXTS, choices=tuple(Webhook.Event.choices)),
        Column("active", type=ColumnType.BOOLEAN),
        Column("fault", help="Why newsdedup has switched it off; empty if it has not."),
        Column("made_at", type=ColumnType.MOMENT),
        Column("secret", help="To check signatures with; the API shows it only now.", places=Place.FULL),
    ),
)
DELIVERY = Rows(
    "A request to a webhook.",
    (
        Column("id", type=ColumnType.INTEGER),
        Column("message", help="The id in its header webhook-id.", source=lambda delivery: str(delivery.message)),
        Column("event"),
        Column("state", choices=tuple(Delivery.State.choices)),
        Column("attempts", type=ColumnType.COUNT),
        Column("answer", help="What came back last, or why nothing did."),
        Column("made_at", type=ColumnType.MOMENT),
        Column("tried_at", type=ColumnType.MOMENT, optional=True),
        Column(
            "due_at",
            type=ColumnType.MOMENT,
            help="When it is tried next, if it waits.",
            source=lambda delivery: delivery.due_at if delivery.state == Delivery.State.WAITING else None,
            optional=True,
        ),
    ),
)
