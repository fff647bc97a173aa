"""Verdicts, the months that are judged, and the models learnt here."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from dedup.types import VerdictKind


class Verdict(models.TextChoices):
    """How two articles relate to each other."""

    DUPLICATE = VerdictKind.DUPLICATE.value, "duplicate"
    VERSION = VerdictKind.VERSION.value, "version"
    TEMPLATE = VerdictKind.TEMPLATE.value, "template"
    SIMILAR = VerdictKind.SIMILAR.value, "similar"


class JudgedMonth(models.Model):
    """A fingerprint of what a month's verdicts depend on: when it changes, the month's pairs are judged again."""

    month = models.DateField(primary_key=True, help_text="The first day of the month.")
    fingerprint = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"


class FittedModel(models.Model):
    """A verdict model learnt from an installation's own decisions. At most one is in use."""

    content = models.TextField(help_text="The coefficients of the model, as JSON.")
    decisions = models.PositiveIntegerField(help_text="The number of decided pairs it was learnt from.")
    fitted_at = models.DateTimeField(default=timezone.now)
    in_use = models.BooleanField(default=False)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["in_use"], condition=Q(in_use=True), name="one_model_in_use"),
        ]

    def __str__(self) -> str:
        return f"Model {self.pk}"
