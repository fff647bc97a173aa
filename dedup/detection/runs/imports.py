"""Imports of uploaded files, which a worker performs."""

from __future__ import annotations

from django.db import connection, transaction
from django_tasks import task

from articles.files.uploads import fail_import, left_imports, perform_import, queue_import, wait_again
from articles.models import FileImport
from articles.storage.locks import Lock, try_lock_in_transaction
from dedup.detection.runs.lost_tasks import Fate, recovered


def _import_again(number: int) -> Fate:
    with transaction.atomic(), connection.cursor() as cursor:
        if not try_lock_in_transaction(cursor, Lock.IMPORT, number):
            return Fate.NOT_YET
        return Fate.AGAIN if wait_again(number) else Fate.OVER


@recovered(_import_again, fail_import, is_left=lambda number: number in left_imports())
@task()
def import_task(number: int) -> None:
    """Import an uploaded file, unless it was cancelled in the meantime."""
    perform_import(number)


def request_import(kept: FileImport) -> bool:
    """Queue an uploaded file for a worker; return False if that makes no sense, see queue_import."""
    if not queue_import(kept):
        return False
    import_task.enqueue(number=kept.pk)
    return True
