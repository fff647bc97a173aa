"""Runs of the detection and requests for them: their columns."""

from __future__ import annotations

from articles.models import Job
from dedup.models import DetectionRun, Profile
from dedup.rows.columns import Column, ColumnType, Rows

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


def _run_of(job: Job) -> int | None:
    return job.runs.values_list("pk", flat=True).first()


REQUEST = Rows(
    "A run that somebody asked for; `run` is null while it waits for a worker.",
    (
        Column("id", type=ColumnType.INTEGER),
        Column("profile", source=lambda job: Profile.objects.get(pk=job.arguments["profile"]).name),
        Column("since", type=ColumnType.DAY, source=lambda job: job.arguments["since"], optional=True),
        Column("until", type=ColumnType.DAY, source=lambda job: job.arguments["until"], optional=True),
        Column("new", type=ColumnType.BOOLEAN, source=lambda job: job.arguments["new"]),
        Column("requested_at", type=ColumnType.MOMENT),
        Column("run", type=ColumnType.INTEGER, source=_run_of, optional=True),
    ),
)
