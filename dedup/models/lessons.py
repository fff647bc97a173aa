"""Lessons: what the program learnt from the decisions, each time that somebody asked for it on the pages."""

from __future__ import annotations

from django.db import models

from articles.models import Job
from dedup.models.verdicts import FittedModel


class Lesson(models.Model):
    """What came out of one act of learning, a job of a worker."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="lesson")
    result = models.JSONField(default=dict, help_text="What was learnt, and what it would change.")
    model = models.ForeignKey(FittedModel, null=True, on_delete=models.SET_NULL, related_name="lessons")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Lesson {self.pk}"
