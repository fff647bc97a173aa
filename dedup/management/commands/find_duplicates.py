"""`manage.py find_duplicates`: run the detection passes and store what they find."""

from __future__ import annotations

import os
import signal
import sys
from argparse import RawDescriptionHelpFormatter
from types import FrameType
from typing import Any, cast

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError

from articles.boilerplate.mode import Mode
from articles.management.arguments import day
from articles.processes import WorkerDiedError
from articles.storage.boilerplate_marks import outdated_weeks
from articles.storage.renormalization import outdated_forms
from dedup.management.arguments import newspaper_ids
from dedup.models import Profile
from dedup.passes import PASSES
from dedup.passes.trigram import TrigramConfig
from dedup.runs.audit import audit, random_days
from dedup.runs.pipeline import RunActiveError, find_candidates, run_detection, run_lock, start_run
from dedup.runs.profiles import (
    Configs,
    ProfileError,
    choose_passes,
    configs_of,
    default_profile,
    enabled,
    override,
    profile_named,
)
from dedup.runs.progress import print_audit, print_candidates, print_run, run_progress
from dedup.runs.scope import Scope, ScopeError, only_new

USAGE, ACTIVE, INTERRUPTED = 2, 3, 130

EXIT_CODES = """
exit codes:
  0    done
  1    an error; what was found before it is kept
  2    an option or the profile cannot be used
  3    another run is active
  130  interrupted; the same command goes on where it stopped
"""


