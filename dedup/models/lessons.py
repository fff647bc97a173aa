"""Lessons: each time that somebody had the program learn from the decisions, on the pages."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from dedup.models.verdicts import FittedModel


class Lesson(models.Model):
    """One act of learning, which a worker does: when it was asked for, what came out, or why it failed."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    result = models.JSONField(default=dict, help_text="What was learnt, and what it would change.")
    model = models.ForeignKey(FittedModel, null=True, on_delete=models.SET_NULL, related_name="lessons")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Lesson {self.pk}"
