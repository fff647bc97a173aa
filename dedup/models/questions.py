"""The questions that editors are asked, who put one off, and who is reading one."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dedup.models.base import Row
from dedup.models.pairs import Cluster, Pair

_ONE_OF_BOTH = Q(pair__isnull=False, cluster=None) | Q(pair=None, cluster__isnull=False)


class OpenQuestion(models.Model):
    """A pair or a cluster that editors are asked about. Derived: detection/clustering/questions.py writes all rows."""

    pair = models.OneToOneField(Pair, null=True, on_delete=models.CASCADE, related_name="question")
    # Without a constraint: clusters are rebuilt, and their questions renewed, in two steps of one transaction.
    cluster = models.OneToOneField(
        Cluster, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="question"
    )
    number = models.BigIntegerField(help_text="The number of the pair or the cluster: the last field of the order.")
    article = models.BigIntegerField(null=True, help_text="One article of the cluster. Empty for a pair.")
    size = models.PositiveIntegerField(help_text="How many articles it is about.")
    asked = models.BooleanField(help_text="Whether it covers waiting pairs.")
    certain = models.BooleanField(help_text="Whether the articles are nearly certain to be the same.")
    conflict = models.BooleanField(
        help_text="Whether clusters keep apart what was judged duplicates, or decisions contradict each other."
    )
    change = models.FloatField(help_text="How many pairs of articles the answer is expected to join or to split.")
    doubt = models.FloatField(help_text="The distance of the probability from even odds: 0 to 0.5.")

    class Meta:
        constraints = [models.CheckConstraint(condition=_ONE_OF_BOTH, name="question_of_one")]
        indexes = [
            models.Index(fields=["-change", "doubt", "number", "id"], condition=Q(asked=True), name="question_asked"),
            models.Index(
                fields=["-change", "doubt", "number", "id"],
                condition=Q(asked=True, certain=True),
                name="question_certain",
            ),
            models.Index(
                fields=["-change", "doubt", "number", "id"], condition=Q(conflict=True), name="question_conflict"
            ),
            models.Index(
                fields=["-size", "number", "id"],
                condition=Q(asked=True, cluster__isnull=False),
                name="question_cluster",
            ),
            models.Index(fields=["article"], condition=Q(article__isnull=False), name="question_article"),
        ]

    def __str__(self) -> str:
        return f"Question on {'pair' if self.pair_id else 'cluster'} {self.number}"


class QuestionCount(Row):
    """How many open questions a tab of the queue has. Kept in step with OpenQuestion by its writer."""

    written = "{0.tab}: {0.number}"
    tab = models.CharField(max_length=20, primary_key=True)
    number = models.BigIntegerField(default=0)


class Postponement(models.Model):
    """An editor wants to answer a question later: nobody else is concerned."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="postponements")
    pair = models.ForeignKey(Pair, null=True, on_delete=models.CASCADE, related_name="postponements")
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.CASCADE, related_name="postponements")
    postponed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=_ONE_OF_BOTH, name="postponement_of_one"),
            models.UniqueConstraint(fields=["user", "pair"], name="one_postponement_a_pair"),
            models.UniqueConstraint(fields=["user", "cluster"], name="one_postponement_a_cluster"),
        ]
        indexes = [models.Index(fields=["user", "postponed_at", "id"], name="postponement_order")]

    def __str__(self) -> str:
        return f"{self.user} postponed {'pair' if self.pair_id else 'cluster'} {self.pair_id or self.cluster_id}"


class Lease(Row):
    """An editor is reading a question; until the lease ends, others are not sent to it."""

    written = "{0.user} until {0.until:%H:%M:%S}"
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="leases")
    pair = models.OneToOneField(Pair, null=True, on_delete=models.CASCADE, related_name="lease")
    cluster = models.OneToOneField(Cluster, null=True, on_delete=models.CASCADE, related_name="lease")
    until = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=_ONE_OF_BOTH, name="lease_of_one")]
