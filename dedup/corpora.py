"""Corpora that people ask for on a page: a worker writes their files into the database, to be downloaded.

All parts of a corpus are stored by one transaction, so a worker that dies leaves none, and another one begins again.
"""

from __future__ import annotations

import datetime
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import Error as DatabaseFault
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from psycopg.errors import DiskFull

from articles.boilerplate.mode import Mode
from articles.files.exporting import TooManyColumnsError
from articles.files.whole_files import UnwritableError
from articles.jobs.work import JobError, Work, ask
from articles.loading import MissingPackageError
from articles.models import Article, Job
from articles.processes import WorkerDiedError
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from articles.storage.newspapers import current_ids
from articles.storage.workers import database_pool
from dedup.detection.runs.scope import Scope
from dedup.models import CorpusExport, CorpusPart
from dedup.models.reports import KEPT
from dedup.reports.methods import methods_of
from dedup.rows.corpus.places import Asked
from dedup.rows.corpus.writing import Streams, target_named, write_corpus
from dedup.rows.files import check_parquet

# Bytes of a row of the table.
PART_BYTES = 1_000_000
# Corpora of one person that wait or are being written.
MAX_ACTIVE = 3


class CorpusRefusedError(ValueError):
    """A corpus that nobody writes; the message says why, and what to do."""


@transaction.atomic
def request_corpus(asked: Mapping[str, Any], user: User) -> CorpusExport:
    """Queue a corpus for the worker, or return the same one that is under way.

    Raises CorpusRefusedError and MissingPackageError.
    """
    if asked["format"] == "parquet":
        check_parquet()
    forget_old_corpora()
    job, is_new = ask("corpus", asked, title=f"Corpus: {asked['policy']}, {asked['format']}", user=user)
    if not is_new:
        return job.corpus
    if _jobs().filter(state__in=Job.ACTIVE, requested_by=user).count() > MAX_ACTIVE:
        raise CorpusRefusedError(f"{MAX_ACTIVE} of your exports are under way; wait for one, or cancel one.")
    export = CorpusExport.objects.create(job=job, asked=job.arguments)
    job.page = reverse("corpus_export", args=[export.pk])
    job.save(update_fields=["page"])
    return export


def _jobs() -> QuerySet[Job]:
    return Job.objects.filter(kind="corpus")


def forget_old_corpora() -> None:
    """Delete the corpora that ended longer ago than files are kept."""
    _jobs().filter(finished_at__lt=timezone.now() - KEPT).delete()


def forget_corpora(why: str) -> None:
    """Delete all files, and end what is under way, because the archive no longer has what they may have."""
    _jobs().filter(state__in=Job.ACTIVE).update(state=Job.State.FAILED, error=why, finished_at=timezone.now())
    _jobs().filter(state=Job.State.DONE).delete()


def pieces_of(export: CorpusExport, content: str) -> Iterator[bytes]:
    """Yield a file in pieces of PART_BYTES; each is one query, so nothing is held while a reader is slow."""
    parts = CorpusPart.objects.filter(export=export, content=content)
    for number in parts.order_by("number").values_list("number", flat=True):
        yield bytes(parts.values_list("data", flat=True).get(number=number))


def write_corpus_job(work: Work) -> None:
    """Write a corpus that somebody asked for. Raises JobError."""
    try:
        _write(work, work.job.corpus)
    except (DatabaseFault, UnwritableError, WorkerDiedError) as error:
        raise JobError(f"{_said_of(error)}. Nothing of it was kept; then start it again.") from error
    except (TooManyColumnsError, MissingPackageError) as error:
        raise JobError(f"{str(error).rstrip('.')}.") from error


def _write(work: Work, export: CorpusExport) -> None:
    asked, target = asked_of(export), target_named(f"corpus.{export.asked['format']}", None)
    part = asked.part
    total = Article.objects.in_scope(**part.bounds()).count()
    work.advance(0, total)
    if asked.boilerplate is not Mode.KEEP:
        with database_pool(os.cpu_count() or 1) as pool:
            for _ in mark_weeks(outdated_weeks(part.newspaper_ids, since=part.since, until=part.until), pool=pool):
                work.advance(0, total)
    with work.progress_in_transaction() as meter, transaction.atomic():
        files = tuple(_File(export, content) for content in ("corpus", "removed", "description"))
        counts, export.description = write_corpus(
            asked, None, target, methods=methods_of(asked.part), on_progress=meter.add, opened=lambda _: _whole(files)
        )
        names = (target.path.name, target.removed.name, target.described.name)
        facts = zip(files, names, strict=True)
        export.files = [{"content": file.content, "name": name, "bytes": file.size} for file, name in facts]
        export.save(update_fields=["files", "description"])
        work.finish(done=counts.chosen)  # if it was cancelled, the parts are gone


def asked_of(export: CorpusExport) -> Asked:
    """Return what a corpus is made of."""
    asked = export.asked
    since, until = (datetime.date.fromisoformat(asked[name]) if asked[name] else None for name in ("since", "until"))
    scope = Scope(since, until, tuple(current_ids(asked["newspapers"])) or None, words=asked.get("search", ""))
    return Asked.of(scope, asked)


@contextmanager
def _whole(files: Sequence[_File]) -> Iterator[Streams]:
    """Give files of the database to write to; at the end, all of each is stored."""
    yield cast("Streams", files)
    for file in files:
        file.store_part()


class _File(io.RawIOBase):
    """A file in the database, in parts of PART_BYTES. Memory: one part."""

    def __init__(self, export: CorpusExport, content: str) -> None:
        self.content, self.size = content, 0
        self._store = partial(CorpusPart.objects.create, export=export, content=content)
        self._numbers = count()
        self._waiting = bytearray()

    def write(self, data: Any) -> int:
        self._waiting += data
        while len(self._waiting) >= PART_BYTES:
            self.store_part()
        return memoryview(data).nbytes

    def store_part(self) -> None:
        """Store the next part of what was written, if there is any."""
        if part := bytes(self._waiting[:PART_BYTES]):
            self._store(number=next(self._numbers), data=part)
            self.size += len(part)
            del self._waiting[:PART_BYTES]


def _said_of(error: Exception) -> str:
    """Return what went wrong and the remedy, without a full stop."""
    if isinstance(error, DatabaseFault):
        reason = " ".join(str(error).split())  # libpq writes several lines
        if isinstance(error.__cause__, DiskFull):
            return f"The disk of the database is full ({reason}); make room there"
        return f"The database failed ({reason}); see that its server runs"
    return str(error).removesuffix(", then run the same command again")
