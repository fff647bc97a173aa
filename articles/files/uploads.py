"""Files that are uploaded in the browser: kept, previewed, and imported by a worker as import_articles does."""

from __future__ import annotations

import datetime
import gzip
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from django.db import Error as DatabaseFault
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from articles.files.columns import check_columns
from articles.files.formats import FileUsageError, format_of
from articles.files.importing import Imported, import_rows, reason_form, settle_import
from articles.files.previews import preview_rows, storable
from articles.files.records import UnreadableFileError, find_rows
from articles.models import FileImport, RejectedRow, UploadedPart
from articles.processes import WorkerDiedError, is_out_of_memory
from articles.storage.ingest import newest_revision
from articles.storage.locks import Lock, held_numbers, is_lost, session_lock
from articles.storage.workers import database_pool

State = FileImport.State
_RESUME = "Rows already stored are kept; start the import again to resume."
PART_BYTES = 1_000_000
# Each is one transaction.
BATCH_SIZE = 500
# More are counted, and not kept.
MAX_KEPT_REJECTS = 50_000
# Files that nobody imports are deleted after this time, when the next one is uploaded.
KEPT = datetime.timedelta(days=7)
ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz")


def keep_upload(name: str, pieces: Iterable[bytes], *, newspaper: str, user: Any) -> FileImport:
    """Keep an uploaded file and what it would become.

    Raises FileUsageError and UnreadableFileError; then nothing is kept.
    """
    file_format = format_of(name)
    if file_format is None:
        raise FileUsageError(f"The format of {name} is unknown; its name must end in {', '.join(ENDINGS)}.")
    with transaction.atomic():
        forget_old_uploads()
        kept = FileImport.objects.create(name=name, size=0, newspaper=newspaper, preview={}, uploaded_by=user)
        for number, data in enumerate(pieces):
            UploadedPart.objects.create(file_import=kept, number=number, data=data)
            kept.size += len(data)
        with opened(kept) as (stream, _):
            kept.preview = preview_rows(stream, file_format, newspaper)
        if not kept.preview["checked"]:
            raise UnreadableFileError(f"{name} has no rows.")
        kept.save()
    return kept


def forget_old_uploads() -> None:
    """Delete the contents of files that were uploaded long ago and are not being imported."""
    old = FileImport.objects.filter(uploaded_at__lt=timezone.now() - KEPT).exclude(
        state__in=[State.WAITING, State.RUNNING]
    )
    UploadedPart.objects.filter(file_import__in=old).delete()


