"""The kinds of jobs that a worker does. One more is one line here and one function; see docs/contributing.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job.

    `work` is the path of a function of a `Work`, which does the job and returns its result as JSON; only the worker
    imports it. `label` is its noun for people, `unit` what its progress counts. `permission` is what it takes to ask
    for one and to cancel it; whoever asked may cancel it, too. With `is_private`, nobody else sees it.

    A job whose worker was killed is done again if it `begins_again`. `left` is the path of a function of the job and a
    reason, which marks what a killed worker has left: called when the job is queued again or has failed for good.
    """

    name: str
    label: str
    work: str
    permission: str
    unit: str = ""
    is_private: bool = False
    begins_again: bool = True
    left: str = ""

    def do(self, work: Any) -> Any:
        """Do a job of this kind."""
        return import_string(self.work)(work)

    def mark_left(self, job: Any, reason: str) -> None:
        """Mark what a killed worker has left of a job."""
        if self.left:
            import_string(self.left)(job, reason)


_DECIDE, _RUN = "dedup.add_decision", "dedup.add_detectionrun"

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("report", "report", "dedup.reports.tasks.count_report", _DECIDE),
        Kind("lesson", "lesson", "dedup.research.tasks.learn_job", _RUN),
    )
}
