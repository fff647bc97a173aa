"""Imports of uploaded files, which a worker performs."""

from __future__ import annotations

from django_tasks import task

from articles.files.uploads import perform_import, queue_import
from articles.models import FileImport


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
