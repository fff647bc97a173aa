"""The stages of a run: each has a folder of its own, named by what it rests on, and a mark once it is finished.

A stage that another run with the same export and settings has finished is kept. Of a stage that was interrupted, some
tasks are not repeated either: a file is there whole or not at all, and made twice it is the same.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Counts = dict[str, Any]
_FINISHED = "finished.json"


@dataclass(frozen=True, slots=True)
class Stage:
    """The folder of a stage."""

    folder: Path

    @property
    def finished(self) -> Counts | None:
        """What the stage counted, once it is finished."""
        try:
            counts: Counts = json.loads((self.folder / _FINISHED).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return counts

    def finish(self, counts: Counts) -> None:
        """Mark the stage as finished."""
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / f".{_FINISHED}.{os.getpid()}"
        unfinished.write_text(json.dumps(counts), encoding="utf-8")
        unfinished.replace(self.folder / _FINISHED)


@dataclass(slots=True)
class Stages:
    """All stages of a run. `fingerprint` is of everything that they rest on."""

    root: Path
    fingerprint: str
    on_stage: Callable[[str, float], None] = lambda _name, _seconds: None
    seconds: dict[str, float] = field(default_factory=dict)

    def forget(self) -> None:
        """Remove what earlier runs left."""
        shutil.rmtree(self.root, ignore_errors=True)

    def stage(self, name: str) -> Stage:
        """Return the stage with this name."""
        return Stage(self.root / f"{name}-{self.fingerprint}")

    def perform(self, name: str, make: Callable[[Stage], Counts]) -> tuple[Stage, Counts]:
        """Return a stage and its counts; make it unless it is finished."""
        stage, began = self.stage(name), time.monotonic()
        counts = stage.finished
        if counts is None:
            counts = make(stage)
            stage.finish(counts | {"stage_seconds": round(time.monotonic() - began, 3)})
        self.seconds[name] = stage.finished["stage_seconds"] if stage.finished else 0.0
        self.on_stage(name, time.monotonic() - began)
        return stage, counts


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder and the folders in it, in the order of their names."""
    yield from sorted(path for path in folder.rglob("*.parquet") if not path.name.startswith((".", "_")))
