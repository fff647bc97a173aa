"""The dashboard, the list of detection runs with those that wait for a worker, and the page of a run."""

import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from articles.models import Article, Newspaper
from articles.paging import COUNT_CEILING, count_up_to_ceiling, write_count
from dedup.detection.passes import PASSES
from dedup.detection.runs.facts import label, pass_counts, rule_facts, run_facts, run_settings, unit
from dedup.detection.runs.requests import is_at_work, is_worker_alive, waiting_runs
from dedup.models import Cluster, DetectionRun, Pair, RunPhase, Series
from dedup.review.queries.lists import ANY, VERDICTS, count_by_verdict

# What is left of a phase is estimated once it is this far, by share and in seconds.
_ESTIMATED_FROM_SHARE, _ESTIMATED_FROM_SECONDS = 0.05, 3.0

BLOCKS_SHOWN = 200


class PhaseRow(NamedTuple):
    """A phase as the page shows it. `left`: about how many seconds it still takes; None if unknown."""

    label: str
    state: str
    done: int
    total: int | None
    words: str  # what is counted: "articles, 1,234 pairs"
    seconds: float
    left: int | None


class RunProgress(NamedTuple):
    """How far a run is. `at_work`: whether a process works on it; if not, one that is running has been killed."""

    phases: list[PhaseRow]
    seconds: float
    at_work: bool


def queue() -> dict[str, Any]:
    """Return what waits for a worker, the longest first, and whether a worker gave a sign of life lately."""
    return {"jobs": list(waiting_runs().select_related("requested_by")), "worker_alive": is_worker_alive()}


def run_progress(run: DetectionRun) -> RunProgress:
    """Return how far a run is, phase by phase."""
    at_work = run.state == DetectionRun.State.RUNNING and is_at_work()
    now = timezone.now()
    phases = [phase_row(phase, now if at_work else None) for phase in run.phases.all()]
    return RunProgress(phases, sum(phase.seconds for phase in phases), at_work)


def phase_row(phase: RunPhase, now: datetime.datetime | None) -> PhaseRow:
    """Return a phase as the page shows it; `now` is None if nobody works on it."""
    shares_time = phase.name in PASSES
    state, seconds = phase.state, phase.seconds
    if state == RunPhase.State.RUNNING and shares_time:
        # The passes of a run begin together; which of them is at work shows in what it has done.
        state = "done" if phase.total == phase.done and phase.total is not None else state if phase.done else "ahead"
    elif state == RunPhase.State.RUNNING and now is not None:
        seconds += max(0.0, (now - phase.updated_at).total_seconds())
    left = None
    share = phase.done / phase.total if phase.total else 0.0
    if state == "running" and now and share >= _ESTIMATED_FROM_SHARE and seconds >= _ESTIMATED_FROM_SECONDS:
        left = round(seconds * (1 - share) / share)
    return PhaseRow(label(phase.name), state, phase.done, phase.total, unit(phase.name, phase.found), seconds, left)


def latest_runs() -> QuerySet[DetectionRun]:
    """Return the runs with the users who started them, the latest first."""
    return DetectionRun.objects.select_related("requested_by").order_by("-started_at", "-id")


def last_finished_run() -> DetectionRun | None:
    """Return the latest run that came to its end."""
    return latest_runs().filter(state=DetectionRun.State.DONE).first()


def run_details(run: DetectionRun) -> dict[str, Any]:
    """Return what the page of a run shows."""
    return {
        "passes": pass_counts(run),
        "facts": run_facts(run),
        "settings": run_settings(run),
        "blocks": run.blocks.order_by("-id")[:BLOCKS_SHOWN],
        "block_number": run.blocks.count(),
        "rules": [rule_facts(rule) for rule in run.scope.get("rules", [])],
        "blocks_shown": BLOCKS_SHOWN,
    }


RUNS_SHOWN = 5
_NAMED = [name for name in VERDICTS if name not in ("", ANY)]


def overview() -> dict[str, Any]:
    """Return what the dashboard shows."""
    articles = Article.objects.count()
    clusters = Cluster.objects.aggregate(
        proposed=Count("pk", filter=Q(state=Cluster.State.PROPOSED)),
        confirmed=Count("pk", filter=Q(state=Cluster.State.CONFIRMED)),
        number=Count("pk"),
        members=Sum("size", default=0),
    )
    duplicates = clusters["members"] - clusters["number"]
    return {
        "articles": articles,
        "newspapers": Newspaper.objects.in_use().count(),
        # Of the pairs that wait.
        "by_verdict": [(name, VERDICTS[name][0], number) for name, number in _waiting().items()],
        "series": Series.objects.filter(ruled_at=None).count(),  # without a rule
        "clusters": clusters,
        "duplicates": duplicates,
        "share": duplicates / articles if articles else 0.0,  # of all articles, 0..1
        "runs": latest_runs()[:RUNS_SHOWN],
    }


def _waiting() -> dict[str, str]:
    """Return how many pairs of each verdict wait, without those of which none does.

    They are counted up to a ceiling from the index pair_waiting_by_verdict. Beyond it, the last run has counted all
    pairs of a verdict, and those that are decided are fewer.
    """
    counted = {name: count_up_to_ceiling(Pair.objects.in_queue().filter(VERDICTS[name][1])) for name in _NAMED}
    known: dict[str, int] = {}
    if any(number > COUNT_CEILING for number in counted.values()) and (run := last_finished_run()):
        decided = count_by_verdict(Pair.objects.proposed().exclude(state=Pair.State.UNDECIDED))
        found = run.counts.get("verdicts", {})
        known = {name: number - decided.get(name, 0) for name, number in found.items()}
    return {
        # Less than the ceiling is known only if pairs have come since that run.
        name: f"{known[name]:,}" if number > COUNT_CEILING < known.get(name, 0) else write_count(number)
        for name, number in counted.items()
        if number
    }
