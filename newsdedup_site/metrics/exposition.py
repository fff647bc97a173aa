"""The text format of Prometheus, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Metric:
    """A gauge: its name after newsdedup_, its help, and its samples, each with the values of its labels."""

    name: str
    help: str
    samples: list[tuple[Mapping[str, str], float]] = field(default_factory=list)


def single(name: str, help_text: str, value: float | None) -> Metric:
    """Return a gauge without labels; without a sample if there is no value."""
    return Metric(name, help_text, [] if value is None else [({}, value)])


def exposition(metrics: Iterable[Metric]) -> str:
    """Return metrics as text. Each is a gauge: all are read from the database, and may fall."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    name = f"newsdedup_{metric.name}"
    yield f"# HELP {name} {_escaped(metric.help)}"
    yield f"# TYPE {name} gauge"
    for labels, value in metric.samples:
        pairs = ",".join(f'{label}="{_quoted(text)}"' for label, text in labels.items())
        yield f"{name}{{{pairs}}} {_number(value)}" if pairs else f"{name} {_number(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if float(value).is_integer() else repr(float(value))
