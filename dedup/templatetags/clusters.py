"""Template filters of the pages of clusters: rows and parts by number."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.http import HttpRequest

from dedup.review.queries.cluster_ties import Row
from dedup.review.queries.clusters import cluster_number

register = template.Library()


@register.simple_tag(takes_context=True)
def came_from(context: dict[str, Any]) -> int | None:
    """Return the number of the cluster that the reader came from."""
    request: HttpRequest = context["request"]
    return cluster_number(request.GET.get("back", ""))


@register.filter
def spans(numbers: Iterable[int]) -> str:
    """Write row numbers in short: "1-3, 7"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


@register.filter
def row_numbers(rows: list[Row]) -> str:
    """Name some rows: "row 4", "rows 1–3"."""
    return f"row{'' if len(rows) == 1 else 's'} {spans(row.number for row in rows)}"


@register.filter
def part_letter(_part: object, place: int) -> str:
    """Name a part of a cluster as the graph does: A, B, …"""
    return f"Part {chr(ord('A') + place - 1) if place <= 26 else place}"
