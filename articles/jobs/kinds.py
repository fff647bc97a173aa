"""The kinds of jobs that a worker does. One more is one line here and one function; see docs/contributing.md."""

from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job.

    `work` is the path of a function of a `Work`, which does the job and returns its result as JSON; only the worker
    imports it. `label` is its noun for people, `unit` what its progress counts. `permission` is what it takes to ask
    for one and to cancel it; whoever asked may cancel it, too. With `is_private`, nobody else sees it.

    A job whose worker was killed is done again, MOST_TRIES times. `ended` is the path of a function of the job and a
    reason, called when a job was queued again, given up or cancelled, as its state says: it marks what the job made.

    A worker does one task at a time, and most jobs are tasks. Those of a kind without `has_task` are done at the same
    time, by threads of the worker that call do_waiting.
    """

    name: str
    label: str
    work: str
    permission: str
    unit: str = ""
    is_private: bool = False
    is_cancellable: bool = True
    has_task: bool = True
    ended: str = ""

    def mark_ended(self, job: Any, reason: str) -> None:
        """Mark what a job has made that was queued again, given up or cancelled."""
        if self.ended:
            import_string(self.ended)(job, reason)


_DECIDE, _RUN, _IMPORT = "dedup.add_decision", "dedup.add_detectionrun", "articles.add_fileimport"
_CRAWL, _TRY, _REQUESTED = "crawlers.add_crawl", "articles.add_newspaper", "crawlers.requested"
_RULE, _REMOVE = "articles.add_extractionrule", "articles.add_removal"
_CHANGE, _COPIES = "articles.change_newspaper", "articles.jobs.attached_copies"
_RUNS, _REMOVALS = "dedup.detection.runs", "newsdedup_site.privacy.removal"
_MARK_RUN, _LEAVE = f"{_RUNS}.tasks.mark_run", f"{_REQUESTED}.queue.leave_visited"

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("report", "report", "dedup.reports.computing.compute_report", _DECIDE),
        Kind("lesson", "lesson", "dedup.research.learning.learn_job", _RUN),
        Kind("run", "run", f"{_RUNS}.tasks.run_job", _RUN, ended=_MARK_RUN),
        Kind("night", "nightly run", f"{_RUNS}.tasks.night_job", _RUN, is_cancellable=False, ended=_MARK_RUN),
        Kind("clusters", "rebuild of clusters", f"{_RUNS}.tasks.clusters_job", _RUN),
        Kind("corpus", "export", "dedup.corpora.write_corpus_job", _RUN, unit="articles"),
        Kind("import", "import", "articles.files.uploads.import_job", _IMPORT, "bytes", is_private=True),
        Kind("reextraction", "extraction", f"{_RUNS}.tasks.reextraction_job", _RULE, "articles", is_private=True),
        Kind("separation", "storing of copies", f"{_COPIES}.separation_job", _CHANGE, "copies", is_private=True),
        Kind(
            "removal",
            "removal",
            f"{_REMOVALS}.removal_job",
            _REMOVE,
            is_private=True,
            is_cancellable=False,
            ended=f"{_REMOVALS}.take_up_again",
        ),
        Kind(
            "crawl", "crawl", f"{_REQUESTED}.supervisor.crawl_job", _CRAWL, "newspapers", has_task=False, ended=_LEAVE
        ),
        Kind("discovery", "search", f"{_REQUESTED}.trials.discovery_job", _TRY, is_private=True, has_task=False),
        Kind("trial", "trial", f"{_REQUESTED}.trials.trial_job", _TRY, is_private=True, has_task=False),
    )
}
