"""Which rounds there are with a seed, and which of them somebody asks for by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.crash.installation import Installation
from tests.crash.rounds import faults_of
from tests.crash.subjects import Subject, subjects


@dataclass(frozen=True)
class Round:
    """A command and what happens to it. The name of a round is also the seed of when it happens."""

    subject: Subject
    fault: str
    seed: int
    number: int

    @property
    def name(self) -> str:
        """What a failure is printed with."""
        return f"{self.subject.name}/{self.fault}/{self.seed}-{self.number}"


class UnknownRoundError(ValueError):
    """There is no such round, or more than one; the message lists those that there are."""


def seed_of(name: str, otherwise: int) -> int:
    """Return the seed in the full name of a round; of its beginning, another one."""
    seed = name.rpartition("/")[2].partition("-")[0]
    return int(seed) if seed.isdecimal() else otherwise


def rounds_of(installation: Installation, seed: int) -> list[Round]:
    """Return one round of each command and fault, in the order of this seed."""
    pairs = [
        (subject, fault)
        for subject in subjects(installation.folder / "files")
        for fault in faults_of(installation, subject)
    ]
    Random(seed).shuffle(pairs)
    return [Round(subject, fault, seed, number) for number, (subject, fault) in enumerate(pairs)]


def chosen_rounds(planned: Sequence[Round], *, only: str = "", name: str = "") -> list[Round]:
    """Return the rounds of the commands that have `only` in their name, or the one whose name begins with `name`.

    Raises UnknownRoundError.
    """
    chosen = [round_ for round_ in planned if only in round_.subject.name]
    if not chosen:
        known = ", ".join(dict.fromkeys(round_.subject.name for round_ in planned))
        raise UnknownRoundError(f"There is no command {only!r}; there are {known}.")
    if not name:
        return chosen
    # With --minutes, the rounds are done again with higher numbers.
    number = name.rpartition("-")[2]
    if number.isdecimal() and int(number) >= len(planned):
        again = planned[int(number) % len(planned)]
        chosen.append(Round(again.subject, again.fault, again.seed, int(number)))
    found = [subject for subject in chosen if subject.name == name] or [
        subject for subject in chosen if subject.name.startswith(name)
    ]
    if len(found) == 1:
        return found
    listed = "\n".join(f"  {subject.name}" for subject in found or chosen)
    problem = "More than one round begins" if found else "No round begins"
    raise UnknownRoundError(f"{problem} with {name!r}. There are, with this seed:\n{listed}")
