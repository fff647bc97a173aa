"""The blocks of days of all passes: each finds and stores its pairs, in any process. A dry run stores nothing.

What all blocks of a pass need is made once a run before them, in parts, by any processes too.
"""

from __future__ import annotations

import dataclasses
import datetime
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, cast

from django.db import connection, transaction

from articles.models import Article
from articles.processes import THIS_PROCESS, Pool
from articles.storage.renormalization import outdated_forms
from dedup.detection.bounds import Rules, bounds_between, widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig, PreparedPass, Reach
from dedup.detection.passes.containment import ContainmentPass
from dedup.detection.runs.dense_groups import KeptPair, connected
from dedup.detection.runs.evidence import write_block
from dedup.detection.runs.growth import Growth, growth_of, keep_counts
from dedup.detection.runs.phases import NO_PROGRESS, Progress, RunClock, WrittenBlock
from dedup.detection.runs.profiles import Configs, enabled, snapshot
from dedup.detection.runs.scope import Block, Scope, blocks_for, blocks_of, window_of
from dedup.detection.types import Candidate, Tally, Window
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


def find_in_blocks(run: DetectionRun, configs: Configs, scope: Scope, clock: RunClock, pool: Pool) -> Scope:
    """Do every block of every pass that the run has not done yet; return the scope as the passes compared it."""
    name, began = ContainmentPass.name, time.monotonic()
    config = configs[name]
    growth = growth_of(run, config, scope, pool) if config.enabled else None
    if growth:
        clock.worked(name, time.monotonic() - began)
        scope = growth.of(scope)
    tasks, parts = _tasks(run, configs, scope, clock)
    at_most = max(1, sum(task.articles for task in tasks) // ARTICLES_PER_WORKER)
    shared = prepared(parts, clock, pool, at_most=at_most)
    if growth:
        shared[name] = growth.common
        _store_growth(run, config, scope, growth, clock)
    elif name in shared and not run.blocks.filter(pass_name=name).exists():
        keep_counts(run, scope, shared[name])
    done = pool.results(
        [dataclasses.replace(task, prepared=shared.get(task.pass_name)) for task in tasks],
        perform_block,
        at_most=at_most,
        on_progress=lambda task, articles: clock.read(task.pass_name, articles),
        on_idle=clock.look,
    )
    for place, written in done:
        clock.wrote(tasks[place].pass_name, tasks[place].articles, written)
    return scope


def _store_growth(run: DetectionRun, config: PassConfig, scope: Scope, growth: Growth, clock: RunClock) -> None:
    """Store the touched pairs, and which articles are touched, in one transaction."""
    name = ContainmentPass.name
    every = blocks_of(scope)
    # No other block begins before the first article.
    days = every[0].first_day - datetime.timedelta(days=1), every[-1].last_day
    window = Window(*days, newer_than=growth.kept.run.counts["newest"])
    if run.blocks.filter(pass_name=name, first_day=window.first_day).exists():
        return
    found = ContainmentPass().candidates(*growth.scored(widened(name, config, scope.rules)))
    with transaction.atomic():
        found = allowed(name, config, scope.rules, found) if scope.rules else found
        written = write_block(run.pk, name, found, window, Tally())
        growth.kept.touched = growth.touched.astype("<i8").tobytes()
        growth.kept.save(update_fields=["touched"])
    clock.wrote(name, 0, written)


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
        if len(done) < len(blocks) and name not in scope.touched:
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


# ---- a dry run: what a run would find, with the same counts as far as they do not depend on the store ----------------

# Counts over all that is stored, which a dry run leaves empty.
_COUNTED_OF_THE_STORE = (
    "stale", "verdicts", "clusters", "clustered_articles", "duplicate_articles", "duplicate_share", "contradictions"
)  # fmt: skip

# The scores of each pair of articles, by pass.
Scores = Mapping[tuple[int, int], dict[str, float]]


def dry_run(configs: Configs, scope: Scope, *, progress: Progress) -> tuple[DetectionRun, Scores]:
    """Return a run that is not stored, with its counts, and the scores of the pairs that it would find.

    Counts that depend on stored pairs are None.
    """
    blocks = blocks_of(scope)
    scores: defaultdict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    hubs: defaultdict[str, set[int]] = defaultdict(set)
    passes: dict[str, dict[str, Any]] = {}
    for name, config in enabled(configs).items():
        own_blocks = blocks_for(name, config, blocks, scope)
        progress.start(name, sum(block.articles for block in own_blocks))
        # With blocks of days, the finished ones are report enough.
        tally = Tally() if PASSES[name].by_days else Tally(partial(progress.read, name))
        pairs, seconds = 0, 0.0
        for block, found in _found_in_blocks(name, config, scope, tally, own_blocks):
            began = time.monotonic()
            kept = list(found)
            for candidate in kept:
                scores[candidate.left, candidate.right][name] = candidate.score
            pairs += len(kept)
            seconds = round(seconds + time.monotonic() - began, 3)
            progress.advance(name, block.articles, len(kept))
        hubs[name].update(tally.hubs)
        passes[name] = {
            "candidates": tally.candidates, "verified": tally.verified, "pairs": pairs, "seconds": seconds,
        }  # fmt: skip
    counts = dict.fromkeys(_COUNTED_OF_THE_STORE) | {
        "phases": {name: counted["seconds"] for name, counted in passes.items()},
        "articles": Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).count(),
        "passes": passes,
        "pairs": len(scores),
        "outdated": outdated_forms().count(),
        **_dense(scores, hubs),
    }
    return DetectionRun(config=snapshot(configs), scope=scope.stored(), state="dry run", counts=counts), scores


def _dense(scores: Scores, hubs: Mapping[str, set[int]]) -> dict[str, int]:
    """Return how many dense groups a dry run found, and how many articles they have."""
    kept = (
        KeptPair(left, right, [name for name in by_pass if left in hubs[name] and right in hubs[name]])
        for (left, right), by_pass in scores.items()
    )
    parts = connected(pair for pair in kept if pair.passes)
    return {"dense_groups": len(parts), "dense_articles": sum(len(part.articles) for part in parts)}


def _within_scope(name: str, found: Iterator[Candidate], scope: Scope) -> Iterator[Candidate]:
    """Leave out the pairs outside the scope, which some passes find because their pairs depend on each other."""
    newer_than = (scope.newer_than or {}).get(name)
    if PASSES[name].reach is Reach.PAIR or (scope.since is None and newer_than is None):
        yield from found
        return
    for pair, *both in with_articles(found, "date", "revision"):
        late = scope.since is None or any(day >= scope.since for day, _ in both)
        if late and (newer_than is None or any(revision > newer_than for _, revision in both)):
            yield pair


def find_with(pass_name: str, config: PassConfig, scope: Scope, tally: Tally) -> Iterator[Candidate]:
    """Yield what a run over the scope would find with this pass and these settings, each pair once."""
    blocks = blocks_for(pass_name, config, blocks_of(scope), scope)
    for _, found in _found_in_blocks(pass_name, config, scope, tally, blocks):
        yield from found


def _found_in_blocks(
    pass_name: str, config: PassConfig, scope: Scope, tally: Tally, blocks: list[Block]
) -> Iterator[tuple[Block, Iterator[Candidate]]]:
    windows = [window_of(pass_name, block, scope) for block in blocks]
    articles = sum(block.articles for block in blocks)
    shared = prepared(preparations(pass_name, config, scope.rules, windows, articles)).get(pass_name)
    for block, window in zip(blocks, windows, strict=True):
        found = find_pairs(pass_name, config, scope.rules, window, tally, shared)
        yield block, _within_scope(pass_name, found, scope)
