"""What takes longer than a reader waits: reports that are kept, corpora (dedup/corpora.py), models."""

import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from articles.models import Job
from dedup.models.base import Row
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
        Job, null=True, on_delete=models.SET_NULL, related_name="+", help_text="The job that somebody waits for."
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


class FittedModel(Row):
    """A verdict model learnt from an installation's own decisions. At most one is in use."""

    written = "Model {0.pk}"
    content = models.TextField(help_text="The coefficients of the model, as JSON.")
    decisions = models.PositiveIntegerField(help_text="The number of decided pairs it was learnt from.")
    fitted_at = models.DateTimeField(default=timezone.now)
    in_use = models.BooleanField(default=False)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["in_use"], condition=Q(in_use=True), name="one_model_in_use")]


class Lesson(Row):
    """What came out of one act of learning, a job of a worker."""

    written = "Lesson {0.pk}"
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="lesson")
    result = models.JSONField(default=dict, help_text="What was learnt, and what it would change.")
    model = models.ForeignKey(FittedModel, null=True, on_delete=models.SET_NULL, related_name="lessons")

    class Meta:
        ordering = ["-id"]
