"""Looks at a database as it is at one moment, whatever runs and editors write meanwhile, and changes nothing."""

import random
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import clear_frames

from django.db import connection, transaction

from articles.querysets import executed
from articles.storage.locks import is_lost
from newsdedup_site.doctor import articles, derived, review, schema
from newsdedup_site.doctor.invariant import Found, Invariant, Sample

INVARIANTS: tuple[Invariant, ...] = (*schema.INVARIANTS, *articles.INVARIANTS, *derived.INVARIANTS, *review.INVARIANTS)
# So many articles are normalised again, and so many pairs compared.
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
        """Whether it could be looked at, and no row breaks the promise."""
        return not self.found.faults and not self.found.error


class UnknownInvariantError(ValueError):
    """There is no such promise; the message names all."""


def examine(names: Collection[str] = (), *, sample: int | None = SAMPLE, seed: int | None = None) -> list[Finding]:
    """Return what the doctor finds of these promises, or of all; each with its faults, or none.

    A look that ends in an error says so, and the others go on. All see the database as it was at one moment: in a
    transaction of its own, unless the caller is in one. `sample` articles are normalised again, chosen by the seed;
    None: all. Raises UnknownInvariantError.
    """
    known = [invariant.name for invariant in INVARIANTS]
    if unknown := sorted(set(names) - set(known)):
        raise UnknownInvariantError(f"There is no check named {', '.join(unknown)}; there are {', '.join(known)}.")
    asked = Sample(sample, random.randrange(2**32) if seed is None else seed)  # noqa: S311 - not secret
    looked = []
    with _one_moment():
        for invariant in INVARIANTS:
            if names and invariant.name not in names:
                continue
            began = time.monotonic()
            looked.append(Finding(invariant, _found(invariant, asked), time.monotonic() - began))
    return looked


def _found(invariant: Invariant, sample: Sample) -> Found:
    """Return what a look finds; a fault of the rows that it stumbles over is its own, and the others still look."""
    link = connection.connection
    try:
        with transaction.atomic():
            try:
                return invariant.look(sample)
            except Exception as error:
                # What it was reading ends before the transaction does.
                clear_frames(error.__traceback__)
                raise
    except Exception as error:
        if is_lost(link):
            raise
        message = next(iter(str(error).splitlines()), "")
        return Found(error=f"{type(error).__name__}: {message}")


@contextmanager
def _one_moment() -> Iterator[None]:
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        executed(_SNAPSHOT_SQL)
        yield
