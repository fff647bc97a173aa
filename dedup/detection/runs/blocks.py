"""The blocks of days of all passes: each finds and stores its pairs, in any process.

What all blocks of a pass need is made once a run before them, in parts, by any processes too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from django.db import connection

from articles.models import Article
from articles.processes import THIS_PROCESS, Pool
from dedup.detection.bounds import Rules, bounds_between, widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig, PreparedPass
from dedup.detection.runs.evidence import WrittenBlock, write_block
from dedup.detection.runs.phases import NO_PROGRESS, Progress, RunClock
from dedup.detection.runs.profiles import Configs, enabled
from dedup.detection.runs.scope import Block, Scope, blocks_for, blocks_of, window_of
from dedup.detection.types import Candidate, Phase, Tally, Window
from dedup.models import DetectionRun

# Starting another process costs a second of work; it pays off for this many articles.
ARTICLES_PER_WORKER = 50_000
_LOOKED_UP_AT_ONCE = 1_000


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
        clock.worked(Phase.STORING, written.storing_seconds)
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
    candidates = find_pairs(task.pass_name, task.config, task.rules, task.window, tally, task.prepared)
    return write_block(task.run_id, task.pass_name, candidates, task.window, tally)


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


def find_pairs(
    pass_name: str, config: PassConfig, rules: Rules, window: Window, tally: Tally, prepared: Any = None
) -> Iterator[Candidate]:
    """Yield the candidates of a pass that the config and the rules allow.

    `prepared` is what was made once for all blocks of the run; None: nothing was.
    """
    detection_pass, widest = PASSES[pass_name], widened(pass_name, config, rules)
    if prepared is not None and isinstance(detection_pass, PreparedPass):
        found = detection_pass.find_prepared(window, widest, connection, prepared, tally)
    else:
        found = detection_pass.find(window, widest, connection, tally)
    return allowed(pass_name, config, rules, found) if rules else found


def allowed(pass_name: str, config: PassConfig, rules: Rules, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates that are inside the bounds of their two newspapers, in the same order."""
    between = bounds_between(pass_name, config, rules)
    for candidate, (first, day), (second, other_day) in with_articles(found, "newspaper", "date"):
        if between(first, second).allow(candidate.score, abs((day - other_day).days)):
            yield candidate


def with_articles(
    found: Iterable[Candidate], *columns: str
) -> Iterator[tuple[Candidate, Sequence[Any], Sequence[Any]]]:
    """Yield the candidates in the same order, with these columns of their two articles."""
    candidates = iter(found)
    while batch := list(islice(candidates, _LOOKED_UP_AT_ONCE)):
        ids = {id_ for candidate in batch for id_ in (candidate.left, candidate.right)}
        rows = Article.objects.filter(pk__in=ids).order_by().values_list("pk", *columns)
        articles = {pk: values for pk, *values in rows}
        for candidate in batch:
            yield candidate, articles[candidate.left], articles[candidate.right]
