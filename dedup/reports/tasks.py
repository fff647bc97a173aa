"""What a worker does: reports that take too long for a page, and corpora with their methods paragraph."""

from __future__ import annotations

from datetime import date

from django.contrib.auth.models import User
from django.db import transaction

from articles.jobs.work import JobError, Work, ask
from dedup.declarations import Settings, make_config
from dedup.detection.runs.scope import Scope
from dedup.models import StoredReport
from dedup.reports import REPORTS
from dedup.reports.base import Report, ReportError
from dedup.reports.computing import asked_for, compute, key_of
from dedup.reports.methods import methods_of
from dedup.rows.corpus.kept import write_kept


def compute_report(work: Work) -> None:
    """Compute what somebody waits for. Raises JobError."""
    stored = StoredReport.objects.filter(pk=work.job.arguments["stored_id"]).first()
    if stored is None or stored.report not in REPORTS:
        return
    report, asked = REPORTS[stored.report], stored.asked
    ids = asked["newspaper_ids"]
    scope = Scope(_day(asked["since"]), _day(asked["until"]), None if ids is None else tuple(ids))
    try:
        compute(report, scope, make_config(report.options_class, asked["options"]))
    except ReportError as error:
        raise JobError(str(error)) from error


def write_corpus_job(work: Work) -> None:
    """Write a corpus that somebody asked for. Raises JobError."""
    write_kept(work, methods_of)


@transaction.atomic
def request_report(report: Report, scope: Scope, options: Settings, user: User, page: str = "") -> StoredReport:
    """Queue a report for the worker, and return what keeps its result. One that is queued is not queued again."""
    asked = asked_for(scope, options)
    stored, _ = StoredReport.objects.select_for_update().get_or_create(
        report=report.name, key=key_of(asked), defaults={"asked": asked}
    )
    stored.job, _ = ask("report", {"stored_id": stored.pk}, title=f"Report: {report.label}", user=user, page=page)
    stored.error = ""
    stored.save(update_fields=["job", "error"])
    return stored


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
