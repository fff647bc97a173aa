"""The phases of a run, stored while it goes on: how far each is and how long it took; and whether the run is cancelled.

A block of days is one transaction, which hides from others what it has done so far. So what is stored in the middle
of a phase goes through a second connection.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from dedup.detection.passes import PASSES
from dedup.detection.types import DENSE_GROUPS, Phase
from dedup.models import DetectionRun, RunPhase

# What pages call the phases, and what else they show as one.
STEPS = {**{phase.value: phase.label for phase in Phase}, DENSE_GROUPS: "Dense group", "audit": "Audit"}
# Inside a phase, what is done is stored and the cancellation is looked up this often.
_EVERY_SECONDS = 1.0
# A block that is not finished moves its bar at most to this share of the total.
_BEFORE_THE_END = 0.95

_STORE_SQL = """
UPDATE dedup_runphase SET done = %(done)s, found = %(found)s, seconds = %(seconds)s, updated_at = now()
WHERE id = %(id)s
"""
_CANCELLED_SQL = "SELECT FROM dedup_detectionrun WHERE id = %(id)s AND cancelled_at IS NOT NULL"


def all_phases() -> list[str]:
    """Return the phases in the order of a run."""
    phases = [phase.value for phase in Phase]
    storing = phases.index(Phase.STORING)
    return [*phases[:storing], *PASSES, *phases[storing:]]


class RunCancelledError(RuntimeError):
    """Somebody cancelled the run; the message says who."""


class WrittenBlock(NamedTuple):
    """The number of pairs of a block of days, and how long it took to find and to store them."""

    pairs: int
    finding_seconds: float
    storing_seconds: float


class Progress:
    """Receives the progress of a run; this one reports nothing."""

    def start(self, step: str, total: int) -> None:
        """A step starts; so many articles, or pairs, are ahead of it."""

    def read(self, step: str, amount: int) -> None:
        """A pass that takes all days in one block has read so many more articles."""

    def advance(self, step: str, amount: int, found: int) -> None:
        """A block of so many articles is finished; so many pairs were found in it."""

    def look(self) -> None:
        """About a second has passed without news."""


NO_PROGRESS = Progress()


class RunClock(Progress):
    """Stores the phases of a run and passes its progress on; raises RunCancelledError if somebody cancelled the run."""

    def __init__(self, run: DetectionRun, shown: Progress, names: Collection[str]) -> None:
        self._run, self._shown = run, shown
        self._rows = _planned(run, names)
        self._side: Any = None
        self._looked = time.monotonic()
        self._read: Counter[str] = Counter()
        self._finished: Counter[str] = Counter()
        # The phases that go on with the seconds they had before, and when they began: when those before them ended.
        self._open: dict[str, float] = {}
        self._began = time.monotonic()
        # Seconds of work by phase, where several share the time; the pass that reported last, and since when.
        self._work: dict[str, float] | None = None
        self._latest, self._since = "", 0.0

    @contextmanager
    def phase(self, *names: str, shared: bool = False) -> Iterator[None]:
        """Measure what happens inside as this phase, or as several that share the time by the work of each."""
        if DetectionRun.objects.filter(pk=self._run.pk, cancelled_at__isnull=False).exists():
            raise self._cancelled()
        self._open = {name: self._rows[name].seconds for name in names}
        self._since = self._looked = time.monotonic()
        self._work = {} if shared else None
        for name in names:
            self._save(name, RunPhase.State.RUNNING)
        try:
            yield
        except BaseException:
            # A lost database stores nothing; the error that is on its way says so.
            with suppress(OperationalError, InterfaceError):
                self._store()
            raise
        self._began = self._measure()
        for name in names:
            row = self._rows[name]
            row.done = row.total or row.done
            self._save(name, RunPhase.State.DONE)
        self._open = {}

    def __contains__(self, name: str) -> bool:
        """Return whether the run has this phase."""
        return name in self._rows

    def close(self) -> None:
        """Close the second connection."""
        if self._side is not None:
            self._side.close()

    def seconds(self) -> dict[str, float]:
        """Return the seconds of every phase, in their order."""
        return {name: round(row.seconds, 3) for name, row in self._rows.items()}

    def start(self, step: str, total: int) -> None:
        """Note how much is ahead of a phase."""
        self._rows[step].total = total
        RunPhase.objects.filter(pk=self._rows[step].pk).update(total=total)
        self._shown.start(step, total)

    def read(self, step: str, amount: int) -> None:
        """Note what was done inside a block."""
        self._latest = step
        # With blocks of days, the finished ones are enough: each also reads the days before it.
        if step not in PASSES or not PASSES[step].by_days:
            self._read[step] += amount
            self._shown.read(step, amount)
        self.look()

    def advance(self, step: str, amount: int, found: int) -> None:
        """Note the end of a block."""
        self._finished[step] += amount
        self._rows[step].found += found
        self._shown.advance(step, amount, found)
        self.look()

    def worked(self, step: str, seconds: float) -> None:
        """Note how long a block took, or storing it: phases that share their time get it in proportion."""
        if self._work is not None:
            self._work[step] = self._work.get(step, 0.0) + seconds
            self._latest, self._since = "", time.monotonic()

    def wrote(self, step: str, amount: int, written: WrittenBlock) -> None:
        """Note the end of a block that is stored."""
        self.worked(step, written.finding_seconds)
        self.worked(Phase.STORING, written.storing_seconds)
        self.advance(step, amount, written.pairs)

    def look(self) -> None:
        """Once a second, store what is done and find out whether the run was cancelled."""
        if time.monotonic() - self._looked >= _EVERY_SECONDS:
            if self._store():
                raise self._cancelled()
            self._looked = time.monotonic()

    def _measure(self) -> float:
        """Bring the rows of the open phases up to date; return up to which moment."""
        now = time.monotonic()
        work = dict(self._work or {})
        if self._latest and self._work is not None:
            work[self._latest] = work.get(self._latest, 0.0) + now - self._since
        wall, whole = now - self._began, sum(work.values())
        for name, before in self._open.items():
            row = self._rows[name]
            spent = wall
            if self._work is not None:  # in proportion to the work of each
                spent = wall * work.get(name, 0.0) / whole if whole else 0.0
            row.seconds = before + spent
            inside = min(self._read[name], round(_BEFORE_THE_END * (row.total or 0)))
            row.done = max(self._finished[name], inside)
        return now

    def _store(self) -> bool:
        """Store how far the open phases are, whatever transaction goes on; return whether the run was cancelled."""
        self._measure()
        if self._side is None:
            self._side = connection.copy()
        with self._side.cursor() as cursor:
            for name in self._open:
                row = self._rows[name]
                values = {"id": row.pk, "done": row.done, "found": row.found, "seconds": row.seconds}
                cursor.execute(_STORE_SQL, values)
            cursor.execute(_CANCELLED_SQL, {"id": self._run.pk})
            return cursor.fetchone() is not None

    def _save(self, name: str, state: RunPhase.State) -> None:
        row = self._rows[name]
        row.state, row.updated_at = state, timezone.now()
        row.save(update_fields=["state", "done", "found", "seconds", "updated_at"])

    def _cancelled(self) -> RunCancelledError:
        run = DetectionRun.objects.select_related("cancelled_by").get(pk=self._run.pk)
        return RunCancelledError(f"Cancelled by {run.cancelled_by or 'somebody who has no login any more'}.")


def _planned(run: DetectionRun, names: Collection[str]) -> dict[str, RunPhase]:
    """Store that these phases are ahead; those that a stopped run has worked in keep their seconds."""
    phases = enumerate(all_phases())
    planned = [RunPhase(run=run, name=name, position=position) for position, name in phases if name in names]
    RunPhase.objects.bulk_create(
        planned, update_conflicts=True, unique_fields=["run", "name"], update_fields=["state", "total", "done", "found"]
    )
    return {row.name: row for row in run.phases.all()}
