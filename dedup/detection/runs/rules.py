"""Applies the rules of a profile (bounds.py) to the pairs of a pass, with newspapers from the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from articles.models import Article, Newspaper
from dedup.detection.bounds import Bounds, Rules, bounds_of, widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import Connection, PassConfig, PreparedPass
from dedup.detection.types import Candidate, Tally, Window

_LOOKED_UP_AT_ONCE = 1_000


def find_pairs(
    pass_name: str,
    config: PassConfig,
    rules: Rules,
    window: Window,
    connection: Connection,
    tally: Tally,
    prepared: Any = None,
) -> Iterator[Candidate]:
    """Yield the candidates of a pass that the config and the rules allow.

    `prepared` is what was made once for all blocks of the run; None: nothing was.
    """
    each, widest = PASSES[pass_name], widened(pass_name, config, rules)
    if prepared is not None and isinstance(each, PreparedPass):
        found = each.find_prepared(window, widest, connection, prepared, tally)
    else:
        found = each.find(window, widest, connection, tally)
    return allowed(pass_name, config, rules, found) if rules else found


def allowed(pass_name: str, config: PassConfig, rules: Rules, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates that are inside the bounds of their two newspapers, in the same order."""
    candidates = iter(found)
    known: dict[tuple[int, int], Bounds] = {}
    while batch := list(islice(candidates, _LOOKED_UP_AT_ONCE)):
        ids = {id_ for each in batch for id_ in (each.left, each.right)}
        rows = Article.objects.filter(pk__in=ids).order_by().values_list("pk", "newspaper", "date")
        articles = {pk: (newspaper, day) for pk, newspaper, day in rows}
        for each in batch:
            (first, day), (second, other_day) = articles[each.left], articles[each.right]
            between = (min(first, second), max(first, second))
            if between not in known:
                known[between] = bounds_of(pass_name, config, rules, *between)
            if known[between].allow(each.score, abs((day - other_day).days)):
                yield each


def own_bounds(pass_name: str, config: PassConfig, rules: Rules) -> Iterator[tuple[int, int, Bounds]]:
    """Yield the bounds of every two newspapers that a rule is about, by their ids, the smaller one first."""
    newspapers = list(Newspaper.objects.values_list("pk", flat=True)) if rules else []
    pairs = {
        (min(rule.newspaper_id, other), max(rule.newspaper_id, other))
        for rule in rules
        for other in ([rule.other_id] if rule.other_id else newspapers)
    }
    for first, second in sorted(pairs):
        yield first, second, bounds_of(pass_name, config, rules, first, second)
