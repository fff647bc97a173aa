"""What only the API lists: runs of the detection, requests for them, webhooks and what is sent to them."""

from __future__ import annotations

from dedup.models import Delivery, DetectionRun, Profile, Webhook
from dedup.rows.columns import Column, ColumnType, Place, Rows

RUN = Rows(
    "A run of the detection.",
    (
        Column("id", type=ColumnType.INTEGER),
        Column("profile", source="profile_name"),
        Column("state", choices=tuple(DetectionRun.State.choices)),
        Column("scope", type=ColumnType.OBJECT, help="What was compared."),
        Column("counts", type=ColumnType.OBJECT, help="What it found; complete when it is done."),
        Column("started_at", type=ColumnType.MOMENT),
        Column("finished_at", type=ColumnType.MOMENT, optional=True),
        Column("error"),
    ),
)
REQUEST = Rows(
    "A run that somebody asked for; `run` is null while it waits for a worker.",
    (
        Column("id", type=ColumnType.INTEGER),
        Column("profile", source=lambda job: Profile.objects.get(pk=job.arguments["profile"]).name),
        Column("since", type=ColumnType.DAY, source=lambda job: job.arguments["since"], optional=True),
        Column("until", type=ColumnType.DAY, source=lambda job: job.arguments["until"], optional=True),
        Column("new", type=ColumnType.BOOLEAN, source=lambda job: job.arguments["new"]),
        Column("requested_at", type=ColumnType.MOMENT),
        Column(
            "run",
            type=ColumnType.INTEGER,
            source=lambda job: job.runs.values_list("pk", flat=True).first(),
            optional=True,
        ),
    ),
)
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
