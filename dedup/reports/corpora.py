"""Corpora with their methods paragraph, written by a worker. `manage.py db_worker` executes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django_tasks import task

from dedup.detection.runs.lost_tasks import Fate, recovered
from dedup.models import CorpusExport
from dedup.reports.methods import methods_of
from dedup.rows.corpus.kept import give_up, perform, store_request, wait_again


def _write_again(export_id: int) -> Fate:
    return Fate.AGAIN if wait_again(export_id) else Fate.OVER


@recovered(_write_again, give_up)
@task()
def write_corpus_task(export_id: int) -> None:
    """Write a corpus that somebody asked for, unless it was cancelled in the meantime."""
    perform(export_id, methods_of)


@transaction.atomic
def request_corpus(asked: Mapping[str, Any], user: User) -> CorpusExport:
    """Queue a corpus for the worker, or return the same one that is under way. Raises as store_request does."""
    export, is_new = store_request(asked, user)
    if is_new:
        write_corpus_task.enqueue(export_id=export.pk)
    return export
