"""How many mutants were killed, and how sure that is: Wilson's interval (Wilson 1927), as in Agresti and Coull 1998."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

_Z = 1.959963984540054  # 95 %


class Interval(NamedTuple):
    low: float
    high: float


def wilson(hits: int, trials: int) -> Interval:
    """Return the 95 % interval of a share; 0 to 1 for no trials."""
    if not trials:
        return Interval(0.0, 1.0)
    share, square = hits / trials, _Z * _Z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = _Z / (1 + square / trials) * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True)
class Judged:
    """A mutant's fate, for the table. `equivalent` is the reason why nothing can tell it from the code, or empty."""

    key: str
    area: str
    module: str
    kind: str
    killer: str = ""
    equivalent: str = ""
    diff: str = ""
    seconds: float = 0.0

    @property
    def is_killed(self) -> bool:
        """A loop without end is noticed: nothing else goes on. A mutant that only hangs is not."""
        return self.kind in ("killed", "loop")


class Score(NamedTuple):
    """Counts of mutants. Equivalent ones are among the survivors."""

    mutants: int
    killed: int
    survived: int
    loops: int
    hung: int
    equivalent: int

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> Score:
        rows = list(judged)
        kinds = [row.kind for row in rows]
        equivalent = sum(1 for row in rows if row.equivalent and not row.is_killed)
        counts = (kinds.count(kind) for kind in ("survived", "loop", "hung"))
        return cls(len(rows), sum(row.is_killed for row in rows), *counts, equivalent)

    def said(self, *, without_equivalent: bool) -> str:
        """Return the share that was killed with its interval, such as "91.0 % (87.2–93.8)"."""
        trials = self.mutants - (self.equivalent if without_equivalent else 0)
        if not trials:
            return "–"
        low, high = wilson(self.killed, trials)
        return f"{100 * self.killed / trials:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
