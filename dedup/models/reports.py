"""Results that take longer than a reader waits: reports that are kept, and corpora (dedup/corpora.py)."""

from __future__ import annotations

import datetime

from django.db import models

from articles.models import Job
from dedup.models.querysets import Row
from dedup.models.runs import DetectionRun


class StoredReport(Row):
    """The result of a report for one scope and its options, or that somebody waits for it.

    Written by dedup/reports/computing.py, which may delete the oldest ones: each can be computed again.
    """

    written = "Report {0.report}"
    report = models.CharField(max_length=40)
    asked = models.JSONField(help_text="The scope and the options.")
    key = models.CharField(max_length=64, help_text="A digest of what was asked.")
    job = models.ForeignKey(
        Job,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The job that somebody waits for.",
    )
    error = models.TextField(blank=True, default="", help_text="Why it could not be computed after a run.")
    computed_at = models.DateTimeField(null=True)
    seconds = models.FloatField(default=0.0, help_text="How long computing took, without drawing.")
    run = models.ForeignKey(
        DetectionRun, null=True, on_delete=models.SET_NULL, related_name="+", help_text="The last run at that time."
    )
    last_decision = models.BigIntegerField(default=0, help_text="The number of the last decision at that time.")
    newest_revision = models.BigIntegerField(default=0, help_text="The highest revision of an article at that time.")
    # As text, because jsonb would sort the names of members.
    result = models.TextField(blank=True, default="", help_text="The result as JSON.")
    shown = models.JSONField(null=True, help_text="The sentence, tables, charts and files that show the result.")

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["report", "key"], name="one_result_a_question")]

    @property
    def is_waited_for(self) -> bool:
        """Whether a worker is to compute it."""
        return self.job is not None and self.job.is_active

    @property
    def reason(self) -> str:
        """Why it could not be computed; empty if it was."""
        return self.error or (self.job.error if self.job else "")


# Files are deleted after this time.
KEPT = datetime.timedelta(days=7)


class CorpusExport(Row):
    """A corpus that a worker writes: what was asked for, and what is in its files. It goes with its job."""

    written = "Corpus {0.pk}"
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="corpus")
    asked = models.JSONField(help_text="The values of the form.")
    files = models.JSONField(default=list, help_text="What its files have, their names, and their bytes.")
    description = models.JSONField(null=True, help_text="The description of its files.")

    class Meta:
        ordering = ["-id"]

    @property
    def kept_until(self) -> datetime.datetime | None:
        """When its files will be deleted; None before it has ended."""
        return self.job.finished_at and self.job.finished_at + KEPT


class CorpusPart(Row):
    """A part of a file of a corpus. In the database, because the worker may be on another machine than the pages."""

    written = "{0.export}, {0.content}, part {0.number}"
    export = models.ForeignKey(CorpusExport, on_delete=models.CASCADE, related_name="parts")
    content = models.CharField(max_length=11, help_text="Which file it is of: corpus, removed or description.")
    number = models.PositiveIntegerField(help_text="Its place in the file, from 0.")
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["export", "content", "number"], name="corpus_part_once")]
