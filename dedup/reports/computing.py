"""Computes reports, in a page, after a run or by a worker, keeps their results, and finds what is kept."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from datetime import date
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from articles.jobs.work import JobError, Work, ask
from articles.models import Article, Job, Newspaper
from articles.normalization.searches import SearchError
from articles.storage.fingerprints import fingerprint
from dedup.declarations import Settings, make_config
from dedup.detection.runs.scope import Scope
from dedup.models import Decision, DetectionRun, FittedModel, Pair, SampledPair, SampleLabel, StoredReport, Watermark
from dedup.reports import REPORTS
from dedup.reports.base import LARGE, Report, ReportError
from dedup.reports.formats import Shown, as_json, from_json, is_current, of_json, presented, shown_by, to_json

# A result that took less than this is computed again for each reader.
QUICK_SECONDS = 0.2
# A run of new articles leaves results that took longer than this as they are while no larger share of the articles is
# newer: a nightly run need not read a million articles again for a thousand.
SLOW_SECONDS = 1.0
FEW_ARTICLES = 0.01
# Results kept of each report: the latest ones.
_KEPT = 100
# More than this are not counted one by one to say what has changed since.
_CHANGES_COUNTED = 10_000

log = logging.getLogger(__name__)


def asked_for(scope: Scope, options: Settings) -> dict[str, Any]:
    """Return a scope and options as they are stored."""
    return {
        "since": scope.since and scope.since.isoformat(),
        "until": scope.until and scope.until.isoformat(),
        "newspaper_ids": None if scope.newspaper_ids is None else sorted(scope.newspaper_ids),
        "words": scope.words,
        "options": asdict(options),
    }


def stored_report(report: Report, scope: Scope, options: Settings) -> StoredReport | None:
    """Return what is kept for this question; it may be waiting, and its report not computed yet."""
    return _stored(report, asked_for(scope, options)).select_related("run", "job").first()


def _stored(report: Report, asked: dict[str, Any]) -> QuerySet[StoredReport]:
    return StoredReport.objects.filter(report=report.name, key=key_of(asked))


def forget_grouped() -> None:
    """Delete the kept results that count newspapers of a collection as one, because collections have changed."""
    grouped = Q(asked__options__together__gt="") | Q(asked__options__by_owner=True) | Q(asked__options__by_edition=True)
    StoredReport.objects.filter(grouped).update(result="", shown=None)


# Up to where the archive had come before, what a report found, and in how many seconds.
_Result = tuple[dict[str, Any], Any, float]


def compute(report: Report, scope: Scope, options: Settings) -> StoredReport:
    """Compute a report, and keep the result. Raises ReportError if it cannot be computed like this."""
    return _kept(report, scope, options, _result(report, scope, options))


def _result(report: Report, scope: Scope, options: Settings) -> _Result:
    state = current_state()
    began = time.monotonic()
    result = report.result(scope, options)
    return state, result, time.monotonic() - began


def _kept(report: Report, scope: Scope, options: Settings, found: _Result) -> StoredReport:
    """Keep a result. The next one who asks draws it, which takes longer than most queries."""
    state, result, seconds = found
    text = as_json(result)
    asked = asked_for(scope, options)
    before = _stored(report, asked).first()
    kept, _ = StoredReport.objects.update_or_create(
        report=report.name,
        key=key_of(asked),
        defaults={
            "asked": asked,
            "job": None,
            "error": "",
            "computed_at": timezone.now(),
            "seconds": seconds,
            **state,
            "result": text,
            "shown": before.shown if before is not None and before.result == text else None,
        },
    )
    latest = StoredReport.objects.filter(report=report.name).order_by("-computed_at").values_list("pk", flat=True)
    not_waited_for().filter(report=report.name).exclude(pk__in=list(latest[:_KEPT])).delete()
    return kept


def drawn(kept: StoredReport) -> Shown:
    """Return what shows a kept result: drawn now, if it is not yet, or was drawn by an earlier version of the reports.

    What this version cannot read is shown as it was drawn. Raises ReportError if it never was.
    """
    if kept.shown is None or not is_current(kept.shown):
        report = REPORTS[kept.report]
        try:
            kept.shown = to_json(presented(report, of_json(report, kept.result)))
        except ReportError:
            if kept.shown is None:
                raise
        else:
            StoredReport.objects.filter(pk=kept.pk, computed_at=kept.computed_at).update(shown=kept.shown)
    return from_json(kept.shown)


def current_state() -> dict[str, Any]:
    """Return up to where the archive has come: the last finished run, the last decision, the newest article."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).aggregate(last=Max("pk"))["last"]
    decision = Decision.objects.aggregate(last=Max("pk"))["last"] or 0
    newest = Article.objects.aggregate(newest=Max("revision"))["newest"] or 0
    return {"run_id": run, "last_decision": decision, "newest_revision": newest}


def changes_since(stored: StoredReport) -> dict[str, int]:
    """Return how many "runs", "decisions" and "articles" are new since a result was computed, without those of none.

    At most _CHANGES_COUNTED of each are counted.
    """
    new: dict[str, QuerySet[Any]] = {
        "runs": DetectionRun.objects.filter(state=DetectionRun.State.DONE, pk__gt=stored.run_id or 0),
        "decisions": Decision.objects.filter(pk__gt=stored.last_decision),
        "articles": Article.objects.filter(revision__gt=stored.newest_revision),
    }
    counts = {name: rows.order_by()[:_CHANGES_COUNTED].count() for name, rows in new.items()}
    return {name: count for name, count in counts.items() if count}


# ---- by a worker ---------------------------------------------------------------------------------------


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


