"""`python -m tests.crash [--minutes N] [--rounds N] [--seed N] [--only NAME]`: kill everything, and compare.

It makes an installation of its own in a temporary folder, and exits with 1 if anything is lost, doubled or
inconsistent after a command was run again.
"""

import argparse
import secrets
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, islice, takewhile

from rich.console import Console
from rich.table import Table

from tests.crash.installation import Installation, own_server
from tests.crash.rounds import Outcome, Round, crash, rounds_of, undisturbed
from tests.crash.subjects import Subject, make_states, newspaper

_SEEDS = 1_000_000


def main() -> int:
    """Do what the options say; return the exit status."""
    options = _options()
    named = options.only.rpartition("/")[2]
    seed = options.seed if options.seed is not None else int(named) if named.isdecimal() else secrets.randbelow(_SEEDS)
    console = Console(width=None if sys.stdout.isatty() else 150)
    with own_server() as installation, newspaper() as url:
        planned = rounds_of(installation, seed, options.only)
        if not planned:
            names = "\n".join(f"  {round_.name}" for round_ in rounds_of(installation, seed))
            console.print(f"There is no round {options.only!r}. There are, with this seed:\n{names}", markup=False)
            return 2
        commands = {round_.subject.name: round_.subject for round_ in planned}
        console.print(f"Seed {seed}. Making the states that {len(commands)} commands begin in …")
        _prepare(installation, url, list(commands.values()))
        outcomes = []
        known = {}
        for round_ in _repeated(installation, seed, options, len(planned)):
            if round_.subject.name not in known:
                known[round_.subject.name] = undisturbed(installation, round_.subject)
            expected = known[round_.subject.name]
            outcome = crash(installation, round_.subject, expected, round_.fault, round_.name)
            outcomes.append(outcome)
            for line in outcome.wrong:
                console.print(f"{outcome.seed}: {line}", highlight=False, markup=False, soft_wrap=True)
    _print(console, outcomes)
    if not installation.small_disks:
        console.print("No disk was filled: this user may not mount one.")
    wrong = sum(bool(outcome.wrong) for outcome in outcomes)
    console.print(
        f"Rounds: {len(outcomes)}, hit: {sum(outcome.hit for outcome in outcomes)}, wrong: {wrong}. Seed {seed}."
    )
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, help="go on for so long")
    length.add_argument("--rounds", type=int, default=0, help="so many rounds in all (default: one of each)")
    parser.add_argument("--seed", type=int, help="the same seed draws the same faults (default: random)")
    help_of_only = "only rounds that have this in their name, as a failure is printed with it: a command, or all of it"
    parser.add_argument("--only", default="", metavar="NAME", help=help_of_only)
    return parser.parse_args()


def _prepare(installation: Installation, url: str, chosen: Sequence[Subject]) -> None:
    installation.start()
    done = installation.run("migrate", "--verbosity=0")
    if done.status:
        raise RuntimeError(done.errors)
    make_states(installation, url, {subject.state for subject in chosen} | {subject.reads for subject in chosen})


def _repeated(installation: Installation, seed: int, options: argparse.Namespace, planned: int) -> Iterator[Round]:
    """Yield the rounds of one seed after the other until the time is over, or as many as were asked for."""
    rounds = (round_ for turn in count() for round_ in rounds_of(installation, seed + turn, options.only))
    if not options.minutes:
        return islice(rounds, options.rounds or planned)
    until = time.monotonic() + 60 * options.minutes
    return takewhile(lambda _round: time.monotonic() < until, rounds)


def _print(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Print a row for each command and kind of fault."""
    heads = ("rounds", "hit", "resumed", "rows lost", "doubled", "inconsistent", "other faults")
    table = Table("command", "fault")
    for head in heads:
        table.add_column(head, justify="right")
    groups: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.subject, outcome.fault].append(outcome)
    for (subject, fault), some in sorted(groups.items()):
        rows = [outcome.differences for outcome in some]
        counts = (
            len(some),
            sum(outcome.hit for outcome in some),
            sum(outcome.resumed for outcome in some),
            sum(len(row.lost) for row in rows),
            sum(len(row.doubled) for row in rows),
            sum(len(row.inconsistent) for row in rows),
            sum(len(outcome.faults) for outcome in some),
        )
        table.add_row(subject, fault, *(f"{number:,}" for number in counts))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
