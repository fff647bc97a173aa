"""The layout of the report `network`, and the time axis of charts."""

from __future__ import annotations

import datetime

from dedup.reports.drawing import time_axis
from dedup.reports.network import Network, Node, places
from dedup.reports.sources import Together


def test_groups_that_no_line_joins_are_drawn_apart_and_inside():
    groups = [range(1, 7), range(7, 10), range(10, 12), range(12, 14)]
    nodes = [Node(f"Paper {number}", number, 5, 1, 1, 1) for group in groups for number in group]
    edges = [
        Together(f"Paper {one}", f"Paper {one + 1}", one, one + 1, 1, 1, 0, 0, 1)
        for group in groups
        for one in group[:-1]
    ]
    at = places(Network(1, nodes, edges))
    assert set(at) == {node.newspaper_id for node in nodes}
    assert all(0 <= place <= 1 for both in at.values() for place in both)
    boxes = [
        [(min(axis), max(axis)) for axis in zip(*(at[number] for number in group), strict=True)] for group in groups
    ]
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert any(a[1] < b[0] or b[1] < a[0] for a, b in zip(one, other, strict=True))


def test_a_single_day_is_not_a_bar_as_wide_as_the_drawing():
    day = datetime.date(2026, 3, 2)
    scale, axis = time_axis("day", day, day)
    assert scale.to_dict()["domain"] == ["2026-02-27", "2026-03-06"]
    assert axis.to_dict()["tickCount"] == {"interval": "day", "step": 1}
    scale, axis = time_axis("month", day, datetime.date(2027, 3, 1))
    assert scale.to_dict()["domain"] == ["2026-03-02", "2027-03-31"]
    assert axis.to_dict()["tickCount"] == 8
