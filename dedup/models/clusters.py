"""Clusters and their articles."""

from __future__ import annotations

from django.db import models

from articles.models import Article
from dedup.models.querysets import ClusterQuerySet


class Cluster(models.Model):
    """Articles a reader would call the same. Rebuilt by clustering/rebuild.py; keeps its id where possible."""

    class State(models.TextChoices):
        PROPOSED = "proposed", "proposed"
        CONFIRMED = "confirmed", "confirmed"

    kept = models.ForeignKey(
        Article, on_delete=models.PROTECT, related_name="kept_by", help_text="The article that represents the cluster."
    )
    state = models.CharField(max_length=9, choices=State.choices, default=State.PROPOSED)
    size = models.PositiveIntegerField()
    lowest_score = models.FloatField(
        help_text="The lowest verdict probability of the pairs that hold the cluster together, 0 to 1."
    )
    first_day = models.DateField()
    last_day = models.DateField()

    objects = ClusterQuerySet.as_manager()

    class Meta:
        ordering = ["-size", "id"]

    def __str__(self) -> str:
        return f"Cluster {self.pk}"


class Membership(models.Model):
    """An article in its cluster. An article is in at most one cluster."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="memberships")
    article = models.OneToOneField(Article, on_delete=models.PROTECT, related_name="membership")

    class Meta:
        ordering = ["article__date", "article_id"]

    def __str__(self) -> str:
        return f"Article {self.article_id} in cluster {self.cluster_id}"
