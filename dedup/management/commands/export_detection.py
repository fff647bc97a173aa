"""`manage.py export_detection`: writes what a run on a cluster needs into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.management.base import CommandParser

from articles.boilerplate.mode import Mode
from articles.loading import require, when_used
from articles.management.base import ExitCode, LongCommand
from articles.models import Article
from dedup.detection.runs.headlines import update_series
from dedup.detection.runs.pipeline import mark_boilerplate, update_forms
from dedup.detection.runs.profiles import ProfileError
from dedup.detection.runs.progress import run_progress
from dedup.detection.runs.scope import ScopeError
from dedup.detection.runs.starting import RunActiveError, run_lock
from dedup.detection.spark.manifest import AlphabetError, BundleError
from dedup.management.arguments import add_run_options, chosen_configs, chosen_profile, chosen_scope

if TYPE_CHECKING:
    from dedup.detection.runs.cluster import exporting
else:
    # It needs pyarrow, which --help does not.
    exporting = when_used("dedup.detection.runs.cluster.exporting")


class Command(LongCommand):
    help = (
        "Writes the articles and settings that a run on a cluster needs into a folder. There, newsdedup-spark run "
        "finds the same pairs and verdicts as find_duplicates; import_detection stores them, and makes the clusters."
    )

    resuming = "The export is not complete; run the same command again."
    exit_codes: ClassVar = {
        AlphabetError: ExitCode.ERROR,
        BundleError: ExitCode.ERROR,
        ProfileError: ExitCode.USAGE,
        ScopeError: ExitCode.USAGE,
        RunActiveError: ExitCode.ACTIVE,
    }

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="a new folder, or that of an earlier export")
        add_run_options(parser)

    def handle(self, **options: Any) -> None:
        require("pyarrow")
        profile = chosen_profile(options)
        scope = chosen_scope(profile, options)
        asked = exporting.Asked(profile, chosen_configs(profile, options), scope)
        with run_lock(self.stderr.write), run_progress(show=not options["no_progress"]) as progress:
            update_forms(progress)
            if scope.boilerplate is not Mode.KEEP:
                mark_boilerplate(scope, progress)
            update_series()  # which moves the rules of merged newspapers
            ahead = Article.objects.in_scope(None, exporting.last_day_read(scope.until), scope.newspaper_ids)
            progress.start("export", ahead.count())
            manifest = exporting.export_detection(
                options["folder"], asked, lambda articles: progress.advance("export", articles, 0)
            )
        written = sum(manifest.files.values())
        self.stdout.write(
            f"Articles: {manifest.articles:,} on {len(manifest.days):,} days. Written: {written / 1e6:,.1f} MB."
        )
        self.stdout.write(f"What a run will cost: newsdedup-spark plan {options['folder']}")
