"""What all blocks of a pass need, made once a run: in parts, by any processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db import connection

from articles.processes import THIS_PROCESS, Pool
from dedup.detection.bounds import Rules, widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig, PreparedPass
from dedup.detection.runs.scope import Block, Scope, window_of
from dedup.detection.runs.workers import execute
from dedup.detection.types import Tally, Window


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
    each = PASSES[pass_name]
    if not blocks or not isinstance(each, PreparedPass):
        return []
    days = [day for block in blocks for day in (block.first_day, block.last_day)]
    window = dataclasses.replace(blocks[0], first_day=min(days), last_day=max(days))
    parts = each.preparations(len(blocks), articles)
    return [Preparation(pass_name, widened(pass_name, config, rules), window, part, parts) for part in range(parts)]


def perform_preparation(task: Preparation, on_read: Callable[[int], None]) -> Any:
    """Prepare a part."""
    each = cast("PreparedPass", PASSES[task.pass_name])
    return each.prepare(task.window, task.config, connection, task.part, task.parts, Tally(on_read))


def prepared(
    tasks: Sequence[Preparation],
    *,
    pool: Pool = THIS_PROCESS,
    at_most: int | None = None,
    on_idle: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Perform these tasks; return what the blocks of each pass need, by the name of the pass."""
    made: dict[Preparation, Any] = {}
    execute(
        tasks,
        perform_preparation,
        pool=pool,
        at_most=at_most,
        on_read=lambda _task, _articles: on_idle(),
        on_done=made.__setitem__,
        on_idle=on_idle,
    )
    whole: dict[str, Any] = {}
    for name in {task.pass_name for task in tasks}:
        each = cast("PreparedPass", PASSES[name])
        whole[name] = each.prepared([made[task] for task in tasks if task.pass_name == name])
    return whole


def prepared_for(pass_name: str, config: PassConfig, blocks: Sequence[Block], scope: Scope) -> Any:
    """Return what these blocks of a pass need together, made in this process; None: nothing."""
    windows = [window_of(pass_name, block, scope) for block in blocks]
    articles = sum(block.articles for block in blocks)
    return prepared(preparations(pass_name, config, scope.rules, windows, articles)).get(pass_name)
