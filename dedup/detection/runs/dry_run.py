"""A run that stores nothing: what a run would find, with the same counts as far as they do not depend on the store."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from articles.models import Article
from articles.storage.renormalization import outdated_forms
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig, Reach
from dedup.detection.runs.blocks import find_pairs, prepared_for, with_articles
from dedup.detection.runs.dense_groups import KeptPair, connected
from dedup.detection.runs.phases import Progress
from dedup.detection.runs.profiles import Configs, enabled, snapshot
from dedup.detection.runs.scope import Block, Scope, blocks_for, blocks_of, window_of
from dedup.detection.types import Candidate, Tally
from dedup.models import DetectionRun

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
    shared = prepared_for(pass_name, config, blocks, scope)
    for block in blocks:
        window = window_of(pass_name, block, scope)
        found = find_pairs(pass_name, config, scope.rules, window, tally, shared)
        yield block, _within_scope(pass_name, found, scope)
