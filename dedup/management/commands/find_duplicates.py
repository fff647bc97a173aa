"""`manage.py find_duplicates`: run the detection passes and store what they find."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import InterfaceError, OperationalError
from psycopg import OperationalError as CopyError  # which Django does not wrap
from psycopg.errors import DiskFull

from articles.boilerplate.mode import Mode
from articles.loading import require
from articles.management.arguments import add_workers_option
from articles.management.base import ExitCode, LongCommand
from articles.storage.boilerplate_marks import outdated_weeks
from articles.storage.renormalization import newspapers_to_renormalize, outdated_forms
from dedup.detection.runs.blocks import dry_run
from dedup.detection.runs.phases import RunCancelledError
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.profiles import Configs, ProfileError, enabled
from dedup.detection.runs.progress import print_run, run_progress
from dedup.detection.runs.scope import Scope, ScopeError, only_new
from dedup.detection.runs.starting import RunActiveError, run_lock, start_run
from dedup.management import arguments
from dedup.models import Profile


class SparkRunError(RuntimeError):
    """newsdedup-spark ended with an error, which it has printed."""


class Command(LongCommand):
    """Parse the options, run, print. Results go to stdout, all else to stderr."""

    help = "Find pairs of articles that may be duplicates and cluster them. It never deletes any."

    exit_codes = {
        ProfileError: ExitCode.USAGE,
        ScopeError: ExitCode.USAGE,
        RunActiveError: ExitCode.ACTIVE,
        SparkRunError: ExitCode.ERROR,
        RunCancelledError: ExitCode.INTERRUPTED,
    }

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        arguments.add_run_options(parser)
        parser.add_argument(
            "--new",
            action="store_true",
            help="compare only articles that are new or have changed since the last full run, each within its windows",
        )
        add_workers_option(parser, note="; small archives and dry runs use one")
        arguments.add_audit_option(parser)
        parser.add_argument(
            "--no-verdicts", action="store_true", help="store the pairs found, and leave the verdicts to a later run"
        )
        parser.add_argument("--dry-run", action="store_true", help="print the pairs found, but store nothing")
        arguments.add_run_format_option(parser)
        add_engine_options(parser)

    def handle(self, **options: Any) -> None:
        """Run."""
        # In a database whose locale ignores other scripts, a run would find nothing and report no error.
        self.check_database()
        profile = arguments.chosen_profile(options)
        configs = arguments.chosen_configs(profile, options)
        scope = arguments.chosen_scope(profile, options)
        arguments.check_audit(options, configs)
        check_engine(options)
        if options["engine"] == "spark":
            find_with_spark(options, self.stdout, self.stderr)
            return
        try:
            with run_lock(self.stderr.write):
                # A run updates those of newspapers that were changed or merged itself.
                updated = () if options["dry_run"] else newspapers_to_renormalize()
                if outdated := outdated_forms().exclude(newspaper__in=updated).count():
                    remedy = "run manage.py renormalize, then this command again"
                    self.stderr.write(f"Articles normalised with outdated rules: {outdated:,}; {remedy}.")
                if options["new"]:
                    scope = self._only_new(scope, configs)
                if options["dry_run"]:
                    self._dry_run(configs, scope, options)
                else:
                    self._run(profile, configs, scope, options)
        except (OperationalError, InterfaceError, CopyError) as error:
            # The run cannot be marked as interrupted; the next one notices, and resumes after its finished blocks.
            raise CommandError(f"{_said_of(error)}, then run the same command again to resume") from error

    def _only_new(self, scope: Scope, configs: Configs) -> Scope:
        restricted = only_new(scope, configs)
        if whole := [name for name in enabled(configs) if name not in (restricted.newer_than or {})]:
            self.stderr.write(
                f"No finished full run had these settings of {', '.join(whole)}: all articles are compared."
            )
        return restricted

    def _run(self, profile: Profile, configs: Configs, scope: Scope, options: dict[str, Any]) -> None:
        with run_progress(show=not options["no_progress"]) as progress:
            run = start_run(configs, scope, profile=profile)
            run_detection(
                run, configs, scope, progress=progress, workers=options["workers"], verdicts=not options["no_verdicts"]
            )
        print_run(run, options["format"], self.stdout, detailed=options["verbosity"] > 1)
        if options["audit"]:
            arguments.audit_run(configs, scope, options, self.stdout, self.stderr)

    def _dry_run(self, configs: Configs, scope: Scope, options: dict[str, Any]) -> None:
        if scope.boilerplate is not Mode.KEEP and (weeks := outdated_weeks(scope.newspaper_ids, until=scope.until)):
            self.stderr.write(
                f"Weeks with outdated boilerplate marks: {len(weeks):,}. A run updates them first, a dry run does not; "
                "run manage.py find_boilerplate."
            )
        with run_progress(show=not options["no_progress"]) as progress:
            run, scores = dry_run(configs, scope, progress=progress)
        print_run(run, options["format"], self.stdout, scores=scores, detailed=options["verbosity"] > 1)


def _said_of(error: Exception) -> str:
    """Return what happened to the database, and the remedy."""
    reason = " ".join(str(error).split())  # libpq writes several lines
    if isinstance(error, DiskFull) or isinstance(error.__cause__, DiskFull):
        return f"the disk of the database is full ({reason}); make room there"
    return f"the database was lost ({reason}); see that its server runs"


# The options of find_duplicates that its parts have too.
_EXPORTED = (
    "profile", "passes", "boilerplate", "since", "until", "newspapers", "collections", "day_window", "prefix",
    "threshold", "no_progress",
)  # fmt: skip
_IMPORTED = ("audit", "workers", "format", "no_progress")


def add_engine_options(parser: CommandParser) -> None:
    """Add --engine and the options of Spark."""
    parser.add_argument(
        "--engine",
        choices=("postgresql", "spark"),
        default="postgresql",
        help="spark: export everything, search and judge with Spark, and store the results (default: %(default)s)",
    )
    parser.add_argument("--master", help="with --engine spark: where Spark runs, such as local[2] (default: local[*])")
    parser.add_argument(
        "--folder", metavar="DIR", type=Path, help="with --engine spark: the folder of the export, which stays"
    )
    parser.add_argument(
        "--resume", action="store_true", help="with --engine spark: keep the stages in DIR that an earlier run finished"
    )


def check_engine(options: Mapping[str, Any]) -> None:
    """Raise ScopeError for options that do not go together."""
    if options["engine"] != "spark":
        if given := [name for name in ("master", "folder", "resume") if options[name]]:
            raise ScopeError(f"--{given[0]} is an option of --engine spark; add that, or leave this out")
    elif given := [name for name in ("new", "no_verdicts", "dry_run") if options[name]]:
        raise ScopeError(f"--engine spark compares and judges everything; leave out --{given[0].replace('_', '-')}")
    elif options["resume"] and options["folder"] is None:
        raise ScopeError("--resume needs the folder of the run that stopped; name it with --folder DIR")


def find_with_spark(options: Mapping[str, Any], stdout: Any, stderr: Any) -> None:
    """Export, run, import. The folder is removed at the end unless an option named it. Raises SparkRunError.

    Raises MissingPackageError before the export, which can take long.
    """
    require("pyarrow")
    require("pyspark")
    folder = options["folder"] or Path(tempfile.mkdtemp(prefix="newsdedup-spark-"))
    asked = {name: options[name] for name in _EXPORTED}
    call_command("export_detection", str(folder), **asked, stdout=stderr, stderr=stderr)
    command = [sys.executable, "-m", "dedup.detection.spark", "run", str(folder)]
    command += ["--master", options["master"]] if options["master"] else []
    command += ["--resume"] if options["resume"] else []
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        raise SparkRunError(
            "newsdedup-spark failed, as it says above; to go on, run this command again with "
            f"--folder {folder} --resume"
        )
    stored = {name: options[name] for name in _IMPORTED}
    call_command("import_detection", str(folder), **stored, stdout=stdout, stderr=stderr)
    if options["folder"] is None:
        shutil.rmtree(folder)
