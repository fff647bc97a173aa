"""`find_duplicates --engine spark`: exports, runs newsdedup-spark on this machine, and imports, in turn."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from articles.loading import require
from dedup.detection.runs.scope import ScopeError

# The options of find_duplicates that its parts have too.
_EXPORTED = (
    "profile", "passes", "boilerplate", "since", "until", "newspapers", "day_window", "prefix", "threshold",
    "no_progress",
)  # fmt: skip
_IMPORTED = ("audit", "workers", "format", "no_progress")


class SparkRunError(RuntimeError):
    """newsdedup-spark ended with an error, which it has printed."""


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
    command = [sys.executable, "-m", "dedup.detection.spark", "run", str(folder), *_spark_options(options)]
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        raise SparkRunError(
            "newsdedup-spark failed, as it says above; to go on, run this command again with "
            f"--folder {folder} --resume"
        )
    stored = {name: options[name] for name in _IMPORTED}
    call_command("import_detection", str(folder), **stored, stdout=stdout, stderr=stderr)
    if options["folder"] is None:
        shutil.rmtree(folder)


def _spark_options(options: Mapping[str, Any]) -> Sequence[str]:
    master = ["--master", options["master"]] if options["master"] else []
    return [*master, *(["--resume"] if options["resume"] else [])]
