"""What the commands backup and restore share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.progress import Progress

_STEPS = {
    "count": "Counting rows",
    "write": "Writing",
    "check": "Reading the file",
    "restore": "Restoring",
    "compare": "Comparing rows",
}


def reported(bars: Progress) -> Callable[[str, int], None]:
    """Return what shows the progress of each step; how much there is to do is not known before."""
    tasks = {}

    def report(step: str, done: int) -> None:
        if step not in tasks:
            tasks[step] = bars.add_task(_STEPS[step], total=None)
        bars.advance(tasks[step], done)

    return report


def size_of(path: Path) -> str:
    """Return the size of a file in words."""
    size = path.stat().st_size
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"
