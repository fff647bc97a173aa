"""Corpora that people ask for on a page: a worker writes their files into the database, to be downloaded.

All parts of a corpus are stored by one transaction, so a worker that dies leaves none, and another one begins again.
"""

from __future__ import annotations

import datetime
import io
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.contrib.auth.models import User
from django.db import Error as DatabaseFault
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from psycopg.errors import DiskFull

from articles.boilerplate.mode import Mode
from articles.files.exporting import TooManyColumnsError
from articles.files.write_faults import UnwritableError
from articles.loading import MissingPackageError
from articles.models import Article
from articles.processes import WorkerDiedError
from articles.storage.boilerplate_marks import mark_weeks
from articles.storage.boilerplate_weeks import outdated_weeks
from articles.storage.newspapers import current_ids
from articles.storage.workers import database_pool
from dedup.detection.clustering.policies import Policy
from dedup.models import CorpusExport, CorpusPart
from dedup.models.corpora import KEPT
from dedup.rows.corpus.members import Part
from dedup.rows.corpus.parquet import check_parquet
from dedup.rows.corpus.places import Asked
from dedup.rows.corpus.writing import Streams, Target, target_named, write_corpus

State = CorpusExport.State
# Bytes of a row of the table.
PART_BYTES = 1_000_000
# Seconds after which the progress is stored again, which also notices that it was cancelled.
STORED_EVERY = 2.0
# Corpora of one person that wait or are being written.
MAX_ACTIVE = 3

logger = logging.getLogger(__name__)


class CorpusRefusedError(ValueError):
    """A corpus that nobody writes; the message says why, and what to do."""


class _EndedError(Exception):
    """The corpus was cancelled, or another worker writes it."""


def store_request(asked: Mapping[str, Any], user: User) -> tuple[CorpusExport, bool]:
    """Store that a user wants a corpus; return it and True, or the same one that is under way already and False.

    Raises CorpusRefusedError and MissingPackageError.
    """
    if asked["format"] == "parquet":
        check_parquet()
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)  # two clicks come one after the other
        forget_old_corpora()
        if same := _active(asked=asked).first():
            return same, False
        if _active(requested_by=user).count() >= MAX_ACTIVE:
            raise CorpusRefusedError(f"{MAX_ACTIVE} of your exports are under way; wait for one, or cancel one.")
        return CorpusExport.objects.create(asked=dict(asked), requested_by=user), True


def _active(**which: Any) -> QuerySet[CorpusExport]:
    return CorpusExport.objects.filter(state__in=[State.WAITING, State.RUNNING], **which)


def drop(export: CorpusExport) -> None:
    """Cancel a corpus that is under way; of one that has ended, delete the files."""
    if not _active(pk=export.pk).update(state=State.CANCELLED, finished_at=timezone.now()):
        export.delete()


def forget_old_corpora() -> None:
    """Delete the corpora that ended longer ago than files are kept."""
    CorpusExport.objects.filter(finished_at__lt=timezone.now() - KEPT).delete()


def forget_corpora(why: str) -> None:
    """Delete all files, and end what is under way, because the archive no longer has what they may have."""
    _active().update(state=State.FAILED, error=why, finished_at=timezone.now())
    CorpusExport.objects.filter(state=State.FINISHED).delete()


def pieces_of(export: CorpusExport, content: str) -> Iterator[bytes]:
    """Yield a file in pieces of PART_BYTES; each is one query, so nothing is held while a reader is slow."""
    parts = CorpusPart.objects.filter(export=export, content=content)
    for number in parts.order_by("number").values_list("number", flat=True):
        yield bytes(parts.values_list("data", flat=True).get(number=number))


def perform(number: int, methods_of: Callable[[Part], str]) -> None:
    """Write a corpus; nothing happens if it does not wait any longer. `methods_of` describes the run for a paper."""
    export = _claimed(number)
    if export is None:
        return
    try:
        with _progress(export) as on_progress:
            _write(export, methods_of, on_progress)
    except _EndedError:
        return
    except (DatabaseFault, UnwritableError, WorkerDiedError) as error:
        _end(export, f"{_said_of(error)}. Nothing of it was kept; then start it again.")
    except (TooManyColumnsError, MissingPackageError) as error:
        _end(export, f"{str(error).rstrip('.')}.")
    except Exception as error:
        _end(export, f"An error in this program: {type(error).__name__}.")
        raise


def _claimed(number: int) -> CorpusExport | None:
    waiting = CorpusExport.objects.filter(pk=number, state=State.WAITING)
    if not waiting.update(state=State.RUNNING, started_at=timezone.now(), done=0, articles=0):
        return None
    return CorpusExport.objects.get(pk=number)


def _own(export: CorpusExport) -> QuerySet[CorpusExport]:
    """Return the row while it is this worker's."""
    return CorpusExport.objects.filter(pk=export.pk, state=State.RUNNING, started_at=export.started_at)