@contextmanager
def opened(kept: FileImport) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Open a kept file: the decompressed stream, and the number of bytes read so far."""
    parts = _Parts(kept.pk)
    raw = io.BufferedReader(parts)
    stream = gzip.GzipFile(fileobj=raw) if kept.name.lower().endswith(".gz") else raw
    with stream:
        yield cast("BinaryIO", stream), parts.tell


class _Parts(io.RawIOBase):
    """The bytes of a kept file, read part by part."""

    def __init__(self, number: int) -> None:
        self._of = number
        self._next = 0
        self._position = 0
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            found = UploadedPart.objects.filter(file_import_id=self._of, number=self._next)
            self._left = memoryview(bytes(found.values_list("data", flat=True).first() or b""))
            self._next += 1
        taken = min(len(buffer), len(self._left))
        buffer[:taken] = self._left[:taken]
        self._left = self._left[taken:]
        self._position += taken
        return taken


def queue_import(kept: FileImport) -> bool:
    """Let a kept file wait for a worker; return False if it does already, or is being imported, or was forgotten."""
    kept.refresh_from_db()
    if (kept.is_active and kept.pk not in left_imports()) or not kept.parts.exists():
        return False
    was = FileImport.objects.filter(pk=kept.pk, state=kept.state, seen_at=kept.seen_at)
    return bool(was.update(state=State.WAITING, finished_at=None, error=""))


def wait_again(number: int) -> bool:
    """Let an import whose worker was killed wait for the next one; return False if it has ended. Rows stay stored."""
    lost = FileImport.objects.filter(pk=number, state__in=[State.WAITING, State.RUNNING])
    return bool(lost.update(state=State.WAITING))


def fail_import(number: int, reason: str) -> None:
    """End an import that nobody performs any more."""
    lost = FileImport.objects.filter(pk=number, state__in=[State.WAITING, State.RUNNING])
    lost.update(state=State.FAILED, finished_at=timezone.now(), error=f"{reason} {_RESUME}")


def cancel_import(kept: FileImport) -> bool:
    """Stop an import after its batch, or take it from the queue; return False if it had ended. What is stored stays."""
    active = FileImport.objects.filter(pk=kept.pk, state__in=[State.PREVIEW, State.WAITING, State.RUNNING])
    return bool(active.update(state=State.CANCELLED, finished_at=timezone.now()))


def left_imports() -> set[int]:
    """Return the imports that have begun and that no process works on: it was killed, or lost the database."""
    running = set(FileImport.objects.filter(state=State.RUNNING).values_list("pk", flat=True))
    return running - held_numbers(Lock.IMPORT) if running else running


class _CancelledError(Exception):
    """The import was cancelled, or started again by somebody else."""


def perform_import(number: int) -> None:
    """Import a file that waits; nothing happens if it does not wait any longer, or another process is at it.

    Raises LockLostError if the database was lost: the import is left, see left_imports.
    """
    with session_lock(Lock.IMPORT, lambda _holder: None, number) as held:
        if held:
            _perform(number)


def _perform(number: int) -> None:
    now = timezone.now()
    counts = dict.fromkeys(("position", "read", "stored", "known", "rejected"), 0)
    waiting = FileImport.objects.filter(pk=number, state=State.WAITING)
    if not waiting.update(state=State.RUNNING, started_at=now, seen_at=now, reasons={}, **counts):
        return
    kept = FileImport.objects.get(pk=number)
    kept.rejects.all().delete()
    link = connection.connection
    try:
        _import(kept)
    except _CancelledError:
        return
    except (DatabaseFault, OSError, WorkerDiedError, UnreadableFileError) as error:
        if is_lost(link):
            raise
        fault = str(error).strip()
        _end(kept, State.FAILED, f"{fault}. {_RESUME}")
    except Exception as error:
        fault = "Memory ran out" if is_out_of_memory(error) else f"An error in this program: {type(error).__name__}"
        _end(kept, State.FAILED, f"{fault}. {_RESUME}")
        raise
    else:
        _end(kept, State.FINISHED)
        kept.parts.all().delete()


def _import(kept: FileImport) -> None:
    file_format = format_of(kept.name)
    if file_format is None:
        raise UnreadableFileError(f"the format of {kept.name} is unknown")
    before = newest_revision()
    tally = _Tally(kept)
    with database_pool(os.cpu_count() or 1) as pool:
        with opened(kept) as (stream, position):
            rows = find_rows(stream, file_format, check_header=check_columns)
            for batch in import_rows(rows, pool=pool, batch_size=BATCH_SIZE, newspaper=kept.newspaper):
                tally.add(batch, position())
        settle_import(before, tally.outcomes["created"], pool)


class _Tally:
    """Counts the rows of an import, and writes the counts and the rejects after each batch."""

    def __init__(self, kept: FileImport) -> None:
        self._kept = kept
        self.outcomes: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._rejects = 0

    def add(self, batch: list[Imported], position: int) -> None:
        """Count a batch. Raises _CancelledError if the import was cancelled meanwhile."""
        self.outcomes.update(stored.outcome for _, stored in batch)
        rejected = [(row, stored.reason) for row, stored in batch if stored.outcome == "rejected"]
        self._reasons.update(reason_form(reason) for _, reason in rejected)
        kept = rejected[: MAX_KEPT_REJECTS - self._rejects]
        self._rejects += len(kept)
        RejectedRow.objects.bulk_create(
            RejectedRow(file_import=self._kept, line=row.line, reason=storable(reason), raw=storable(row.raw))
            for row, reason in kept
        )
        now = _running(self._kept).update(
            position=position,
            read=self.outcomes.total(),
            stored=self.outcomes["created"],
            known=self.outcomes["known"],
            rejected=self.outcomes["rejected"],
            reasons={storable(reason): number for reason, number in self._reasons.most_common(200)},
            seen_at=timezone.now(),
        )
        if not now:
            raise _CancelledError


def _running(kept: FileImport) -> Any:
    return FileImport.objects.filter(Q(pk=kept.pk, state=State.RUNNING, started_at=kept.started_at))


def _end(kept: FileImport, state: State, error: str = "") -> None:
    _running(kept).update(state=state, finished_at=timezone.now(), error=error)
