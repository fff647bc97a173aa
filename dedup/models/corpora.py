"""Corpora that were asked for on the page of exports, and their files. Written by dedup/rows/corpus/kept.py."""

from __future__ import annotations

import datetime

from django.db import models

from articles.models import Job

# Files are deleted after this time.
KEPT = datetime.timedelta(days=7)


class CorpusExport(models.Model):
    """A corpus that a worker writes: what was asked for, and what is in its files. It goes with its job."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="corpus")
    asked = models.JSONField(help_text="The values of the form.")
    files = models.JSONField(default=list, help_text="What its files have, their names, and their bytes.")
    description = models.JSONField(null=True, help_text="The description of its files.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Corpus {self.pk}"

    @property
    def kept_until(self) -> datetime.datetime | None:
        """When its files will be deleted; None before it has ended."""
        return self.job.finished_at and self.job.finished_at + KEPT


class CorpusPart(models.Model):
    """A part of a file of a corpus. In the database, because the worker may be on another machine than the pages."""

    export = models.ForeignKey(CorpusExport, on_delete=models.CASCADE, related_name="parts")
    content = models.CharField(max_length=11, help_text="Which file it is of: corpus, removed or description.")
    number = models.PositiveIntegerField(help_text="Its place in the file, from 0.")
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["export", "content", "number"], name="corpus_part_once")]

    def __str__(self) -> str:
        return f"{self.export}, {self.content}, part {self.number}"