@contextmanager
def _progress(export: CorpusExport) -> Iterator[Callable[[float], None]]:
    """Store every STORED_EVERY how far it is; return what to call for each that is done, which raises _EndedError.

    In a thread with a connection of its own, because the files are one long transaction.
    """
    done, ended, lost = 0.0, threading.Event(), threading.Event()

    def on_progress(articles: float) -> None:
        nonlocal done
        done += articles
        if lost.is_set():
            raise _EndedError

    def store() -> None:
        while not ended.wait(STORED_EVERY):
            try:
                if not _own(export).update(done=int(done)):
                    lost.set()
            except (OperationalError, InterfaceError):
                logger.info("The progress of a corpus waits for the database.")
        connection.close()

    thread = threading.Thread(target=store, daemon=True)
    thread.start()
    try:
        yield on_progress
    finally:
        ended.set()
        thread.join()


def _write(export: CorpusExport, methods_of: Callable[[Part], str], on_progress: Callable[[float], None]) -> None:
    asked, target = asked_of(export), target_named(f"corpus.{export.asked['format']}", None)
    bounds = asked.part.bounds()
    _own(export).update(articles=Article.objects.in_scope(**bounds).count())
    if asked.boilerplate is not Mode.KEEP:
        with database_pool(os.cpu_count() or 1) as pool:
            for _ in mark_weeks(outdated_weeks(bounds["newspaper_ids"], **_days(bounds)), pool=pool):
                if not _own(export).exists():
                    raise _EndedError
    with transaction.atomic():
        kept = _Kept(export)
        written = write_corpus(
            asked, None, target, methods=methods_of(asked.part), on_progress=on_progress, opened=kept.opened
        )
        now = timezone.now()
        whole = {"files": kept.files(target), "description": written.description, "done": written.counts.chosen}
        if not _own(export).update(state=State.FINISHED, finished_at=now, error="", **whole):
            raise _EndedError  # and with it, the parts are gone


def _days(bounds: Mapping[str, Any]) -> dict[str, Any]:
    return {name: bounds[name] for name in ("since", "until")}


def asked_of(export: CorpusExport) -> Asked:
    """Return what a corpus is made of."""
    asked = export.asked
    since, until = (datetime.date.fromisoformat(asked[name]) if asked[name] else None for name in ("since", "until"))
    return Asked(
        Policy(asked["policy"]),
        Part(since, until, tuple(current_ids(asked["newspapers"])) or None),
        Mode(asked["boilerplate"]),
        confirmed_only=asked["confirmed"],
    )


class _Kept:
    """The three files of a corpus, in the database."""

    def __init__(self, export: CorpusExport) -> None:
        self._writers = {name: _Writer(export, name) for name in ("corpus", "removed", "description")}

    @contextmanager
    def opened(self, _target: Target) -> Iterator[Streams]:
        """Give the files to write to; at the end they are whole."""
        yield cast("Streams", tuple(cast("BinaryIO", each) for each in self._writers.values()))
        for writer in self._writers.values():
            writer.finish()

    def files(self, target: Target) -> list[dict[str, Any]]:
        """Return what they have, their names and bytes."""
        names = (target.path.name, target.removed.name, target.described.name)
        return [
            {"content": writer.content, "name": Path(name).name, "bytes": writer.tell()}
            for writer, name in zip(self._writers.values(), names, strict=True)
        ]


class _Writer(io.RawIOBase):
    """Stores what is written in parts of PART_BYTES. Memory: one part."""

    def __init__(self, export: CorpusExport, content: str) -> None:
        self.content = content
        self._store = partial(CorpusPart.objects.create, export=export, content=content)
        self._parts = 0
        self._size = 0
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        written = memoryview(data).nbytes
        self._waiting += data
        self._size += written
        while len(self._waiting) >= PART_BYTES:
            self._keep(PART_BYTES)
        return written

    def tell(self) -> int:
        return self._size

    def finish(self) -> None:
        """Store the rest."""
        if self._waiting:
            self._keep(len(self._waiting))

    def _keep(self, size: int) -> None:
        self._store(number=self._parts, data=bytes(self._waiting[:size]))
        self._parts += 1
        del self._waiting[:size]


def _said_of(error: Exception) -> str:
    """Return what went wrong and the remedy, without a full stop."""
    if isinstance(error, DatabaseFault):
        reason = " ".join(str(error).split())  # libpq writes several lines
        if isinstance(error.__cause__, DiskFull):
            return f"The disk of the database is full ({reason}); make room there"
        return f"The database failed ({reason}); see that its server runs"
    return str(error).removesuffix(", then run the same command again")


def wait_again(export_id: int) -> bool:
    """Let a corpus whose worker was killed wait for the next one; return False if it has ended."""
    return bool(_active(pk=export_id).update(state=State.WAITING))


def give_up(export_id: int, reason: str) -> None:
    """End a corpus that no worker writes any more."""
    _active(pk=export_id).update(state=State.FAILED, error=reason, finished_at=timezone.now())


def _end(export: CorpusExport, error: str) -> None:
    _own(export).update(state=State.FAILED, error=error, finished_at=timezone.now())
