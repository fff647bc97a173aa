"""Tries mutants, some at a time, and says what became of each."""

import argparse
import json
import queue
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from newsdedup_site import embedded
from tests.mutations.areas import area_of, module_name
from tests.mutations.covering import Covering, covering_of
from tests.mutations.mutants import Mutant
from tests.mutations.scores import Judged, equivalents
from tests.mutations.workshop import Bench, Outcome, WorkshopError, benches

# A run of tests may take so many seconds more, and so many times as long, as the same tests took one by one: the
# start of Python, a slower machine, and the traces of failures.
_MORE_SECONDS, _TIMES_AS_LONG = 60.0, 6.0


def judge(mutants: Sequence[Mutant], options: argparse.Namespace, say: Callable[[str], None]) -> list[Judged]:
    """Try the mutants and return what became of those that were begun in time, in the order of the mutants.

    The tests that killed are run once more on the code as it is; where one fails there too, its mutants are tried again
    without it.
    """
    places = benches(min(options.processes, len(mutants)))
    covering = covering_of({area_of(changed.path) for changed in mutants}, places, say)
    if covering.failed:
        say(f"{len(covering.failed)} tests fail or are skipped without any mutant, and are not asked:")
        say("  " + "\n  ".join(covering.failed))
    killed = _killed_before(mutants) if options.go_on else {}
    tries = _Tries(places, covering, options.budget, say, len(mutants) - len(killed))
    deadline = time.monotonic() + options.minutes * 60

    with ThreadPoolExecutor(len(places)) as pool:
        results = pool.map(lambda mutant: killed.get(mutant.key) or tries.judge(mutant, deadline), mutants)
        judged = [result for result in results if result]
    unsure = tries.unsure([result.killer for result in judged])
    if unsure:
        say(f"These fail without a mutant as well, so what they killed is tried again: {sorted(unsure)}")
        covering.forget(unsure)
        again = {own_mutant.key: own_mutant for own_mutant in mutants}
        judged = [
            tries.judge(again[result.key], float("inf")) if result.killer in unsure else result for result in judged
        ]
    if options.mutant and judged:
        say(tries.last.said)
    return judged


def _killed_before(mutants: Sequence[Mutant]) -> dict[str, Judged]:
    """Return those of these mutants that an earlier run has killed, by key."""
    rows = [json.loads(line) for file in _folder().glob("results-*.jsonl") for line in file.read_text().splitlines()]
    before = {row.key: row for row in (Judged(**row) for row in rows) if row.is_killed}
    # The number of a mutant holds until its module is changed.
    return {
        mutant.key: before[mutant.key]
        for mutant in mutants
        if mutant.key in before and before[mutant.key].diff == mutant.diff
    }


def _folder() -> Path:
    return embedded.home() / "mutations"


class _Tries:
    """The benches, each used by one thread at a time, and the file that keeps the results."""

    def __init__(
        self, places: Sequence[Bench], covering: Covering, budget: float, say: Callable[[str], None], total: int
    ) -> None:
        self._idle: queue.SimpleQueue[Bench] = queue.SimpleQueue()
        for bench in places:
            self._idle.put(bench)
        self._covering, self._budget, self._say, self._total = covering, budget, say, total
        self._results = _folder() / f"results-{time.strftime('%Y%m%d-%H%M%S')}.jsonl"
        self._done: Counter[str] = Counter()
        self.last = Outcome("survived")

    def judge(self, mutant: Mutant, deadline: float) -> Judged | None:
        """Try a mutant; None if it is too late to begin."""
        if time.monotonic() > deadline:
            return None
        tests = self._covering.tests_for(mutant, self._budget)
        if tests:
            outcome = self._on_a_bench(lambda bench: bench.try_out(mutant, tests, self._limit(tests)))
        else:
            outcome = Outcome("survived", said="No test runs this line.")
        return self._judged(mutant, outcome)

    def unsure(self, killers: Sequence[str]) -> set[str]:
        """Return those of the tests that fail on the code as it is."""
        left, failed = {killer for killer in killers if killer in self._covering.seconds}, set()
        while left:
            outcome = self._on_a_bench(partial(Bench.run, tests=sorted(left), limit=self._limit(left)))
            if outcome.kind == "survived":
                break
            if not outcome.killer:
                raise WorkshopError(f"The tests do not end on the code as it is:\n{outcome.said}")
            failed.add(outcome.killer)
            left.discard(outcome.killer)
        return failed

    def _limit(self, tests: Iterable[str]) -> float:
        return _MORE_SECONDS + _TIMES_AS_LONG * sum(self._covering.seconds[test] for test in tests)

    def _on_a_bench(self, do: Callable[[Bench], Outcome]) -> Outcome:
        bench = self._idle.get()
        try:
            return do(bench)
        finally:
            self._idle.put(bench)

    def _judged(self, mutant: Mutant, outcome: Outcome) -> Judged:
        found = Judged(
            key=mutant.key,
            area=area_of(mutant.path).name,
            module=module_name(mutant.path),
            kind=outcome.kind,
            killer=outcome.killer,
            equivalent=equivalents().get((module_name(mutant.path), *mutant.change), ""),
            diff=mutant.diff,
            seconds=outcome.seconds,
        )
        self.last = outcome
        self._done[found.kind] += 1
        with self._results.open("a") as results:
            results.write(json.dumps(asdict(found)) + "\n")
        self._say(
            f"{self._done.total():4} of {self._total}  {found.kind:8} {found.seconds:6.1f} s  "
            f"{found.key}  {found.killer}"
        )
        return found
