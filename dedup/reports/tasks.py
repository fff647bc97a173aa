"""Reports that take too long for a page, counted by a worker. `manage.py db_worker` executes them."""

from __future__ import annotations

from datetime import date, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django_tasks import task

from dedup.declarations import Settings, make_config
from dedup.detection.runs.lost_tasks import Fate, recovered
from dedup.detection.runs.scope import Scope
from dedup.models import StoredReport
from dedup.reports import REPORTS
from dedup.reports.base import Report, ReportError
from dedup.reports.counting import asked_for, count, key_of

# A worker that was killed counts no more; after this time a count can be asked for again.
_ASKED_AGAIN_AFTER = timedelta(minutes=10)


def _count_again(stored_id: int) -> Fate:
    waits = StoredReport.objects.filter(pk=stored_id, waiting_since__isnull=False).exists()
    return Fate.AGAIN if waits else Fate.OVER


def _end(stored_id: int, reason: str) -> None:
    StoredReport.objects.filter(pk=stored_id).update(waiting_since=None, error=reason)


@recovered(_count_again, _end)
@task()
def count_report_task(stored_id: int) -> None:
    """Count what somebody waits for; nothing if it was counted in the meantime."""
    stored = StoredReport.objects.filter(pk=stored_id, waiting_since__isnull=False).first()
    if stored is None or stored.report not in REPORTS:
        return
    report, asked = REPORTS[stored.report], stored.asked
    ids = asked["newspaper_ids"]
    scope = Scope(_day(asked["since"]), _day(asked["until"]), None if ids is None else tuple(ids))
    try:
        count(report, scope, make_config(report.options_class, asked["options"]))
    except ReportError as error:
        _end(stored_id, str(error))
    except BaseException as error:
        _end(stored_id, f"{type(error).__name__}: {error}")
        raise


@transaction.atomic
def request_count(report: Report, scope: Scope, options: Settings, user: User) -> StoredReport:
    """Queue a count for the worker, and return what keeps its result. One that is queued is not queued again."""
    asked = asked_for(scope, options)
    stored, _ = StoredReport.objects.select_for_update().get_or_create(
        report=report.name, key=key_of(asked), defaults={"asked": asked}
    )
    now = timezone.now()
    if stored.waiting_since is None or stored.waiting_since < now - _ASKED_AGAIN_AFTER:
        stored.waiting_since, stored.requested_by, stored.error = now, user, ""
        stored.save(update_fields=["waiting_since", "requested_by", "error"])
        transaction.on_commit(lambda: count_report_task.enqueue(stored.pk))
    return stored


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
