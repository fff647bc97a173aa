"""Verdicts, the months that are judged, the models learnt here, and the lessons that they were learnt in."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from articles.models import Job
from dedup.detection.types import VerdictKind
from dedup.models.querysets import Row


class Verdict(models.TextChoices):
    """How two articles relate to each other."""

    DUPLICATE = VerdictKind.DUPLICATE.value, "duplicate"
    VERSION = VerdictKind.VERSION.value, "version"
    TEMPLATE = VerdictKind.TEMPLATE.value, "template"
    SIMILAR = VerdictKind.SIMILAR.value, "similar"


class NewspaperMonth(Row):
    """What recurs in the texts of a newspaper around a month, learnt when pairs of that month were judged. A cache."""

    written = "Newspaper {0.newspaper_id}, {0.month:%Y-%m}"
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="The first day of the month.")
    digest = models.BigIntegerField(help_text="A digest of the articles that it is learnt from, and of how.")
    articles = models.PositiveIntegerField(help_text="The number of articles that it is learnt from.")
    phrases = models.BinaryField(
        help_text="Hashes of the phrases that recur: 32 bits each, little-endian, ascending and distinct."
    )
    common = models.TextField(help_text="The words that are common, with blanks between them.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["newspaper", "month"], name="one_row_a_newspaper_and_month")]


class FittedModel(Row):
    """A verdict model learnt from an installation's own decisions. At most one is in use."""

    written = "Model {0.pk}"
    content = models.TextField(help_text="The coefficients of the model, as JSON.")
    decisions = models.PositiveIntegerField(help_text="The number of decided pairs it was learnt from.")
    fitted_at = models.DateTimeField(default=timezone.now)
    in_use = models.BooleanField(default=False)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["in_use"], condition=Q(in_use=True), name="one_model_in_use"),
        ]


class Lesson(Row):
    """What came out of one act of learning, a job of a worker."""

    written = "Lesson {0.pk}"
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="lesson")
    result = models.JSONField(default=dict, help_text="What was learnt, and what it would change.")
    model = models.ForeignKey(FittedModel, null=True, on_delete=models.SET_NULL, related_name="lessons")

    class Meta:
        ordering = ["-id"]
