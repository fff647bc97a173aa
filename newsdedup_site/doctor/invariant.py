"""What the doctor looks at: a promise, how to look, and how to repair what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, LiteralString, NamedTuple

from django.apps import apps
from django.db import models
from psycopg.sql import SQL, Composed, Literal

from articles.querysets import fetched

# The doctor names so many of the rows that break a promise.
NAMED = 10


class Found(NamedTuple):
    """How many rows break a promise, and a sentence on each of the first NAMED.

    `waiting` says why a part was not looked at: the next run renews it. `error` says why nothing could be looked at.
    """

    faults: int = 0
    examples: tuple[str, ...] = ()
    waiting: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """How many articles are normalised again to compare them, None for all, and the seed that chooses them."""

    articles: int | None
    seed: int

    def smaller(self, times: int) -> Sample:
        """Return a sample of so many times fewer, for what takes longer."""
        return Sample(None if self.articles is None else self.articles // times, self.seed)


Look = Callable[[Sample], Found]
# What repairs most of what runs derive from articles, evidence and decisions.
FULL_RUN = "Run `manage.py find_duplicates`, without --new: it derives them again."


@dataclass(frozen=True, slots=True)
class Invariant:
    """A promise about the rows of a database, in one sentence, and the command or page that repairs what breaks it."""

    name: str
    promise: str
    look: Look
    repair: str = "Nothing in newsdedup repairs it. Restore a backup, or report it with these lines."


_FAULTS_SQL = SQL("SELECT count(*) OVER (), sentence FROM ({faults}) AS fault (sentence) LIMIT {named}")


def rows(statement: LiteralString | SQL | Composed, parameters: dict[str, Any] | None = None) -> Found:
    """Return what a statement finds, whose rows are a sentence on each fault."""
    faults = statement if isinstance(statement, Composed | SQL) else SQL(statement)
    found = fetched(_FAULTS_SQL.format(faults=faults, named=Literal(NAMED)), parameters)
    return Found(found[0][0] if found else 0, tuple(sentence for _, sentence in found))


def listed(sentences: Iterable[str]) -> Found:
    """Return one fault for each of these sentences."""
    remaining = iter(sentences)
    examples = tuple(islice(remaining, NAMED))
    return Found(len(examples) + sum(1 for _ in remaining), examples)


def by(statement: LiteralString | SQL | Composed, parameters: dict[str, Any] | None = None) -> Look:
    """Return the look at what a statement finds, whatever the sample is."""
    return lambda _sample: rows(statement, parameters)


def together(*found: Found) -> Found:
    """Return several findings as one."""
    examples = tuple(islice((example for finding in found for example in finding.examples), NAMED))
    waiting = " ".join(dict.fromkeys(finding.waiting for finding in found if finding.waiting))
    return Found(sum(finding.faults for finding in found), examples, waiting)


def options(model: Any) -> Any:
    """Return the options of a model, by the name under which Django documents them."""
    return model._meta  # noqa: SLF001


def stored_models() -> Iterator[Any]:
    """Yield the options of each model that has a table of its own, many-to-many tables included."""
    for model in apps.get_models(include_auto_created=True):
        if options(model).managed and not options(model).proxy:
            yield options(model)


def foreign_keys() -> Iterator[Any]:
    for table in stored_models():
        yield from (field for field in table.local_concrete_fields if isinstance(field, models.ForeignKey))
