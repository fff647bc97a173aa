"""A run is stored before it begins: a new one, one that stopped and goes on, or one that could not start."""

from __future__ import annotations

from django.utils import timezone

from dedup.detection.runs.profiles import Configs, snapshot
from dedup.detection.runs.scope import Scope, state_of_articles, texts_will_change
from dedup.models import DetectionRun, Profile


def start_run(
    configs: Configs,
    scope: Scope,
    *,
    profile: Profile | None = None,
    user_id: int | None = None,
    by_itself: bool = False,
) -> DetectionRun:
    """Store a new run, or resume the last one if it stopped. Call inside `run_lock`.

    A run that stopped is resumed if its settings, its scope and the articles are still the same: its results are kept
    and its finished blocks are not repeated. Otherwise it is marked as interrupted, and a new run repairs what it left.
    A run that nobody asked for, started `by_itself`, does not resume one that was cancelled.
    """
    asked_as = profile.name if profile else ""
    asked = {"config": snapshot(configs), "scope": scope.stored()}
    end_killed_runs()
    last = DetectionRun.objects.order_by("-pk").first()
    stopped = (DetectionRun.State.INTERRUPTED, DetectionRun.State.FAILED)
    if (
        last is not None
        and last.state in stopped
        and {"config": last.config, "scope": last.scope} == asked
        and not last.results
        and not (by_itself and last.cancelled_at)
        and _is_unchanged(last, scope)
    ):
        last.profile, last.profile_name, last.requested_by_id = profile, asked_as, user_id
        return resumed(last)
    return DetectionRun.objects.create(
        profile=profile,
        profile_name=asked_as,
        requested_by_id=user_id,
        **asked,
    )


def end_killed_runs() -> None:
    """Mark runs whose process is gone as interrupted. Call inside `run_lock`."""
    DetectionRun.objects.filter(state=DetectionRun.State.RUNNING).update(
        state=DetectionRun.State.INTERRUPTED,
        finished_at=timezone.now(),
        error="The process ended unexpectedly (killed or crashed).",
    )


def resumed(stopped: DetectionRun) -> DetectionRun:
    """Store that a run that stopped goes on; return it."""
    stopped.state, stopped.finished_at, stopped.error = DetectionRun.State.RUNNING, None, ""
    stopped.cancelled_at = stopped.cancelled_by = None
    stopped.save()
    return stopped


def store_refused_run(scope: Scope, reason: str, *, profile: Profile, user_id: int | None) -> DetectionRun:
    """Store that a run could not start, for users who started it on a page and see no terminal."""
    return DetectionRun.objects.create(
        profile=profile,
        profile_name=profile.name,
        requested_by_id=user_id,
        config={},
        scope=scope.stored(),
        state=DetectionRun.State.FAILED,
        error=reason,
        finished_at=timezone.now(),
    )


def _is_unchanged(stopped: DetectionRun, scope: Scope) -> bool:
    """Return whether a run that stopped has compared the articles as they are; or none yet, if it was preparing."""
    if "fingerprint" not in stopped.counts:
        return True
    return not texts_will_change(scope) and bool(stopped.counts["fingerprint"] == state_of_articles(scope))
