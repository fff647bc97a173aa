"""Files that are uploaded in the browser: kept, previewed, and imported by a worker as import_articles does."""

import datetime
import gzip
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO, cast

from django.db import Error as DatabaseFault
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from articles.files.columns import check_columns, column_uses
from articles.files.formats import FileUsageError, format_of
from articles.files.importing import PreparedRow, Tally, import_rows, reason_form, row_of
from articles.files.records import FileFormat, UnreadableFileError, find_rows, record_of
from articles.jobs.work import JobError, Work, ask
from articles.models import FileImport, Job, RejectedRow, UploadedPart
from articles.processes import WorkerDiedError, is_out_of_memory
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import newest_revision
from articles.storage.newspapers import newspaper_host
from articles.storage.title_affixes import settle_import
from articles.storage.workers import database_pool

PREVIEWED_ROWS = 1_000
SHOWN_ROWS = 5
SHOWN_REJECTS = 5
_TEXT_CHARACTERS = 300
_MOST_COLUMNS = 100


def _visible(text: str) -> str:
    """Return the text with a sign in place of what PostgreSQL does not store."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def preview_rows(stream: BinaryIO, file_format: FileFormat, newspaper: str) -> dict[str, Any]:
    """Return what the first PREVIEWED_ROWS rows of a file would become, as JSON; store nothing.

    `columns`: pairs of a name and what it becomes, empty if it is kept as it is. `rows`: the first articles. `checked`
    and `rejected`: numbers of rows. `reasons`: kinds of reasons with their numbers. `rejects`: the first ones. Raises
    UnreadableFileError.
    """
    found = islice(find_rows(stream, file_format, check_header=check_columns), PREVIEWED_ROWS)
    columns: dict[str, None] = {}
    articles: list[tuple[int, IncomingArticle]] = []
    rejected: list[dict[str, Any]] = []
    checked = 0
    for record in map(record_of, found):
        checked += 1
        columns |= dict.fromkeys(map(_visible, record.values))
        row = row_of(record, newspaper, check=True)
        if row.article is None:
            rejected.append({"line": row.line, "reason": _visible(row.reason), "raw": _visible(row.raw)})
        elif len(articles) < SHOWN_ROWS:
            articles.append((row.line, row.article))
    return {
        "columns": list(column_uses(list(columns)[:_MOST_COLUMNS]).items()),
        "more_columns": max(0, len(columns) - _MOST_COLUMNS),
        "rows": [_shown(line, article) for line, article in articles],
        "checked": checked,
        "rejected": len(rejected),
        "reasons": Counter(reason_form(reject["reason"]) for reject in rejected).most_common(),
        "rejects": rejected[:SHOWN_REJECTS],
    }


def _shown(line: int, article: IncomingArticle) -> dict[str, Any]:
    return {
        "line": line,
        "day": article.date.isoformat(),
        "headline": article.headline,
        "url": article.url,
        "newspaper": article.newspaper or newspaper_host(article.url),
        "text": article.content[:_TEXT_CHARACTERS],
        "language": article.details.language,
    }


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
        old = FileImport.objects.filter(uploaded_at__lt=timezone.now() - KEPT).exclude(job__state__in=Job.ACTIVE)
        UploadedPart.objects.filter(file_import__in=old).delete()
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


def request_import(kept: FileImport, user: Any = None) -> bool:
    """Let a kept file wait for a worker; return False if it does already, or is being imported, or was forgotten."""
    kept.refresh_from_db()
    if (kept.job and kept.job.is_active) or not kept.parts.exists():
        return False
    page = reverse("import", args=[kept.pk])
    kept.job, is_new = ask("import", {"number": kept.pk}, title=f"Import of {kept.name}", user=user, page=page)
    kept.save(update_fields=["job"])
    return is_new


def import_job(work: Work) -> None:
    """Import an uploaded file. Raises JobError; what is stored stays."""
    kept = FileImport.objects.get(pk=work.job.arguments["number"])
    FileImport.objects.filter(pk=kept.pk).update(
        job=work.job, reasons={}, read=0, stored=0, attached=0, known=0, rejected=0
    )
    kept.rejects.all().delete()
    try:
        _import(kept, work)
    except (DatabaseFault, OSError, WorkerDiedError, UnreadableFileError) as error:
        raise JobError(f"{str(error).strip()}. {_RESUME}") from error
    except Exception as error:
        if is_out_of_memory(error):
            raise JobError(f"Memory ran out. {_RESUME}") from error
        raise
    with transaction.atomic():
        work.finish(done=kept.size, total=kept.size)
        kept.parts.all().delete()


def _import(kept: FileImport, work: Work) -> None:
    file_format = format_of(kept.name)
    if file_format is None:
        raise UnreadableFileError(f"the format of {kept.name} is unknown")
    before, tally = newest_revision(), Tally()
    with database_pool(os.cpu_count() or 1) as pool, opened(kept) as (stream, position):
        for batch in import_rows(stream, file_format, pool=pool, batch_size=BATCH_SIZE, newspaper=kept.newspaper):
            work.advance(position(), kept.size)
            room = max(MAX_KEPT_REJECTS - tally.outcomes["rejected"], 0)
            _keep_results(kept, tally, tally.add(batch)[:room])
        settle_import(before, tally.outcomes["created"], pool)


def _keep_results(kept: FileImport, tally: Tally, rejected: Sequence[tuple[PreparedRow, str]]) -> None:
    RejectedRow.objects.bulk_create(
        RejectedRow(file_import=kept, line=row.line, reason=_visible(reason), raw=_visible(row.raw))
        for row, reason in rejected
    )
    FileImport.objects.filter(pk=kept.pk).update(
        read=tally.outcomes.total(),
        stored=tally.outcomes["created"],
        attached=tally.outcomes["attached"],
        known=tally.outcomes["known"],
        rejected=tally.outcomes["rejected"],
        reasons={_visible(reason): number for reason, number in tally.reasons.most_common(200)},
    )
