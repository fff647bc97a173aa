"""The options of commands that run the detection, and the configs of passes that result from them."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from articles.boilerplate.mode import Mode
from articles.management.arguments import add_day_options, add_newspaper_option, chosen_newspaper_ids
from articles.management.base import ExitCode, usage_error
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import NearConfig
from dedup.detection.runs import profiles
from dedup.detection.runs.audit import AUDITED, SECONDS_PER_PAIR, audit, audited_pairs, random_days
from dedup.detection.runs.profiles import Configs, ProfileError, enabled
from dedup.detection.runs.progress import print_audit, run_progress
from dedup.detection.runs.scope import Scope, ScopeError
from dedup.models import Profile
from dedup.research.apart import Detection, ScratchError
from dedup.research.labels import LabelsError

# Of commands that run on files of articles and labels.
CORPUS_EXIT_CODES: Mapping[type[Exception], ExitCode] = {
    LabelsError: ExitCode.USAGE,
    ProfileError: ExitCode.USAGE,
    ScratchError: ExitCode.ERROR,
}
# The settings that an option changes: the type of the value, its name in the help, an example, and what it does.
_OVERRIDES: dict[str, tuple[Callable[[str], Any], str, str, str]] = {
    "day_window": (int, "DAYS", "7", "compare articles at most this many days apart"),
    "prefix": (int, "N", "1000", "compare only the first N normalised characters"),
    "threshold": (float, "SCORE", "0.7", "propose pairs with at least this score"),
}


def add_profile_options(parser: CommandParser, *, condition: str = "") -> None:
    """Add --profile, --passes and --boilerplate; `condition` says when they apply."""
    names = ",".join(PASSES)
    parser.add_argument(
        "--profile", help=f"{condition}take the settings from this profile (default: the default profile)"
    )
    parser.add_argument("--passes", help=f"{condition}run only these passes, separated by commas, out of {names}")
    parser.add_argument(
        "--boilerplate",
        choices=[mode.value for mode in Mode],
        help=f"{condition}compare texts with boilerplate (keep), without it except in the first article of a week "
        "that has it (story), or without any (topic); default: the profile's setting",
    )


def add_corpus_option(parser: CommandParser, *, purpose: str) -> None:
    """Add --corpus; `purpose` says what it is for."""
    parser.add_argument(
        "--corpus",
        nargs="+",
        action="append",
        metavar=("ARTICLES", "LABELS"),
        help=f"{purpose}: a file of articles and one or more files of labels; may be repeated",
    )


def add_override_options(parser: CommandParser) -> None:
    """Add the options that change a setting in all passes that have it, or in the pass they name."""
    for setting, (_, value, example, does) in _OVERRIDES.items():
        parser.add_argument(
            _option(setting),
            action="append",
            default=[],
            metavar=f"[PASS=]{value}",
            help=f"{does}; with PASS= in this pass only, such as trigram={example}; may be repeated",
        )


def add_user_option(parser: CommandParser) -> None:
    """Add --user, which chosen_user reads."""
    parser.add_argument("--user", metavar="NAME", help="the user to record as the one who did it")


def chosen_user(options: Mapping[str, Any]) -> User | None:
    """Return the user of --user, None for none. Raises CommandError if there is no such user."""
    name = options["user"]
    user = User.objects.filter(username=name).first() if name else None
    if name and user is None:
        raise usage_error(f"there is no user {name!r}")
    return user


def add_run_options(parser: CommandParser) -> None:
    """Add the options that choose the profile, the days, the newspapers and the settings of a run."""
    add_profile_options(parser)
    add_day_options(parser, since="only pairs whose later article is from this day on")
    add_newspaper_option(parser)
    add_override_options(parser)


def add_run_format_option(parser: CommandParser) -> None:
    """Add --format of a run."""
    choices = ("text", "json", "jsonl")
    parser.add_argument("--format", choices=choices, default="text", help="jsonl: one line per pair")


def chosen_profile(options: Mapping[str, Any]) -> Profile:
    """Return the profile of --profile, or the default one. Raises ProfileError."""
    return profiles.default_profile() if options["profile"] is None else profiles.profile_named(options["profile"])


def chosen_detection(options: Mapping[str, Any], say: Callable[[str], object]) -> Detection:
    """Return how the detection runs on a file of articles; `say` gets the messages. Raises ProfileError."""
    profile = chosen_profile(options)
    return Detection(
        profile,
        chosen_configs(profile, options),
        Mode(options["boilerplate"] or profile.boilerplate),
        options["workers"],
        show_progress=not options["no_progress"],
        say=say,
    )


def chosen_passes(options: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the names of --passes; None if it is not given."""
    listed: str | None = options["passes"]
    return None if listed is None else tuple(name.strip() for name in listed.split(","))


def chosen_scope(profile: Profile, options: Mapping[str, Any]) -> Scope:
    """Return what a run with these options compares. Raises ProfileError or ScopeError."""
    return Scope(
        options["since"],
        options["until"],
        chosen_newspaper_ids(options),
        chosen_passes(options),
        boilerplate=Mode(options["boilerplate"] or profile.boilerplate),
        rules=profiles.rules_of(profile),
    )


def chosen_configs(profile: Profile, options: Mapping[str, Any]) -> Configs:
    """Return the profile's configs, overridden by the options. Raises ProfileError."""
    configs = profiles.configs_of(profile.settings)
    names = chosen_passes(options)
    if names is not None:
        configs = profiles.choose_passes(configs, names)
    if not enabled(configs):
        raise ProfileError(
            f"no pass is enabled; enable one in the profile or name some with --passes ({', '.join(PASSES)})"
        )
    for setting in _OVERRIDES:
        for text in options.get(setting, ()):
            configs = _overridden(configs, setting, text)
    return configs


def _overridden(configs: Configs, setting: str, text: str) -> Configs:
    """Return the configs after an option such as --threshold trigram=0.7, or --threshold 0.7."""
    read, value, example, _ = _OVERRIDES[setting]
    name, _, number = text.rpartition("=")
    try:
        wanted = read(number)
    except ValueError:
        raise ProfileError(
            f"{_option(setting)} {text!r} is neither {value} nor PASS={value}, such as trigram={example}"
        ) from None
    passes = enabled(configs)
    having = [pass_name for pass_name, config in passes.items() if hasattr(config, setting)]
    if not name and not having:
        raise ProfileError(f"no pass of this run has a {setting}; its passes are {', '.join(passes)}")
    if not name and setting == "threshold":  # scores of different passes are not comparable
        if len(having) > 1:
            raise ProfileError(f"--threshold {text} names no pass; write PASS={text} for one of {', '.join(having)}")
        [name] = having
    changed = profiles.override(configs, setting, wanted, only=name or None)
    if name and name not in passes:
        raise ProfileError(f"the pass {name!r} is not part of this run, which has {', '.join(passes)}")
    return changed


def _option(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


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
    if options["audit"] and (options["dry_run"] or not configs[AUDITED.name].enabled):
        raise ScopeError("--audit checks what the trigram pass has stored; run that pass, without --dry-run")


def audit_run(configs: Configs, scope: Scope, options: dict[str, Any], stdout: Any, stderr: Any) -> None:
    """Audit as many days as --audit says and print the result. Raises CommandError if pairs differ."""
    days = random_days(options["audit"], scope)
    config = cast("NearConfig", configs[AUDITED.name])
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
