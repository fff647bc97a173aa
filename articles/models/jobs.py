"""Jobs, which people and schedules ask a worker for, and files that were uploaded to be imported by one.

Written by articles/jobs/work.py and articles/files/uploads.py.
"""

from django.conf import settings
from django.db import models
from django.utils import timezone


class Job(models.Model):
    """One piece of work for a worker, of a kind of articles/jobs/kinds.py, from the asking to its end.

    A task of django-tasks carries its number to a worker. What a job makes is in tables of its app, which point here.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    ACTIVE = (State.WAITING, State.RUNNING)

    kind = models.CharField(max_length=40)
    arguments = models.JSONField(default=dict, help_text="What is to be done, in the words of its kind.")
    title = models.CharField(max_length=200, help_text="The same in words for people.")
    page = models.TextField(blank=True, default="", help_text="The address of the page that shows what it makes.")
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField(default=timezone.now)
    not_before = models.DateTimeField(null=True, help_text="Not begun before this time. Empty: as soon as possible.")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0, help_text="How many workers have begun it.")
    done = models.PositiveBigIntegerField(default=0, help_text="How much is done, in the unit of its kind.")
    total = models.PositiveBigIntegerField(null=True, help_text="How much there is to do; empty if nobody knows.")
    result = models.JSONField(null=True, help_text="What its work returned.")
    error = models.TextField(blank=True, default="", help_text="Why it failed.")
    cancelled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    task_id = models.UUIDField(null=True, help_text="The task that carries it to a worker.")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["kind"], name="job_active", condition=models.Q(finished_at=None))]

    def __str__(self) -> str:
        return f"Job {self.pk}"

    @property
    def is_active(self) -> bool:
        """Whether it waits or is under way."""
        return self.state in self.ACTIVE


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
    attached = models.PositiveIntegerField(default=0, db_default=0)
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
