"""Corpora that were asked for on the page of exports, and their files. Written by dedup/rows/corpus/kept.py."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone

# Files are deleted after this time.
KEPT = datetime.timedelta(days=7)


class CorpusExport(models.Model):
    """A corpus that a worker writes: what was asked for, how far it is, and what is in its files."""

    class State(models.TextChoices):
        """Where it is on its way."""

        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "being written"
        FINISHED = "finished", "ready"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    asked = models.JSONField(help_text="The values of the form.")
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    articles = models.PositiveBigIntegerField(default=0, help_text="How many articles were chosen.")
    done = models.PositiveBigIntegerField(default=0, help_text="How many of them are written or left out.")
    files = models.JSONField(default=list, help_text="What its files have, their names, and their bytes.")
    description = models.JSONField(null=True, help_text="The description of its files.")
    error = models.TextField(blank=True, help_text="Why it failed.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Corpus {self.pk}"

    @property
    def is_active(self) -> bool:
        """Whether it waits or is being written."""
        return self.state in (self.State.WAITING, self.State.RUNNING)

    @property
    def kept_until(self) -> datetime.datetime | None:
        """When its files will be deleted; None before it has ended."""
        return self.finished_at and self.finished_at + KEPT


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
