"""Looks at a database as it is at one moment, whatever runs and editors write meanwhile, and changes nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction

from newsdedup_site.doctor import articles, clusters, pairs, references, review, schema
from newsdedup_site.doctor.invariant import Found, Invariant, Sample

INVARIANTS: tuple[Invariant, ...] = (
    *schema.INVARIANTS,
    *references.INVARIANTS,
    *articles.INVARIANTS,
    *pairs.INVARIANTS,
    *review.INVARIANTS,
    *clusters.INVARIANTS,
)
# So many articles are normalised again.
SAMPLE = 1_000
_SNAPSHOT_SQL = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the doctor found of one promise."""

    invariant: Invariant
    found: Found
    seconds: float

    @property
    def is_healthy(self) -> bool:
        """Whether no row breaks the promise."""
        return not self.found.faults


class UnknownInvariantError(ValueError):
    """There is no such promise; the message names all."""


def chosen(names: Collection[str]) -> tuple[Invariant, ...]:
    """Return the promises of these names in order; without names, all. Raises UnknownInvariantError."""
    known = {each.name: each for each in INVARIANTS}
    if unknown := sorted(set(names) - known.keys()):
        raise UnknownInvariantError(f"There is no check named {', '.join(unknown)}; there are {', '.join(known)}.")
    return tuple(each for each in INVARIANTS if not names or each.name in names)


def examine(
    names: Collection[str] = (),
    *,
    sample: int | None = SAMPLE,
    seed: int | None = None,
    on_start: Callable[[Invariant], None] = lambda _invariant: None,
) -> list[Finding]:
    """Return what the doctor finds of these promises, or of all; each with its faults, or none.

    All see the database as it was at one moment: in a transaction of its own, unless the caller is in one. `sample`
    articles are normalised again, chosen by the seed; None: all. Raises UnknownInvariantError.
    """
    asked = Sample(sample, random.randrange(2**32) if seed is None else seed)  # noqa: S311 - not secret
    looked = []
    with _one_moment():
        for invariant in chosen(names):
            on_start(invariant)
            began = time.monotonic()
            found = invariant.look(asked)
            looked.append(Finding(invariant, found, time.monotonic() - began))
    return looked


@contextmanager
def _one_moment() -> Iterator[None]:
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_SNAPSHOT_SQL)
        yield
