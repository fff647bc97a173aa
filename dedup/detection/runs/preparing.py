"""What all blocks of a pass need, made once a run: in parts, by any processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from django.db import connection

from articles.models import Article, Newspaper
from articles.processes import THIS_PROCESS, Pool
from dedup.detection.bounds import Bounds, Rules, bounds_between, bounds_of, widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import Connection, PassConfig, PreparedPass
from dedup.detection.runs.phases import NO_PROGRESS, Progress
from dedup.detection.runs.scope import Block, Scope, window_of
from dedup.detection.types import Candidate, Tally, Window


@dataclass(frozen=True, slots=True)
class Preparation:
    """A part of what the blocks of a pass need, as a task for any process."""

    pass_name: str
    config: PassConfig
    window: Window
    part: int
    parts: int


def preparations(
    pass_name: str, config: PassConfig, rules: Rules, blocks: Sequence[Window], articles: int
) -> list[Preparation]:
    """Return the parts to prepare for these blocks of all articles; none if each block does it by itself."""
    detection_pass = PASSES[pass_name]
    if not blocks or not isinstance(detection_pass, PreparedPass):
        return []
    days = [day for block in blocks for day in (block.first_day, block.last_day)]
    window = dataclasses.replace(blocks[0], first_day=min(days), last_day=max(days))
    parts = detection_pass.preparations(len(blocks), articles)
    return [Preparation(pass_name, widened(pass_name, config, rules), window, part, parts) for part in range(parts)]


def perform_preparation(task: Preparation, on_read: Callable[[int], None]) -> Any:
    """Prepare a part."""
    detection_pass = cast("PreparedPass", PASSES[task.pass_name])
    return detection_pass.prepare(task.window, task.config, connection, task.part, task.parts, Tally(on_read))


def prepared(
    tasks: Sequence[Preparation],
    progress: Progress = NO_PROGRESS,
    pool: Pool = THIS_PROCESS,
    *,
    at_most: int | None = None,
) -> dict[str, Any]:
    """Perform these tasks; return what the blocks of each pass need, by the name of the pass."""
    made = dict(
        pool.results(
            tasks,
            perform_preparation,
            at_most=at_most,
            on_progress=lambda _task, _articles: progress.look(),
            on_idle=progress.look,
        )
    )
    parts: dict[str, list[Any]] = {}
    for place, task in enumerate(tasks):
        parts.setdefault(task.pass_name, []).append(made[place])
    return {name: cast("PreparedPass", PASSES[name]).prepared(own) for name, own in parts.items()}


def prepared_for(pass_name: str, config: PassConfig, blocks: Sequence[Block], scope: Scope) -> Any:
    """Return what these blocks of a pass need together, made in this process; None: nothing."""
    windows = [window_of(pass_name, block, scope) for block in blocks]
    articles = sum(block.articles for block in blocks)
    return prepared(preparations(pass_name, config, scope.rules, windows, articles)).get(pass_name)


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
    between = bounds_between(pass_name, config, rules)
    while batch := list(islice(candidates, _LOOKED_UP_AT_ONCE)):
        ids = {id_ for candidate in batch for id_ in (candidate.left, candidate.right)}
        rows = Article.objects.filter(pk__in=ids).order_by().values_list("pk", "newspaper", "date")
        articles = {pk: (newspaper, day) for pk, newspaper, day in rows}
        for candidate in batch:
            (first, day), (second, other_day) = articles[candidate.left], articles[candidate.right]
            if between(first, second).allow(candidate.score, abs((day - other_day).days)):
                yield candidate


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