def compute_report(work: Work) -> None:
    """Compute what somebody waits for. Raises JobError."""
    stored = StoredReport.objects.filter(pk=work.job.arguments["stored_id"]).first()
    if stored is None or stored.report not in REPORTS:
        return
    report, asked = REPORTS[stored.report], stored.asked
    since, until = (asked[name] and date.fromisoformat(asked[name]) for name in ("since", "until"))
    newspapers = None if asked["newspaper_ids"] is None else tuple(asked["newspaper_ids"])
    try:
        scope = Scope(since, until, newspapers, words=asked.get("words", ""))
        compute(report, scope, make_config(report.options_class, asked["options"]))
    except (ReportError, SearchError) as error:
        raise JobError(str(error)) from error


# ---- after a run ---------------------------------------------------------------------------------------


def compute_after_run(
    at_a_time: int,
    *,
    only_new: bool = False,
    unchanged: bool = False,
    on_start: Callable[[int], None] = lambda _reports: None,
    on_done: Callable[[int], None] = lambda _reports: None,
) -> int:
    """Compute the reports that a large archive has ready after each run; return how many were due.

    The database works on so many `at_a_time`. After a run that left all pairs and clusters `unchanged`, results are
    kept if nothing else that they read has changed. After one of new articles, `only_new`, those that take long are
    kept while few articles are new since: their pages say how many. A report that fails is logged, and its page says
    why: the run itself is done.
    """
    if not _has(LARGE):
        return 0
    ready = {report.name: report for report in REPORTS.values() if report.after_run}
    input_digest = _input_digest()
    marks = Watermark.objects.filter(input_digest=input_digest)
    same = set(marks.filter(name__in=map(_mark, ready)).values_list("name", flat=True)) if unchanged else set()
    kept = {name for name in ready if _mark(name) in same and not ready[name].names_run}
    waiting = {name for name in ready.keys() - kept if _may_wait(ready[name])} if only_new else set()
    due = tuple(name for name in ready if name not in kept | waiting)
    on_start(len(due))
    Watermark.objects.filter(name__in=[_mark(name) for name in ready.keys() - kept]).delete()
    for report, result in _results([ready[name] for name in due], at_a_time):
        _keep(report, result, input_digest)
        on_done(1)
    for name in kept:
        _stored(ready[name], _default(ready[name])).update(run=current_state()["run_id"])
    return len(due)


def _keep(report: Report, result: Callable[[], _Result], input_digest: str) -> None:
    """Keep the result for all articles, or why there is none; `input_digest`: that of what the reports read."""
    try:
        _kept(report, Scope(), report.options_class(), result())
    except Exception as error:
        log.exception("The report %s could not be computed after the run", report.name)
        StoredReport.objects.update_or_create(
            report=report.name, key=key_of(_default(report)), defaults={"asked": _default(report), "error": str(error)}
        )
    else:
        Watermark.objects.create(name=_mark(report.name), revision=0, input_digest=input_digest)


def _mark(name: str) -> str:
    """Return the name under which it is kept what the result of a report rests on."""
    return f"report {name}"


def _default(report: Report) -> dict[str, Any]:
    return asked_for(Scope(), report.options_class())


def _may_wait(report: Report) -> bool:
    """Return whether the kept result of a report is recent enough to stay: it took long, and few articles are new."""
    stored = _stored(report, _default(report)).filter(error="").first()
    if stored is None or not stored.result or stored.seconds < SLOW_SECONDS:
        return False
    few = round(FEW_ARTICLES * Article.objects.count())
    newer = Article.objects.filter(revision__gt=stored.newest_revision).order_by()
    return newer[: few + 1].count() <= few


def _results(reports: Sequence[Report], at_a_time: int) -> Iterator[tuple[Report, Callable[[], _Result]]]:
    """Yield each report with a function that returns or raises what it found, in the order in which they finish.

    The database works on several at a time. In a transaction there is only its own connection.
    """
    if at_a_time < 2 or connection.in_atomic_block:
        for report in reports:
            yield report, partial(_result, report, Scope(), report.options_class())
        return
    with ThreadPoolExecutor(at_a_time) as pool:
        pending = {pool.submit(_in_thread, report): report for report in reports}
        for future in as_completed(pending):
            yield pending[future], future.result


def _in_thread(report: Report) -> _Result:
    try:
        return _result(report, Scope(), report.options_class())
    finally:
        connection.close()


def _input_digest() -> str:
    """Return a digest of what the reports read apart from pairs and clusters, which runs change."""
    state = current_state()
    return fingerprint(
        [state["last_decision"], state["newest_revision"], shown_by(), sorted(REPORTS)],
        list(Newspaper.objects.order_by("pk").values_list("pk", "name")),
        [str(label) for label in SampleLabel.objects.aggregate(Count("pk"), Max("labelled_at")).values()],
        [str(pair) for pair in SampledPair.objects.aggregate(Count("pk"), Max("settled_at")).values()],
        list(FittedModel.objects.filter(in_use=True).values_list("pk", flat=True)),
    )


def _has(number: int) -> bool:
    """Return whether there are so many articles or pairs, without counting all of them."""
    known: tuple[QuerySet[Any], ...] = (Article.objects.order_by(), Pair.objects.order_by())
    return any(rows[:number].count() == number for rows in known)


def is_heavy(report: Report, options: Settings) -> bool:
    """Return whether a report takes longer than a reader waits for a page. Raises ReportError."""
    report.check(options)
    bound = report.heavy_with(options)
    return bound is not None and _has(bound)


def key_of(asked: dict[str, Any]) -> str:
    """Return the digest by which a question is found again."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def not_waited_for() -> QuerySet[StoredReport]:
    """Return the results that no worker is to compute."""
    return StoredReport.objects.exclude(job__state__in=Job.ACTIVE)
