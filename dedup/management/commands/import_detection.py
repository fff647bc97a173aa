"""`manage.py import_detection`: stores what a run on a cluster found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.management.base import CommandParser

from articles.loading import require, when_used
from articles.management.arguments import add_workers_option
from articles.management.base import ExitCode, LongCommand
from dedup.detection.runs.phases import RunCancelledError
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.progress import print_run, run_progress
from dedup.detection.runs.scope import ScopeError
from dedup.detection.runs.starting import RunActiveError, run_lock
from dedup.detection.spark.manifest import BundleError, ChangedArticlesError, VersionsError
from dedup.management.arguments import add_audit_option, add_run_format_option, audit_run, check_audit
from dedup.models import DetectionRun

if TYPE_CHECKING:
    from dedup.detection.runs.cluster import importing
else:
    # It needs pyarrow, which --help does not.
    importing = when_used("dedup.detection.runs.cluster.importing")


class Command(LongCommand):
    help = (
        "Stores the results of newsdedup-spark run as a run, as if find_duplicates had found them here. Articles that "
        "have changed since the export, and results of other versions, are refused. The same results are stored once."
    )

    exit_codes: ClassVar = {
        BundleError: ExitCode.ERROR,
        ChangedArticlesError: ExitCode.ERROR,
        RunActiveError: ExitCode.ACTIVE,
        ScopeError: ExitCode.USAGE,
        RunCancelledError: ExitCode.INTERRUPTED,
        VersionsError: ExitCode.ERROR,
    }

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="the folder of the export, with the results")
        add_audit_option(parser)
        parser.add_argument("--dry-run", action="store_true", help="check all, and print the counts, but store nothing")
        add_workers_option(parser)
        add_run_format_option(parser)

    def handle(self, **options: Any) -> None:
        require("pyarrow")
        self.check_database()
        finished = importing.read_results(options["folder"])
        check_audit(options, finished.configs)
        with run_lock(self.stderr.write):
            importing.check_articles(finished)
            if changed := importing.terms_have_changed(finished):
                self.stderr.write(f"Changed since the export: {', '.join(changed)}. All pairs are judged again here.")
            if options["dry_run"]:
                self.stdout.write("\n".join([*finished.result.described(), "Nothing was stored."]))
                return
            self._store(finished, options)

    def _store(self, finished: importing.Finished, options: dict[str, Any]) -> None:
        run = importing.start_import(finished)
        if run.state == DetectionRun.State.DONE:
            self.stdout.write(f"Run {run.pk} has stored these results; nothing to do.")
            return
        with run_progress(show=not options["no_progress"]) as progress:
            run_detection(
                run,
                finished.configs,
                finished.scope,
                progress=progress,
                workers=options["workers"],
                results=importing.StoredResults(finished),
            )
        print_run(run, options["format"], self.stdout)
        if options["audit"]:
            audit_run(finished.configs, finished.scope, options, self.stdout, self.stderr)
