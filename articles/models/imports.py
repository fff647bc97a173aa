"""Files that were uploaded to be imported, and the rows of them that were rejected. Written by files/uploads.py."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class FileImport(models.Model):
    """An uploaded file: what is in it, and how far its import is. The outcomes count its rows."""

    class State(models.TextChoices):
        """Where it is on its way."""

        PREVIEW = "preview", "not imported yet"
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "being imported"
        FINISHED = "finished", "imported"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    name = models.CharField(max_length=255, help_text="The name of the file.")
    size = models.BigIntegerField(help_text="Bytes, as uploaded.")
    newspaper = models.CharField(max_length=200, blank=True, help_text="The newspaper of rows that do not name one.")
    preview = models.JSONField(help_text="Its columns, its first rows, and faults of its first rows.")
    state = models.CharField(max_length=9, choices=State.choices, default=State.PREVIEW)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True, help_text="The last sign of life of the import.")
    finished_at = models.DateTimeField(null=True)
    position = models.BigIntegerField(default=0, help_text="Bytes that were read.")
    read = models.PositiveIntegerField(default=0)
    stored = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    reasons = models.JSONField(default=dict, help_text="How many rows were rejected for each kind of reason.")
    error = models.TextField(blank=True, help_text="Why it failed.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_active(self) -> bool:
        """Whether it waits for a worker, is under way, or was left and goes on by itself."""
        return self.state in (self.State.WAITING, self.State.RUNNING)


class UploadedPart(models.Model):
    """A part of an uploaded file, as it came. In the database, because the worker may be on another machine."""

    file_import = models.ForeignKey(FileImport, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField(help_text="Its place in the file, from 0.")
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file_import", "number"], name="uploaded_part_once")]

    def __str__(self) -> str:
        return f"{self.file_import}, part {self.number}"


class RejectedRow(models.Model):
    """A row of an uploaded file that was not imported."""

    file_import = models.ForeignKey(FileImport, on_delete=models.CASCADE, related_name="rejects")
    line = models.PositiveIntegerField(help_text="The number of its first line, from 1.")
    reason = models.TextField()
    raw = models.TextField(help_text="The beginning of its text.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"
