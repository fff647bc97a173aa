"""How long to try: a few fixed examples in the suite, or new ones until the time is up. And what was found."""

import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

# Set by `python -m tests.fuzz`: the seconds for all tests of a file, the seed, and a part of the names of addresses.
SECONDS, SEED, ADDRESS = "FUZZ_SECONDS", "FUZZ_SEED", "FUZZ_ADDRESS"
_EXAMPLES_OF_A_ROUND = 5
_SHOWN = 1_500  # characters of an input


@dataclass
class Found:
    """The faults of a test, each once, by where it happened, with the smallest input that hypothesis found."""

    faults: dict[str, str] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, error: BaseException, drawn: str) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        key = f"{name}: {type(error).__name__} in {last.filename.rpartition('/')[2]}:{last.lineno}"
        self.faults.setdefault(key, f"{drawn}\n{''.join(traceback.format_exception(error))[-3_000:]}")

    def check(self) -> None:
        """Raise AssertionError with all faults, if there are some."""
        if self.faults:
            raise AssertionError("\n\n".join(f"{key}\n{text}" for key, text in self.faults.items()))


def long_form() -> bool:
    """Return whether new examples are tried until the time is up."""
    return SECONDS in os.environ


def try_all(
    targets: Sequence[tuple[str, SearchStrategy[Any], Callable[[Any], None]]],
    *,
    examples: int,
    found: Found,
    sharing: int = 1,
) -> None:
    """Try each target: its name, what to draw, and what to do with it, which raises if there is a fault.

    In the suite, each gets so many examples, the same at every run. In the long form, all get new ones in turn until
    the time is up, of which `sharing` tests have a part each; faults are collected.
    """
    if not long_form():
        for name, strategy, check in targets:
            _try(name, strategy, check, settings(**_usual(examples), derandomize=True), found)
        return
    first, until = int(os.environ[SEED]), time.monotonic() + float(os.environ[SECONDS]) / sharing
    rounds = 0
    while time.monotonic() < until:
        for name, strategy, check in targets:
            if time.monotonic() > until:
                return
            number = first + rounds
            _try(name, strategy, check, settings(**_usual(_EXAMPLES_OF_A_ROUND)), found, number)
        rounds += 1


def _usual(examples: int) -> dict[str, Any]:
    return {
        "max_examples": examples,
        "database": None,
        "deadline": None,
        "phases": [Phase.generate, Phase.shrink] if long_form() else [Phase.generate],
        "suppress_health_check": list(HealthCheck),
    }


def _try(
    name: str,
    strategy: SearchStrategy[Any],
    check: Callable[[Any], None],
    chosen: settings,
    found: Found,
    number: int | None = None,
) -> None:
    smallest: list[str] = []

    def tried(drawn: Any) -> None:
        found.tried[name] += 1
        try:
            check(drawn)
        except Exception:
            smallest[:] = [repr(drawn)[:_SHOWN]]  # the last one that hypothesis tries
            raise

    wrapped = chosen(given(strategy)(tried))
    if number is not None:
        wrapped = seed(number)(wrapped)
    try:
        wrapped()
    except Exception as error:  # noqa: BLE001 - all faults are reported at the end
        with suppress(IndexError):
            found.add(name, error, smallest[0] if smallest else "")


class TookTooLongError(AssertionError):
    """Something took more CPU seconds than it may."""


def timed(seconds: float, act: Callable[[], Any]) -> Any:
    """Return what `act` returns. Raises TookTooLongError if this thread needed more CPU seconds than these."""
    started = time.thread_time()
    value = act()
    needed = time.thread_time() - started
    if needed > seconds:
        raise TookTooLongError(f"{needed:.1f} CPU seconds; at most {seconds} are allowed")
    return value
