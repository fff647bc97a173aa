"""The audit of commands that store a run: some days again, with the plain SQL join."""

from __future__ import annotations

from typing import Any, cast

from django.core.management.base import CommandError, CommandParser

from dedup.detection.passes.trigram import TrigramConfig
from dedup.detection.runs.audit import SECONDS_PER_PAIR, audit, audited_pairs, random_days
from dedup.detection.runs.profiles import Configs
from dedup.detection.runs.progress import print_audit, run_progress
from dedup.detection.runs.scope import Scope, ScopeError

# An audit that takes longer, in seconds, says so before it starts.
_SAID_FROM = 60


def add_audit_option(parser: CommandParser) -> None:
    """Add --audit."""
    parser.add_argument(
        "--audit",
        type=int,
        default=0,
        metavar="N",
        help="afterwards re-check N random days with the plain SQL join and report whether the pairs are the same",
    )


def check_audit(options: dict[str, Any], configs: Configs) -> None:
    """Raise ScopeError for an audit that is impossible."""
    if options["audit"] < 0:
        raise ScopeError(f"--audit is {options['audit']}; it must be at least 1 day")
    if options["audit"] and (options["dry_run"] or not configs["trigram"].enabled):
        raise ScopeError("--audit checks what the trigram pass has stored; run that pass, without --dry-run")


def audit_run(configs: Configs, scope: Scope, options: dict[str, Any], stdout: Any, stderr: Any) -> None:
    """Audit as many days as --audit says and print the result. Raises CommandError if pairs differ."""
    days = random_days(options["audit"], scope)
    config = cast("TrigramConfig", configs["trigram"])
    pairs = audited_pairs(days, config, scope)
    if pairs * SECONDS_PER_PAIR > _SAID_FROM:
        minutes = round(pairs * SECONDS_PER_PAIR / 60)
        stderr.write(f"The audit compares {pairs:,} pairs one by one, which takes about {minutes:,} minutes.")
    with run_progress(show=not options["no_progress"]) as progress:
        audited = []
        progress.start("audit", sum(articles for _, articles in days))
        for day in audit(days, config, scope):
            audited.append(day)
            progress.advance("audit", day.articles, len(day.plain))
    print_audit(audited, stderr if options["format"] != "text" else stdout)
    if not all(day.agrees for day in audited):
        raise CommandError("the trigram pass and the plain join differ; please report this with the table above")
