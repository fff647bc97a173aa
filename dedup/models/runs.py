"""Runs of the detection: what was asked for, the phases and blocks of days of each run, and the workers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.models import Job
from dedup.models.base import Row
from dedup.models.profiles import Boilerplate, Profile


class DetectionRun(Row):
    """One run of the detection: its settings and scope, its progress and its counts."""

    written = "Run {0.pk}"

    class State(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        INTERRUPTED = "interrupted", "interrupted"

    profile = models.ForeignKey(Profile, null=True, on_delete=models.SET_NULL, related_name="runs")
    profile_name = models.CharField(max_length=100, blank=True)
    config = models.JSONField(help_text="The settings of every pass when the run started.")
    scope = models.JSONField(help_text="What was compared: since, until, newspapers, passes, newer_than, boilerplate.")
    state = models.CharField(max_length=11, choices=State.choices, default=State.RUNNING)
    counts = models.JSONField(default=dict, help_text="Numbers of articles, pairs by pass, and clusters.")
    results = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="A hash of the results of a run on a cluster that this run stored; empty if it searched here.",
    )
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="detection_runs"
    )
    job = models.ForeignKey(
        Job,
        null=True,
        on_delete=models.SET_NULL,
        related_name="runs",
        help_text="The job that does it. Null: a command.",
    )
    cancelled_at = models.DateTimeField(null=True, help_text="When somebody asked this run to stop.")
    cancelled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-started_at", "-id"]

    @property
    def boilerplate(self) -> Mode:
        """How the run treated boilerplate."""
        return Mode(self.scope.get("boilerplate", Mode.KEEP))

    @property
    def boilerplate_label(self) -> str:
        """The same in words."""
        return str(Boilerplate(self.boilerplate).label)


class RunBlock(Row):
    """A block of days that a run has finished for a pass; stored together with its evidence."""

    written = "{0.pass_name} {0.first_day} to {0.last_day}"
    run = models.ForeignKey(DetectionRun, on_delete=models.CASCADE, related_name="blocks")
    pass_name = models.CharField(max_length=20)
    first_day = models.DateField()
    last_day = models.DateField()
    candidates = models.PositiveBigIntegerField(default=0, help_text="Pairs that passed the pass's quick filter.")
    verified = models.PositiveBigIntegerField(default=0, help_text="Candidates that the pass then scored exactly.")
    pairs = models.PositiveIntegerField(help_text="Pairs that reached the threshold and were kept.")
    seconds = models.FloatField(help_text="Wall-clock time in seconds.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "pass_name", "first_day"], name="one_mark_a_block"),
        ]


class RunPhase(Row):
    """One phase of a run, stored while it goes on. The seconds of a run's phases add up to its time."""

    written = "{0.name} of run {0.run_id}"

    class State(models.TextChoices):
        AHEAD = "ahead", "ahead"
        RUNNING = "running", "running"
        DONE = "done", "done"

    run = models.ForeignKey(DetectionRun, on_delete=models.CASCADE, related_name="phases")
    name = models.CharField(max_length=20)
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=7, choices=State.choices, default=State.AHEAD)
    total = models.PositiveBigIntegerField(null=True, help_text="How much there is to do; none if nothing is counted.")
    done = models.PositiveBigIntegerField(default=0)
    found = models.PositiveBigIntegerField(default=0, help_text="Pairs, or sentences of boilerplate.")
    seconds = models.FloatField(
        default=0, help_text="Wall-clock time; passes that work at the same time share it by their work."
    )
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_row_a_phase")]


class Worker(Row):
    """A process that executes queued runs, and when it last gave a sign of life."""

    written = "{0.name}"
    name = models.CharField(max_length=64, primary_key=True)
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-seen_at"]
