"""Files that were uploaded to be imported, and the rows of them that were rejected. Written by files/uploads.py."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from articles.models.jobs import Job


class FileImport(models.Model):
    """An uploaded file: what is in it, and what became of its rows."""

    name = models.CharField(max_length=255, help_text="The name of the file.")
    size = models.BigIntegerField(help_text="Bytes, as uploaded.")
    newspaper = models.CharField(max_length=200, blank=True, help_text="The newspaper of rows that do not name one.")
    preview = models.JSONField(help_text="Its columns, its first rows, and faults of its first rows.")
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField(auto_now_add=True)
    job = models.ForeignKey(
        Job, null=True, on_delete=models.SET_NULL, related_name="imports", help_text="Its last import; null: none yet."
    )
    read = models.PositiveIntegerField(default=0)
    stored = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    reasons = models.JSONField(default=dict, help_text="How many rows were rejected for each kind of reason.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


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
