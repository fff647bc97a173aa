"""One round: a command suffers a fault, the user runs it again, and what is stored is compared row by row."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from django.core.management import CommandError

from tests.crash.faults import Plan, fill
from tests.crash.installation import Installation
from tests.crash.subjects import DATABASE, FILES, Subject, subjects
from tests.forked import Ended
from tests.stored_rows import Differences, Rows, compared, stored_rows

# A user who sees an error runs the command again; after a crash of the server, it may still be recovering.
_TRIES = 3
_OLD = b"from before"
_SOON_SECONDS = 0.03
_PAGE = 4_096


@dataclass(frozen=True)
class Round:
    """A command and what happens to it. The name of a round is also the seed of when it happens."""

    subject: Subject
    fault: str
    seed: int

    @property
    def name(self) -> str:
        """What a failure is printed with."""
        return f"{self.subject.name}/{self.fault}/{self.seed}"


def rounds_of(installation: Installation, seed: int, only: str = "") -> list[Round]:
    """Return one round of each command and fault in the order of this seed, if `only` is in its name."""
    rounds = [
        Round(subject, fault, seed)
        for subject in subjects(installation.folder / "files")
        for fault in faults_of(installation, subject)
    ]
    Random(seed).shuffle(rounds)
    return [round_ for round_ in rounds if only in round_.name]


@dataclass
class Undisturbed:
    """What a command does if nothing happens: the events of it and of a worker, its rows, its files and their sizes."""

    events: int
    of_worker: int
    rows: Rows
    written: dict[str, object]
    sizes: dict[str, int]


@dataclass
class Outcome:
    """What came of a round: what the fault did to the command, and what is wrong after it was run again."""

    subject: str
    fault: str
    seed: str
    hit: bool = False
    resumed: bool = False
    differences: Differences = field(default_factory=Differences)
    faults: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """All that is wrong, in words."""
        found = self.differences
        rows = [("lost", found.lost), ("doubled", found.doubled), ("inconsistent", found.inconsistent)]
        return [f"{kind}: {one}" for kind, some in rows for one in some[:3]] + self.faults


def undisturbed(installation: Installation, subject: Subject) -> Undisturbed:
    """Run a command from its state to its end, and count its events. Raises RuntimeError if it fails."""
    _begin(installation, subject, old=False)
    counted = installation.folder / "counted"
    for path in installation.folder.glob("counted*"):
        path.unlink()
    done = installation.run(*subject.arguments, plan=Plan(counted=str(counted)))
    if done.status not in subject.statuses:
        raise RuntimeError(f"{subject.name} fails by itself: {done.errors or done.output}")
    of_workers = [path.stat().st_size for path in installation.folder.glob("counted.*")]
    with installation.connected() as connection:
        rows = stored_rows(connection)
    paths = {name: installation.output / name for name in subject.written}
    return Undisturbed(
        counted.stat().st_size,
        max(of_workers, default=0),
        rows,
        {name: subject.content(path) for name, path in paths.items()},
        {name: _size(path) for name, path in paths.items()},
    )


def _size(path: Path) -> int:
    return max(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size


def crash(installation: Installation, subject: Subject, expected: Undisturbed, fault: str, seed: str) -> Outcome:
    """Let a command suffer a fault, run it again, and compare. What happens and when is drawn with the seed."""
    dice = Random(seed)
    outcome = Outcome(subject.name, fault, seed)
    old = bool(subject.written) and dice.random() < 0.5
    _begin(installation, subject, old=old)
    plan = _plan(installation, expected, fault, dice)
    if fault == "output disk full":
        fill(installation.output, dice.randrange(max(expected.sizes.values())) // _PAGE * _PAGE)
    try:
        first = installation.run(*subject.arguments, plan=plan)
        outcome.hit = first.status not in subject.statuses
        outcome.faults += _untidy(first, fault)
        installation.make_room()
        if outcome.hit:
            outcome.faults += _half_written(installation, subject, expected, old=old)
        outcome.resumed = _go_on(installation, subject, outcome)
        installation.start()
        _compare(installation, subject, expected, outcome)
    except TimeoutError as error:
        outcome.faults.append(f"hangs: {error}")
        installation.make_room()
    return outcome


def _begin(installation: Installation, subject: Subject, *, old: bool) -> None:
    installation.start()
    installation.put_back(subject.state)
    for path in installation.output.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if old:
        for name in subject.written:
            if "." in name:
                (installation.output / name).write_bytes(_OLD)


def _plan(installation: Installation, expected: Undisturbed, fault: str, dice: Random) -> Plan:
    """Draw when the fault happens, evenly over the whole length of the command."""
    events = expected.of_worker if fault == "worker" else expected.events
    at = dice.randint(1, max(1, events))
    if fault in FILES:
        limit = dice.randint(1, max(1, max(expected.sizes.values()) - 1))
        return Plan() if fault == "output disk full" else Plan(fault, limit=limit)
    # A full disk of the database: so few pages are left for what it has yet to write.
    limit = dice.randrange(60) * _PAGE if fault == "data disk full" else 0
    return Plan(fault, at, after=dice.random() * _SOON_SECONDS, limit=limit, home=str(installation.home))


def _untidy(ended: Ended, fault: str) -> list[str]:
    """Return the traceback that a command ended with, although what happened is no fault of the program."""
    if ended.status < 0 or "Traceback (most recent call last)" not in ended.errors:
        return []
    if ended.errors.strip().splitlines()[-1].startswith(f"{CommandError.__module__}.CommandError: "):
        # Of a program of the tests that calls a command: manage.py prints no more than this sentence.
        return []
    return [f"a traceback after {fault}: … {ended.errors.strip()[-1500:]}"]


def _half_written(installation: Installation, subject: Subject, expected: Undisturbed, *, old: bool) -> list[str]:
    """Return which files are neither absent, nor as before, nor complete."""
    found = []
    for name, content in expected.written.items():
        path = installation.output / name
        if not path.exists() or (old and path.is_file() and path.read_bytes() == _OLD):
            continue
        try:
            now = subject.content(path)
        except Exception as error:  # noqa: BLE001 - whatever reads a half-written file may say
            found.append(f"half-written: {name}: {error}")
            continue
        if now is not None and now != content:
            found.append(f"half-written: {name}")
    return found


def _go_on(installation: Installation, subject: Subject, outcome: Outcome) -> bool:
    """Run the command again as a user would; return whether the first time was enough."""
    for attempt in range(_TRIES):
        for function in subject.again:
            installation.prepare(function)
        done = installation.run(*subject.arguments)
        if done.status in subject.statuses:
            return attempt == 0
    said = (done.errors.strip() or done.output.strip()).rpartition("\n")[2]
    outcome.faults.append(f"does not go on: exit status {done.status}: {said}")
    return False


def _compare(installation: Installation, subject: Subject, expected: Undisturbed, outcome: Outcome) -> None:
    with installation.connected() as connection:
        outcome.differences = compared(expected.rows, stored_rows(connection))
    for name, content in expected.written.items():
        path = installation.output / name
        if not path.exists():
            outcome.faults.append(f"not written: {name}")
        elif subject.content(path) != content:
            outcome.faults.append(f"written differently: {name}")
    known = {name.split("/")[0] for name in expected.written}
    outcome.faults += [f"left behind: {file.name}" for file in installation.output.iterdir() if file.name not in known]
    done = installation.run("doctor")
    found = done.output.strip().splitlines()[:3] if done.status else []
    outcome.faults += [f"the doctor: {line}" for line in found]


def faults_of(installation: Installation, subject: Subject) -> Sequence[str]:
    """Return the faults that a command can suffer here."""
    small = {"data disk full", "output disk full"}
    return [
        fault
        for fault in subject.faults
        if (installation.small_disks or fault not in small) and (installation.kills_server or fault not in DATABASE)
    ]
