"""Where the marks of a cluster's pictures go."""

import datetime
from math import dist

from dedup.review.pictures.graph import Line, Node, draw_graph
from dedup.review.pictures.timeline import Event, draw_timeline

DAY = datetime.date(2026, 3, 2)


def test_a_weak_bridge_is_the_shortest_way_between_two_circles() -> None:
    nodes = [Node(number, str(number), articles=1 + (number == 4), kept=number == 1) for number in range(1, 7)]
    lines = [Line(1, 2, "joins", 0.9), Line(3, 6, "joins", 0.7, bridge=True), Line(2, 4, "rejected", 0.2)]
    graph = draw_graph(nodes, lines, parts=[[1, 2, 3], [4, 5, 6]])
    places = {node.number: node.place for node in graph.nodes}

    between = {(one, other): dist(places[one], places[other]) for one in (1, 2, 3) for other in (4, 5, 6)}
    assert min(between, key=lambda ends: between[ends]) == (3, 6)
    assert all(0 < x < graph.width and 0 < y < graph.height for x, y in places.values())
    assert [line.kind for line in graph.lines] == ["joins", "rejected", "joins"]
    assert [kind for kind, _ in graph.legend] == ["rejected", "joins", "bridge"]
    assert len(set(places.values())) == 6
    assert draw_graph(nodes, lines, parts=[[1, 2, 3], [4, 5, 6]]) == graph


def test_neighbours_on_a_circle_do_not_overlap() -> None:
    drawn = draw_graph([Node(number, str(number)) for number in range(40)], []).nodes
    apart = min(dist(a.place, b.place) for a in drawn for b in drawn if a is not b)

    assert apart > 2 * drawn[0].radius


def test_the_time_line_has_a_lane_for_each_newspaper() -> None:
    events = [
        Event("Harbour Post", DAY, datetime.time(6), kept=True),
        Event("Harbour Post", DAY, datetime.time(6, 5)),
        Event("Coast Telegraph", DAY + datetime.timedelta(days=3)),
    ]
    drawn = draw_timeline(events)

    assert [(lane.newspaper, lane.articles, lane.first) for lane in drawn.lanes] == [
        ("Harbour Post", 2, DAY),
        ("Coast Telegraph", 1, DAY + datetime.timedelta(days=3)),
    ]
    assert [(mark.articles, mark.kept, mark.timed) for mark in drawn.marks] == [(2, True, True), (1, False, False)]
    assert drawn.left < drawn.marks[0].x < drawn.marks[1].x < drawn.right
    assert [label for _, label in drawn.ticks] == ["2 Mar", "3 Mar", "4 Mar", "5 Mar"]
    assert [label for _, label in draw_timeline(events[:2]).ticks] == ["0:00", "6:00", "12:00", "18:00"]
    assert [label for _, label in draw_timeline(events[2:]).ticks] == ["5 Mar"]
    many = draw_timeline([Event(f"Paper {number}", DAY) for number in range(15)])
    assert (len(many.lanes), many.left_out) == (12, 3)
