"""The figures of a load test as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tests.load.loading import Outcome
from tests.load.people import Request

_TOLD = {"stored": "stored", "refused": "refused, because somebody was first", "nothing": "without a reply"}


def table(outcome: Outcome, rows: int = 16) -> str:
    """Return the seconds of each kind of request, alone and under load, as Markdown."""
    idle, load = _by_name(outcome.idle), _by_name(outcome.load.requests)
    lines = [
        "| request | number | median ms | p95 ms | alone: number | median ms | p95 ms |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    names = sorted(load, key=lambda name: -len(load[name]))
    lines += [f"| {name} | {_cells(load[name])} | {_cells(idle.get(name, []))} |" for name in names[:rows]]
    rest = [seconds for name in names[rows:] for seconds in load[name]]
    rest_idle = [seconds for name in names[rows:] for seconds in idle.get(name, [])]
    lines.append(f"| {len(names[rows:])} others | {_cells(rest)} | {_cells(rest_idle)} |")
    every = [[request.seconds for request in requests] for requests in (outcome.load.requests, outcome.idle)]
    lines.append(f"| all | {_cells(every[0])} | {_cells(every[1])} |")
    return "\n".join(lines)


def _by_name(requests: Sequence[Request]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for request in requests:
        found.setdefault(request.name, []).append(request.seconds)
    return found


def _cells(seconds: Sequence[float]) -> str:
    if not seconds:
        return "0 | – | –"
    return f"{len(seconds):,} | {1000 * np.median(seconds):.0f} | {1000 * np.percentile(seconds, 95):.0f}"


def summary(outcome: Outcome) -> str:
    """Return what happened in a few lines."""
    told = Counter(answer.told for answer in outcome.load.answers)
    statuses = Counter(request.status for request in outcome.load.requests)
    lines = [
        f"Requests by status: {', '.join(f'{status}: {number:,}' for status, number in sorted(statuses.items()))}",
        "Answers: " + ", ".join(f"{told[name]:,} {words}" for name, words in _TOLD.items()),
        f"Commands: {', '.join(f'{name} {number}' for name, number in outcome.commands.most_common())}",
        f"Faults: {len(outcome.faults)}",
    ]
    return "\n".join([*lines, *(f"- {fault}" for fault in outcome.faults[:50])])
