"""Put faults into the code, one at a time, and count those that the tests notice; see docs/trust.md."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec

from rich.console import Console

from tests.mutations.scores import Judged, Score

GOAL = 0.9
# In the order of Score, with their widths.
_COLUMNS = {"mutants": 7, "killed": 7, "survived": 8, "loops": 6, "hung": 5, "equiv.": 6}
NEEDS = 'This needs mutmut: pip install "mutmut>=3.8,<3.9"'


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which sample to take (default: 1)")
    parser.add_argument("--number", type=int, default=300, help="how many mutants (default: 300)")
    parser.add_argument("--minutes", type=float, default=60, help="begin no further mutant after this (default: 60)")
    parser.add_argument("--only", default="", metavar="MODULE", help="only modules whose dotted name contains this")
    parser.add_argument(
        "--mutant", default="", metavar="ID", help="try one again, such as dedup.review.answers.decisions#12"
    )
    parser.add_argument("--go-on", action="store_true", help="try only what no earlier run has killed")
    parser.add_argument("--list", action="store_true", help="show the sample without trying it")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument(
        "--budget", type=float, default=60, help="seconds of tests that a mutant has to survive at most (default: 60)"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run the command; return 0 if at least nine in ten were killed, 1 if not, and 2 if it cannot run."""
    options = parse(arguments)
    console = Console(soft_wrap=True, highlight=False)
    if find_spec("mutmut") is None:
        console.print(NEEDS, markup=False)
        return 2
    from tests.mutations import judging  # noqa: PLC0415 - needs mutmut
    from tests.mutations.mutants import mutant_of, sample  # noqa: PLC0415

    def say(text: str) -> None:
        console.print(text, markup=False)

    try:
        mutants = [mutant_of(options.mutant)] if options.mutant else sample(options.number, options.seed, options.only)
    except ValueError as error:
        say(str(error))
        return 2
    if options.list:
        for mutant in mutants:
            say(f"{mutant.key}\n{mutant.diff}\n")
        return 0
    judged = judging.judge(mutants, options, say)
    report(judged, say)
    countable = [mutant for mutant in judged if mutant.is_killed or not mutant.equivalent]
    return 0 if judged and sum(mutant.is_killed for mutant in judged) >= GOAL * len(countable) else 1


def report(judged: Sequence[Judged], say: Callable[[str], None]) -> None:
    """Print the table of modules and areas, then everything that was not killed."""
    width = max([len(mutant.module) for mutant in judged] + [20])
    heads = " ".join(f"{name:>{size}}" for name, size in _COLUMNS.items())
    say(f"{'':{width}} {heads}  score (95 %)")
    for area in sorted({mutant.area for mutant in judged}):
        of_area = [mutant for mutant in judged if mutant.area == area]
        for module in sorted({mutant.module for mutant in of_area}):
            say(_line(module, width, [mutant for mutant in of_area if mutant.module == module]))
        say(_line(area.upper(), width, of_area))
    say(_line("ALL", width, judged))
    say(f"Score with equivalent mutants counted as survivors: {Score.of(judged).said(without_equivalent=False)}")
    for mutant in judged:
        if not mutant.is_killed:
            reason = f" (equivalent: {mutant.equivalent})" if mutant.equivalent else ""
            say(f"\n{mutant.kind}: {mutant.key}{reason}\n{mutant.diff}")


def _line(name: str, width: int, judged: Iterable[Judged]) -> str:
    score = Score.of(judged)
    counts = " ".join(f"{count:{size}}" for count, size in zip(score, _COLUMNS.values(), strict=True))
    return f"{name:{width}} {counts}  {score.said(without_equivalent=True)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
