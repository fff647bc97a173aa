"""How many mutants were killed, how sure that is, and those that no test can tell from the code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dedup.research.precision import interval

# Listed by hand, each with its reason.
EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
Change = tuple[str, str, str]


def equivalents() -> dict[Change, str]:
    """Return the reasons by module, removed lines and added lines."""
    listed = tomllib.loads(EQUIVALENTS.read_text()).get("equivalent", [])
    return {(row["module"], row["removed"].strip(), row["added"].strip()): row["reason"] for row in listed}


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
        low, high = interval(trials, self.killed)
        return f"{100 * self.killed / trials:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
