"""`manage.py doctor`: whether the database keeps what newsdedup promises of it."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from articles.management.base import ExitCode, ProjectCommand, usage_error
from newsdedup_site.doctor.examining import SAMPLE, Finding, UnknownInvariantError, examine
from newsdedup_site.embedded import EmbeddedServerError

# The same as for a wrong option: nothing was looked at.
_COULD_NOT_LOOK = ExitCode.USAGE


class Command(ProjectCommand):
    help = (
        "Checks whether the database keeps what newsdedup promises of it, and says how to repair what does not. It "
        "changes nothing, and can be run while editors and runs are at work. Exit code 1: it has found something; 2: "
        "it has found nothing, but could not look at everything."
    )
    exit_codes = {UnknownInvariantError: ExitCode.USAGE, EmbeddedServerError: _COULD_NOT_LOOK}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("checks", nargs="*", metavar="CHECK", help="check only these; default: all")
        parser.add_argument(
            "--sample",
            type=int,
            metavar="N",
            help=f"normalise so many random articles again, and compare so many pairs (default {SAMPLE:,})",
        )
        parser.add_argument("--all", action="store_true", help="look at all articles and pairs, not a sample")
        parser.add_argument("--seed", type=int, help="draw the sample that this number draws")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="how to print the result")

    def handle(self, **options: Any) -> None:
        """Print what is found; exit with 1 if anything is."""
        sample = options["sample"]
        if sample is not None and (sample < 0 or options["all"]):
            raise usage_error(f"--sample is {sample:,}; give 0 or more, and not --all with it.")
        drawn = None if options["all"] else SAMPLE if sample is None else sample
        try:
            findings = examine(options["checks"], sample=drawn, seed=options["seed"])
        except DatabaseError as error:
            reason = str(error).strip()
            raise CommandError(f"The database cannot be examined: {reason}", returncode=_COULD_NOT_LOOK) from error
        self._print_json(findings) if options["format"] == "json" else self._print(findings)
        if any(finding.found.faults for finding in findings):
            sys.exit(ExitCode.ERROR)
        if any(finding.found.error for finding in findings):
            sys.exit(_COULD_NOT_LOOK)

    def _print(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            state = "ok   " if finding.is_healthy else "ERROR" if finding.found.error else "WRONG"
            self.stdout.write(f"{state}  {finding.invariant.name}: {finding.invariant.promise}")
            if finding.found.waiting:
                self.stdout.write(f"         {finding.found.waiting}")
            if finding.found.error:
                self.stdout.write(f"         This check could not be made: {finding.found.error}")
            for example in finding.found.examples:
                self.stdout.write(f"         {example}")
            if (unnamed := finding.found.faults - len(finding.found.examples)) > 0:
                self.stdout.write(f"         and {unnamed:,} more")
            if finding.found.faults:
                self.stdout.write(f"         {finding.invariant.repair}")
        self.stdout.write(_summary(findings))

    def _print_json(self, findings: Sequence[Finding]) -> None:
        rows = [
            {
                "name": finding.invariant.name,
                "promise": finding.invariant.promise,
                "faults": finding.found.faults,
                "examples": list(finding.found.examples),
                "waiting": finding.found.waiting,
                "error": finding.found.error,
                "repair": "" if not finding.found.faults else finding.invariant.repair,
                "seconds": round(finding.seconds, 3),
            }
            for finding in findings
        ]
        healthy = all(finding.is_healthy for finding in findings)
        self.stdout.write(json.dumps({"healthy": healthy, "checks": rows}, indent=2))


def _summary(findings: Sequence[Finding]) -> str:
    wrong = sum(1 for finding in findings if finding.found.faults)
    failed = [finding.invariant.name for finding in findings if finding.found.error]
    said = [f"{wrong} of {len(findings)} checks found something."] if wrong else []
    if failed:
        said.append(f"{len(failed)} of {len(findings)} could not be made: {', '.join(failed)}.")
    return " ".join(said) or f"All {len(findings)} checks passed."
