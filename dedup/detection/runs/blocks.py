"""The blocks of days of all passes: each finds and stores its pairs, in any process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from articles.processes import Pool
from dedup.detection.bounds import Rules
from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.evidence import WrittenBlock, write_block
from dedup.detection.runs.phases import Progress, RunClock
from dedup.detection.runs.preparing import Preparation, find_pairs, preparations, prepared
from dedup.detection.runs.profiles import Configs, enabled
from dedup.detection.runs.scope import Scope, blocks_for, blocks_of, window_of
from dedup.detection.types import STORING, Tally, Window
from dedup.models import DetectionRun

# Starting another process costs a second of work; it pays off for this many articles.
ARTICLES_PER_WORKER = 50_000


@dataclass(frozen=True, slots=True)
class BlockTask:
    """One block of one pass, as a task for any process."""

    run_id: int
    pass_name: str
    config: PassConfig
    window: Window
    articles: int
    rules: Rules = ()
    prepared: Any = None


def find_in_blocks(run: DetectionRun, configs: Configs, scope: Scope, clock: RunClock, pool: Pool) -> None:
    """Do every block of every pass that the run has not done yet."""
    tasks, parts = _tasks(run, configs, scope, clock)
    at_most = max(1, sum(task.articles for task in tasks) // ARTICLES_PER_WORKER)
    shared = prepared(parts, clock, pool, at_most=at_most)
    done = pool.results(
        [dataclasses.replace(task, prepared=shared.get(task.pass_name)) for task in tasks],
        perform_block,
        at_most=at_most,
        on_progress=lambda task, articles: clock.read(task.pass_name, articles),
        on_idle=clock.look,
    )
    for place, written in done:
        name = tasks[place].pass_name
        clock.worked(name, written.finding_seconds)
        clock.worked(STORING, written.storing_seconds)
        clock.advance(name, tasks[place].articles, written.pairs)


def _tasks(
    run: DetectionRun, configs: Configs, scope: Scope, progress: Progress
) -> tuple[list[BlockTask], list[Preparation]]:
    """Return the tasks left, the largest first so that all workers are busy to the end, and what they need prepared."""
    tasks: list[BlockTask] = []
    parts: list[Preparation] = []
    every = blocks_of(scope)
    for name, config in enabled(configs).items():
        blocks = blocks_for(name, config, every, scope)
        articles = sum(block.articles for block in blocks)
        progress.start(name, articles)
        done = {mark.first_day: mark.pairs for mark in run.blocks.filter(pass_name=name)}
        windows = [window_of(name, block, scope) for block in blocks]
        for block, window in zip(blocks, windows, strict=True):
            if block.first_day in done:
                progress.advance(name, block.articles, done[block.first_day])
            else:
                tasks.append(BlockTask(run.pk, name, config, window, block.articles, scope.rules))
        if len(done) < len(blocks):
            parts += preparations(name, config, scope.rules, windows, articles)
    return sorted(tasks, key=lambda task: -task.articles), parts


def perform_block(task: BlockTask, on_read: Callable[[int], None]) -> WrittenBlock:
    """Find and store the pairs of a block."""
    tally = Tally(on_read)
    candidates = find_pairs(task.pass_name, task.config, task.rules, task.window, connection, tally, task.prepared)
    return write_block(task.run_id, task.pass_name, candidates, task.window, tally)
