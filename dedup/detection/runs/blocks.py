"""The blocks of days of all passes: each finds and stores its pairs, in any process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connection

from articles.processes import Pool
from dedup.detection.bounds import Rules
from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.evidence import WrittenBlock, write_block
from dedup.detection.runs.phases import Progress, RunClock, execute
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
    shared = prepared(parts, pool=pool, at_most=at_most, on_idle=clock.look)
    execute(
        [dataclasses.replace(task, prepared=shared.get(task.pass_name)) for task in tasks],
        perform_block,
        pool=pool,
        at_most=at_most,
        on_read=lambda task, articles: clock.read(task.pass_name, articles),
        on_done=partial(_block_done, clock),
        on_idle=clock.look,
    )


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


def _block_done(clock: RunClock, task: BlockTask, written: WrittenBlock) -> None:
    clock.worked(task.pass_name, written.finding_seconds)
    clock.worked(STORING, written.storing_seconds)
    clock.advance(task.pass_name, task.articles, written.pairs)
