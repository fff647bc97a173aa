"""Batches: many questions that an editor answers at once, after a random sample of them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dedup.answers import CHOICES
from dedup.models.decisions import Decision
from dedup.models.pairs import Pair


class Batch(models.Model):
    """A set of questions, frozen when the batch is begun, and the one answer for all of it."""

    kind = models.CharField(max_length=15, choices=CHOICES, help_text="The answer for the whole.")
    query = models.TextField(blank=True, help_text="The filter of the list that it was begun from, as a query string.")
    seed = models.BigIntegerField(help_text="What the sample was drawn with.")
    size = models.PositiveIntegerField(help_text="The number of questions when it was begun.")
    drawn = models.PositiveIntegerField(help_text="The number of questions in the sample.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="batches")
    made_at = models.DateTimeField(default=timezone.now)
    after = models.BigIntegerField(help_text="The number of the last decision before it was begun, 0 for none.")
    decision = models.OneToOneField(Decision, null=True, on_delete=models.PROTECT, related_name="batch")
    wrong = models.PositiveIntegerField(null=True, help_text="How many of the sample were answered otherwise.")
    left_out = models.JSONField(default=dict, help_text="The number of questions left out, by reason.")

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return f"Batch {self.pk}"


class BatchItem(models.Model):
    """A question of a batch: a pair, or a cluster by its number and articles at that time."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="items")
    pair = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="+")
    cluster_number = models.BigIntegerField(null=True)
    articles = ArrayField(models.BigIntegerField(), help_text="The ids of its articles, ascending.")
    revision = models.BigIntegerField(help_text="The highest revision of its articles.")
    verdict = models.CharField(max_length=9, blank=True, help_text="The verdict on the pair.")
    place = models.PositiveIntegerField(null=True, help_text="Its place in the sample, from 1; empty if not drawn.")
    answer = models.ForeignKey(
        Decision, null=True, on_delete=models.PROTECT, related_name="+", help_text="The answer, if it was drawn."
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "place"], name="one_place_in_the_sample"),
            models.CheckConstraint(
                condition=Q(pair__isnull=False) ^ Q(cluster_number__isnull=False), name="item_is_pair_or_cluster"
            ),
        ]

    def __str__(self) -> str:
        return f"pair {self.pair_id}" if self.pair_id else f"cluster {self.cluster_number}"
