"""Counts reports, keeps their results, and finds what is kept."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.utils import timezone

from articles.models import Article
from dedup.declarations import Settings
from dedup.models import Decision, DetectionRun, Pair, StoredReport
from dedup.reports import REPORTS
from dedup.reports.base import Report
from dedup.reports.formats import as_json
from dedup.reports.stored import Shown, from_json, is_current, presented, to_json
from dedup.runs.scope import Scope

# A result that took less than this is counted again for each reader.
QUICK_SECONDS = 0.2
# At the end of a run, reports are counted if there are as many articles or pairs; below, a page counts at once.
LARGE_ARCHIVE = 20_000
# Results kept of each report: the latest ones.
_KEPT = 100
# More than this are not counted one by one to say what has changed since.
_CHANGES_COUNTED = 10_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class State:
    """Up to where the archive had come: the last finished run, the last decision, the newest article."""

    run_id: int | None
    last_decision: int
    newest_revision: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since a result was counted; at most _CHANGES_COUNTED of each are counted."""

    runs: int
    decisions: int
    articles: int

    def __bool__(self) -> bool:
        return bool(self.runs or self.decisions or self.articles)


@dataclass(frozen=True, slots=True)
class Counted:
    """A result: its JSON, what shows it, and when it was counted."""

    json: str
    shown: Shown
    counted_at: datetime
    seconds: float


def asked_for(scope: Scope, options: Settings) -> dict[str, Any]:
    """Return a scope and options as they are stored."""
    return {
        "since": scope.since and scope.since.isoformat(),
        "until": scope.until and scope.until.isoformat(),
        "newspaper_ids": None if scope.newspaper_ids is None else sorted(scope.newspaper_ids),
        "options": asdict(options),
    }


def stored_report(report: Report, scope: Scope, options: Settings) -> StoredReport | None:
    """Return what is kept for this question; it may be waiting, and its report not counted yet."""
    key = key_of(asked_for(scope, options))
    return StoredReport.objects.select_related("run").filter(report=report.name, key=key).first()


def counted(stored: StoredReport) -> Counted | None:
    """Return the kept result; None if it was not counted yet."""
    if stored.counted_at is None or stored.shown is None:
        return None
    return Counted(stored.result, from_json(stored.shown), stored.counted_at, stored.seconds)


def count(report: Report, scope: Scope, options: Settings) -> Counted:
    """Count a report, and keep the result. Raises ReportError if it cannot be counted like this."""
    state = current_state()
    began = time.monotonic()
    result = report.result(scope, options)
    seconds = time.monotonic() - began
    text = as_json(result)
    asked = asked_for(scope, options)
    before = StoredReport.objects.filter(report=report.name, key=key_of(asked)).first()
    # Drawing takes longer than most counts.
    drawn = before.shown if before is not None and before.result == text else None
    shown = from_json(drawn) if drawn and is_current(drawn) else presented(report, result)
    now = timezone.now()
    StoredReport.objects.update_or_create(
        report=report.name,
        key=key_of(asked),
        defaults={
            "asked": asked,
            "waiting_since": None,
            "requested_by": None,
            "error": "",
            "counted_at": now,
            "seconds": seconds,
            **asdict(state),
            "result": text,
            "shown": to_json(shown),
        },
    )
    _forget_oldest(report)
    return Counted(text, shown, now, seconds)


def current_state() -> State:
    """Return up to where the archive has come."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).aggregate(last=Max("pk"))["last"]
    decision = Decision.objects.aggregate(last=Max("pk"))["last"] or 0
    return State(run, decision, Article.objects.aggregate(newest=Max("revision"))["newest"] or 0)


def changes_since(stored: StoredReport) -> Changes:
    """Return what has changed in the archive since a result was counted."""
    runs = DetectionRun.objects.filter(state=DetectionRun.State.DONE, pk__gt=stored.run_id or 0)
    decisions = Decision.objects.filter(pk__gt=stored.last_decision)
    articles = Article.objects.filter(revision__gt=stored.newest_revision)
    return Changes(*(each.order_by()[:_CHANGES_COUNTED].count() for each in (runs, decisions, articles)))


def count_after_run() -> int:
    """Count the reports that a large archive has ready after each run; return how many.

    One that fails is logged, and its page says why: the run itself is done.
    """
    if not _is_large():
        return 0
    ready = [each for each in REPORTS.values() if each.after_run]
    for report in ready:
        try:
            count(report, Scope(), report.options_class())
        except Exception as error:
            log.exception("The report %s could not be counted after the run", report.name)
            asked = asked_for(Scope(), report.options_class())
            StoredReport.objects.update_or_create(
                report=report.name, key=key_of(asked), defaults={"asked": asked, "error": str(error)}
            )
    return len(ready)


def _is_large() -> bool:
    """Return whether there are many articles or pairs, without counting all of them."""
    return any(
        rows.order_by()[:LARGE_ARCHIVE].count() == LARGE_ARCHIVE for rows in (Article.objects.all(), Pair.objects.all())
    )


def key_of(asked: dict[str, Any]) -> str:
    """Return the digest by which a question is found again."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _forget_oldest(report: Report) -> None:
    kept = StoredReport.objects.filter(report=report.name).order_by("-counted_at").values_list("pk", flat=True)[:_KEPT]
    StoredReport.objects.filter(report=report.name, waiting_since=None).exclude(pk__in=list(kept)).delete()
