"""Why nobody has to decide on a pair: the decisions that imply its state."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from django.db import connection

from dedup.models import ConfirmedArticle, Decision, Pair
from dedup.review.queries.history import every_decision

# Answered from the index link_latest.
_LINKS_SQL = """
SELECT left_id, right_id, effect, decision_id
FROM dedup_standing_link
WHERE left_id = ANY (%(articles)s::bigint[]) AND right_id = ANY (%(articles)s::bigint[])
    AND effect IN ('must', 'cannot')
ORDER BY left_id, right_id
"""

Steps = dict[int, list[tuple[int, int]]]
Path = tuple[int, ...]


class _Links(NamedTuple):
    """The links in force among some articles, each with its decision."""

    must: Steps  # by article: what it is tied to
    cannot: list[tuple[int, int, int]]


def implied_by(pair: Pair) -> list[Decision]:
    """Return the decisions that together imply the state of a pair, in order of time; none if it was decided itself.

    There may be several ways to conclude the same; this is one with the fewest decisions.
    """
    if not pair.implied:
        return []
    links = _links_among(_tied_to(pair))
    from_left, from_right = (_paths(links.must, article) for article in (pair.left_id, pair.right_id))
    if pair.state == Pair.State.CONFIRMED:
        numbers = from_left[pair.right_id]
    else:
        numbers = min(_separations(links.cannot, from_left, from_right), key=len)
    return list(every_decision().filter(pk__in=numbers).order_by("pk"))


def _tied_to(pair: Pair) -> set[int]:
    ends = {pair.left_id, pair.right_id}
    firsts = ConfirmedArticle.objects.filter(article__in=ends).values("first")
    return ends | set(ConfirmedArticle.objects.filter(first__in=firsts).values_list("article", flat=True))


def _links_among(articles: Collection[int]) -> _Links:
    links = _Links({}, [])
    with connection.cursor() as cursor:
        cursor.execute(_LINKS_SQL, {"articles": list(articles)})
        for left, right, effect, decision in cursor:
            if effect == "cannot":
                links.cannot.append((left, right, decision))
            else:
                links.must.setdefault(left, []).append((right, decision))
                links.must.setdefault(right, []).append((left, decision))
    return links


def _paths(steps: Steps, start: int) -> dict[int, Path]:
    """Return the shortest path to each article that is tied to this one: the decisions of its links."""
    paths: dict[int, Path] = {start: ()}
    waiting = deque([start])
    while waiting:
        article = waiting.popleft()
        for other, decision in steps.get(article, ()):
            if other not in paths:
                paths[other] = (*paths[article], decision)
                waiting.append(other)
    return paths


def _separations(
    cannot: Iterable[tuple[int, int, int]], from_left: Mapping[int, Path], from_right: Mapping[int, Path]
) -> list[Path]:
    """Return the decisions of each way from the left article over a cannot-link to the right one."""
    turned = [(other, one, decision) for one, other, decision in cannot]
    return [
        (*from_left[one], decision, *from_right[other])
        for one, other, decision in (*cannot, *turned)
        if one in from_left and other in from_right
    ]
