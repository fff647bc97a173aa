"""One pass over a scope, with nothing stored."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection

from dedup.detection.passes.base import PassConfig
from dedup.detection.runs.dry_run import within_scope
from dedup.detection.runs.preparing import prepared_for
from dedup.detection.runs.rules import find_pairs
from dedup.detection.runs.scope import Scope, blocks_for, blocks_of, window_of
from dedup.detection.types import Candidate, Tally


def find_with(pass_name: str, config: PassConfig, scope: Scope, tally: Tally) -> Iterator[Candidate]:
    """Yield what a run over the scope would find with this pass and these settings, each pair once."""
    blocks = blocks_for(pass_name, config, blocks_of(scope), scope)
    shared = prepared_for(pass_name, config, blocks, scope)
    for block in blocks:
        window = window_of(pass_name, block, scope)
        found = find_pairs(pass_name, config, scope.rules, window, connection, tally, shared)
        yield from within_scope(pass_name, found, scope)
