"""`manage.py evaluate`: measure passes and verdicts against pairs that people have labelled."""

from __future__ import annotations

import io
import json
from argparse import BooleanOptionalAction
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db import DEFAULT_DB_ALIAS

from articles.management.arguments import add_workers_option
from articles.management.base import ExitCode, LongCommand
from articles.processes import WorkerDiedError
from dedup.evaluation.labels import Label, LabelsError, Problem, find_articles, read_labels
from dedup.evaluation.measure import counts_of, judged_pairs, report
from dedup.evaluation.print import print_report
from dedup.evaluation.scratch import ScratchError, scratch_schema
from dedup.management.arguments import add_profile_options, chosen_boilerplate, chosen_configs, chosen_profile
from dedup.models import DetectionRun, FittedModel, Profile
from dedup.passes import PASSES
from dedup.runs.pipeline import run_detection, start_run
from dedup.runs.profiles import ProfileError
from dedup.runs.progress import run_progress
from dedup.runs.scope import Scope

_SHOWN_PROBLEMS = 5
# Options that only apply to a run on --articles.
_OF_A_RUN = ("profile", "passes", "boilerplate")


class Command(LongCommand):
    """Read the labels, run if articles are given, measure, print. Results go to stdout, all else to stderr."""

    help = (
        "Measure how well the passes and the verdicts agree with labelled pairs: precision, recall, F1 and every "
        "error. It uses the stored articles, or those of --articles, which are kept apart and dropped afterwards."
    )

    resuming = "Nothing was stored."
    exit_codes = {
        LabelsError: ExitCode.USAGE,
        ProfileError: ExitCode.USAGE,
        ScratchError: ExitCode.ERROR,
        WorkerDiedError: ExitCode.ERROR,
    }

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--articles",
            metavar="FILE",
            help="import this file into a temporary schema and run there (default: the stored articles and verdicts)",
        )
        parser.add_argument(
            "--labels",
            required=True,
            metavar="FILE",
            help="JSON lines or CSV, also .gz, with a and b (external ids) or url_a and url_b, label (D, V, T, E, N), "
            "and optionally weight, stratum, days",
        )
        add_profile_options(parser, condition="with --articles: ")
        parser.add_argument(
            "--cross-validate",
            action=BooleanOptionalAction,
            default=True,
            help="also measure verdicts of models learnt from the labels of other dates (default: yes)",
        )
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_workers_option(parser, note="; used with --articles")

    def handle(self, **options: Any) -> None:
        """Measure."""
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        labels, problems = read_labels(Path(options["labels"]))
        _check(options)
        if options["articles"] is None:
            result = _measured(labels, problems, _last_run(), options)
        else:
            result = self._measured_apart(chosen_profile(options), labels, problems, options)
        self._print_problems(result["labels"]["problems"])
        if options["format"] == "json":
            self.stdout.write(json.dumps(result, ensure_ascii=False))
        else:
            print_report(result, cast("TextIO", self.stdout))

    def _measured_apart(
        self, profile: Profile, labels: Sequence[Label], problems: list[Problem], options: dict[str, Any]
    ) -> dict[str, Any]:
        """Import the articles into a temporary schema, run there, and measure."""
        configs = chosen_configs(profile, options)
        model = FittedModel.objects.filter(in_use=True).first()
        with scratch_schema():
            if model:
                FittedModel.objects.create(content=model.content, decisions=model.decisions, in_use=True)
            self._import(options)
            kept = {name: getattr(profile, name) for name in ("settings", "versions_join", "boilerplate")}
            same, _ = Profile.objects.update_or_create(name=profile.name, defaults=kept)
            # No other process uses this schema, so a run here needs no lock and does not wait for other runs.
            scope = Scope(boilerplate=chosen_boilerplate(options, profile))
            with run_progress(show=not options["no_progress"]) as progress:
                run = start_run(configs, scope, profile=same, progress=progress)
                run_detection(run, configs, scope, progress=progress, workers=options["workers"])
            return _measured(labels, problems, run, options)

    def _import(self, options: dict[str, Any]) -> None:
        """Import the articles, and print its messages at the end: an import that stops here cannot be resumed."""
        messages = io.StringIO()
        try:
            call_command(
                "import_articles",
                options["articles"],
                no_progress=options["no_progress"],
                stdout=messages,
                stderr=messages,
            )
        except SystemExit:
            raise KeyboardInterrupt from None
        self.stderr.write(messages.getvalue().rstrip())

    def _print_problems(self, problems: Sequence[dict[str, Any]]) -> None:
        for each in problems[:_SHOWN_PROBLEMS]:
            self.stderr.write(f"line {each['line']}: {each['reason']}")
        if (more := len(problems) - _SHOWN_PROBLEMS) > 0:
            self.stderr.write(f"… and {more:,} more rows that do not count; --format json lists them all.")


def _check(options: dict[str, Any]) -> None:
    """Raise ProfileError for options that need --articles."""
    if options["articles"] is None and any(options[name] is not None for name in _OF_A_RUN):
        raise ProfileError(
            "--profile, --passes and --boilerplate apply to --articles only; name a file with --articles too"
        )


def _last_run() -> DetectionRun:
    """Return the run whose verdicts are measured. Raises ProfileError if there is none."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    if run is None:
        raise ProfileError("no run has finished yet; run manage.py find_duplicates, or name a file with --articles")
    return run


def _measured(
    labels: Sequence[Label], problems: Sequence[Problem], run: DetectionRun, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the report on the pairs of a run. Raises LabelsError if no label can be used."""
    found, unknown = find_articles(labels)
    every = sorted([*problems, *unknown], key=lambda each: each.line)
    if not found:
        first = f", for example line {every[0].line}: {every[0].reason}" if every else ": the file is empty"
        raise LabelsError(f"{options['labels']} has no pair whose two articles are stored{first}")
    judged = judged_pairs(found)
    passes = [name for name in PASSES if run.config.get(name, {}).get("enabled")]
    return {
        "about": _about(run, options["articles"]),
        "run": {
            "number": run.pk if options["articles"] is None else None,
            "finished_at": run.finished_at and run.finished_at.isoformat(timespec="seconds"),
            "profile": run.profile_name,
            "articles": run.counts.get("articles"),
            "pairs": run.counts.get("pairs"),
        },
        "labels": {
            "read": len(labels) + len(problems),
            "bad": sum(each.stored for each in every),
            "not_stored": sum(not each.stored for each in every),
            **counts_of(judged),
            "problems": [asdict(each) for each in every],
        },
        **report(judged, passes, cross_validated=options["cross_validate"]),
    }


def _about(run: DetectionRun, articles: str | None) -> str:
    if articles is None:
        return f"Stored verdicts; the last run was run {run.pk}, finished {run.finished_at:%Y-%m-%d %H:%M} UTC."
    counts = run.counts
    return f"{counts['articles']:,} articles of {Path(articles).name}, {counts['pairs']:,} pairs proposed."