class Command(BaseCommand):
    """Parse the options, run, print. Results go to stdout, all else to stderr."""

    help = "Find pairs of articles that may be duplicates, and cluster them. Nothing is ever deleted."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the line breaks of the table of exit codes."""
        return super().create_parser(
            prog_name, subcommand, epilog=EXIT_CODES, formatter_class=RawDescriptionHelpFormatter, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        names = ",".join(PASSES)
        parser.add_argument("--profile", help="the profile to take the settings from (default: the default profile)")
        parser.add_argument("--passes", help=f"these passes alone, separated by commas, out of {names}")
        parser.add_argument(
            "--since", type=day, metavar="DAY", help="only pairs whose later article is from this day on, YYYY-MM-DD"
        )
        parser.add_argument("--until", type=day, metavar="DAY", help="only articles up to this day, YYYY-MM-DD")
        parser.add_argument(
            "--newspaper", action="append", metavar="NAME", help="only articles of this newspaper; may be repeated"
        )
        parser.add_argument(
            "--new",
            action="store_true",
            help="only articles that are new or have changed since the last run of all, with their windows",
        )
        parser.add_argument("--day-window", type=int, metavar="DAYS", help="compare articles at most this far apart")
        parser.add_argument("--prefix", type=int, metavar="N", help="compare the first N normalised characters")
        parser.add_argument(
            "--threshold",
            action="append",
            default=[],
            metavar="PASS=SCORE",
            help="propose pairs of this pass from this score on, such as trigram=0.7; may be repeated",
        )
        parser.add_argument(
            "--boilerplate",
            choices=[mode.value for mode in Mode],
            help="compare texts with their boilerplate, without it but for the first article of a week that has it "
            "(story), or without any (topic); default: as the profile says",
        )
        parser.add_argument(
            "--workers",
            type=int,
            default=os.cpu_count() or 1,
            metavar="N",
            help="at most so many processes (default: one a core; small stores and dry runs take one)",
        )
        parser.add_argument(
            "--audit",
            type=int,
            default=0,
            metavar="N",
            help="afterwards make the plain SQL join on N random days and say whether the trigram pass found the same",
        )
        parser.add_argument(
            "--no-verdicts",
            action="store_true",
            help="store what the passes find, and leave the verdicts to a later run",
        )
        parser.add_argument("--dry-run", action="store_true", help="find and print, but store nothing")
        parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text", help="jsonl: a line a pair")
        parser.add_argument("--no-progress", action="store_true", help="no progress bar on the terminal")

    def handle(self, **options: Any) -> None:
        """Run, and end with one of the exit codes that the help lists."""
        # A database that is blind to other scripts would find nothing, and say nothing.
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        try:
            named = options["profile"]
            profile = default_profile() if named is None else profile_named(named)
            configs = _configs(profile, options)
            scope = Scope(
                options["since"],
                options["until"],
                newspaper_ids(options["newspaper"]),
                _pass_names(options["passes"]),
                boilerplate=Mode(options["boilerplate"] or profile.boilerplate),
            )
            _check_numbers(options, configs)
        except (ProfileError, ScopeError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            with run_lock():
                self._tell_outdated()
                if options["new"]:
                    scope = self._only_new(scope, configs)
                if options["dry_run"]:
                    self._try_out(configs, scope, options)
                else:
                    self._run(profile, configs, scope, options)
        except (OperationalError, InterfaceError) as error:
            # The run cannot even be marked; the next one sees that it stopped, and goes on from its blocks.
            raise CommandError(f"the database was lost ({error}); run the same command again to go on") from error
        except RunActiveError as error:
            raise CommandError(str(error), returncode=ACTIVE) from error
        except WorkerDiedError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stderr.write("Interrupted. The same command goes on where it stopped.")
            sys.exit(INTERRUPTED)

    def _tell_outdated(self) -> None:
        if outdated := outdated_forms().count():
            remedy = "run manage.py renormalize, and then this again"
            self.stderr.write(f"Articles in forms of older rules: {outdated:,}; {remedy}.")

    def _only_new(self, scope: Scope, configs: Configs) -> Scope:
        restricted = only_new(scope, configs)
        if whole := [name for name in enabled(configs) if name not in (restricted.newer_than or {})]:
            self.stderr.write(
                f"No finished run of all articles had these settings of {', '.join(whole)}: all are compared."
            )
        return restricted

    def _run(self, profile: Profile, configs: Configs, scope: Scope, options: dict[str, Any]) -> None:
        with run_progress(show=not options["no_progress"]) as progress:
            run = start_run(configs, scope, profile=profile, progress=progress)
            run_detection(
                run,
                configs,
                scope,
                progress=progress,
                workers=options["workers"],
                verdicts=not options["no_verdicts"],
            )
        print_run(run, options["format"], self.stdout, detailed=options["verbosity"] > 1)
        if options["audit"]:
            self._audit(configs, scope, options)

    def _audit(self, configs: Configs, scope: Scope, options: dict[str, Any]) -> None:
        days = random_days(options["audit"], scope)
        with run_progress(show=not options["no_progress"]) as progress:
            audited = []
            progress.start("audit", sum(articles for _, articles in days))
            for each in audit(days, cast("TrigramConfig", configs["trigram"]), scope):
                audited.append(each)
                progress.advance("audit", each.articles, len(each.plain))
        print_audit(audited, self.stderr if options["format"] != "text" else self.stdout)
        if not all(each.agrees for each in audited):
            raise CommandError("the trigram pass and the plain join differ; please report this with the table above")

    def _try_out(self, configs: Configs, scope: Scope, options: dict[str, Any]) -> None:
        if scope.boilerplate is not Mode.KEEP and (weeks := outdated_weeks(scope.newspaper_ids, until=scope.until)):
            self.stderr.write(
                f"Weeks whose boilerplate is not marked as it should be: {len(weeks):,}. A run does that first, a dry "
                "run does not; start manage.py find_boilerplate."
            )
        with run_progress(show=not options["no_progress"]) as progress:
            candidates = list(find_candidates(configs, scope, progress=progress))
        print_candidates(candidates, list(enabled(configs)), options["format"], self.stdout)


def _check_numbers(options: dict[str, Any], configs: Configs) -> None:
    """Raise ScopeError for a number of workers or days that cannot be meant."""
    if options["workers"] < 1:
        raise ScopeError(f"--workers is {options['workers']}; it must be at least 1")
    if options["audit"] < 0:
        raise ScopeError(f"--audit is {options['audit']}; it must be at least 1 day")
    if options["audit"] and (options["dry_run"] or not configs["trigram"].enabled):
        raise ScopeError("--audit judges what the trigram pass has stored; run that pass, without --dry-run")


def _configs(profile: Profile, options: dict[str, Any]) -> Configs:
    """Return the profile's configs with the options over them. Raises ProfileError."""
    configs = configs_of(profile.settings)
    names = _pass_names(options["passes"])
    if names is not None:
        configs = choose_passes(configs, names)
    parts = enabled(configs)
    for setting in ("day_window", "prefix"):
        if options[setting] is not None:
            if parts and not any(hasattr(config, setting) for config in parts.values()):
                raise ProfileError(f"no pass of this run has a {setting}; its passes are {', '.join(parts)}")
            configs = override(configs, setting, options[setting])
    for assignment in options["threshold"]:
        name, _, score = assignment.partition("=")
        try:
            value = float(score)
        except ValueError:
            raise ProfileError(
                f"--threshold {assignment!r} is not PASS=SCORE with a score in 0..1, such as trigram=0.7"
            ) from None
        configs = override(configs, "threshold", value, only=name)
        if name not in parts:
            raise ProfileError(f"the pass {name!r} is no part of this run, which has {', '.join(parts)}")
    if not enabled(configs):
        raise ProfileError(
            f"no pass is enabled; enable one in the profile or name some with --passes ({', '.join(PASSES)})"
        )
    return configs


def _pass_names(listed: str | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(name.strip() for name in listed.split(","))


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
