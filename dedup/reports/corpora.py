"""Corpora with their methods paragraph, written by a worker."""

from __future__ import annotations

from articles.jobs.work import Work
from dedup.reports.methods import methods_of
from dedup.rows.corpus.kept import write_kept


def write_corpus_job(work: Work) -> None:
    """Write a corpus that somebody asked for. Raises JobError."""
    write_kept(work, methods_of)
