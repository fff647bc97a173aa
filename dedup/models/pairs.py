"""Pairs of articles, what the passes found about them, their verdicts, and clusters."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from articles.models import Article, in_order
from dedup.answers import Answer
from dedup.detection.types import VerdictKind
from dedup.models.base import Row
from dedup.models.querysets import DOUBT, ClusterQuerySet, EvidenceQuerySet, PairQuerySet
from dedup.models.runs import DetectionRun


class Verdict(models.TextChoices):
    """How two articles relate to each other."""

    DUPLICATE = VerdictKind.DUPLICATE.value, "duplicate"
    VERSION = VerdictKind.VERSION.value, "version"
    TEMPLATE = VerdictKind.TEMPLATE.value, "template"
    SIMILAR = VerdictKind.SIMILAR.value, "similar"


class TwoArticles:
    """Two articles as pages and files show them; `left` and `right`, which are stored, are in order of id."""

    left: Article
    right: Article

    @property
    def earlier(self) -> Article:
        """The one to show on the left."""
        return in_order(self.left, self.right)[0]

    @property
    def later(self) -> Article:
        """The one to show on the right."""
        return in_order(self.left, self.right)[1]


class Pair(TwoArticles, Row):
    """Two articles that a pass has proposed as a pair. Deleted only if an admin removes one of the articles."""

    written = "Pair {0.pk}"

    class State(models.TextChoices):
        """The states that pairs can have without an answer of their own; each answer has one (dedup/answers.py)."""

        UNDECIDED = "undecided", "undecided"
        CONFIRMED = Answer.CONFIRM.state, Answer.CONFIRM.facts.state_label
        REJECTED = Answer.REJECT.state, Answer.REJECT.facts.state_label

    # Of the decided ones; and of all pairs.
    DECIDED: ClassVar = [(answer.state, answer.facts.state_label) for answer in Answer]
    STATES: ClassVar = [(State.UNDECIDED.value, State.UNDECIDED.label), *DECIDED]

    left = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="pairs_as_left")
    right = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="pairs_as_right")
    state = models.CharField(
        max_length=15,
        choices=STATES,
        default=State.UNDECIDED,
        help_text="What editors decided last, or what their decisions on other pairs imply. Decisions that were undone "
        "do not count.",
    )
    implied = models.BooleanField(
        db_default=False, help_text="Whether the state follows from decisions on other pairs alone."
    )
    best_score = models.FloatField(default=0.0, help_text="The highest score of its current evidence, 0 to 1.")
    verdict = models.CharField(
        max_length=9,
        choices=Verdict.choices,
        blank=True,
        db_default="",
        help_text="The result of the full comparison. Empty: not compared yet.",
    )
    probability = models.FloatField(null=True, help_text="The probability of the verdict, 0 to 1.")
    duplicate_probability = models.FloatField(
        null=True, help_text="The probability that the two articles are duplicates, 0 to 1."
    )
    reasons = models.JSONField(default=list, db_default=[], help_text="The reasons for the verdict, one sentence each.")
    left_matched = models.FloatField(
        null=True,
        help_text="The share of the left article's words that the right one has in matching sentences, 0 to 1.",
    )
    right_matched = models.FloatField(null=True, help_text="The same of the right article's words, 0 to 1.")
    joins = models.BooleanField(db_default=False, help_text="Whether the verdict puts both articles in one cluster.")
    input_digest = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="A digest of what the verdict rests on. When it changes, or is empty, the pair is compared again.",
    )
    days_apart = models.PositiveIntegerField(help_text="Days between the two publication dates.")
    same_newspaper = models.BooleanField()
    found_at = models.DateTimeField(default=timezone.now)

    objects = PairQuerySet.as_manager()

    class Meta:
        ordering = ["-best_score", "id"]
        constraints = [
            models.UniqueConstraint(fields=["left", "right"], name="one_row_a_pair"),
            models.CheckConstraint(condition=Q(left__lt=F("right")), name="pair_in_order"),
            models.CheckConstraint(condition=Q(best_score__range=(0, 1)), name="pair_score_range"),
        ]
        indexes = [
            models.Index(fields=["state", "-best_score", "id"], name="pair_queue"),
            models.Index(fields=["state", "-duplicate_probability", "id"], name="pair_queue_by_verdict"),
            models.Index(fields=["left"], condition=Q(joins=True), name="pair_joins"),
            # The dashboard counts these by verdict, and the queue lists those of a verdict.
            models.Index(
                fields=["verdict", "-duplicate_probability", "id"],
                condition=Q(state="undecided", best_score__gt=0),
                name="pair_waiting_by_verdict",
            ),
            models.Index(fields=["-duplicate_probability", "id"], name="pair_by_probability"),
            models.Index(
                DOUBT, "id", condition=Q(state="undecided", duplicate_probability__isnull=False), name="pair_doubt"
            ),
            models.Index(
                fields=["-duplicate_probability", "id"], condition=Q(same_newspaper=True), name="pair_same_newspaper"
            ),
            models.Index(fields=["id"], condition=Q(input_digest=None, best_score__gt=0), name="pair_to_judge"),
            models.Index(fields=["id"], condition=Q(input_digest__isnull=False, best_score=0), name="pair_unproposed"),
        ]


class Evidence(Row):
    """What one pass found about a pair. A newer run of the same scope that no longer finds it marks it stale."""

    written = "{0.pass_name} {0.score:.3f}"
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="evidence")
    pass_name = models.CharField(max_length=20)
    score = models.FloatField(help_text="The pass's similarity score, 0 to 1.")
    details = models.JSONField(default=dict)
    run = models.ForeignKey(DetectionRun, on_delete=models.PROTECT, related_name="evidence")
    stale = models.BooleanField(default=False)

    objects = EvidenceQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "evidence"
        constraints = [
            models.UniqueConstraint(fields=["pair", "pass_name"], name="one_evidence_a_pass"),
            models.CheckConstraint(condition=Q(score__range=(0, 1)), name="evidence_score_range"),
        ]
        indexes = [
            models.Index(fields=["run", "pass_name"], name="evidence_run"),
            models.Index(fields=["pair"], condition=Q(details__has_key="leftover"), name="evidence_leftover"),
        ]


class Cluster(Row):
    """Articles a reader would call the same. Rebuilt by clustering/rebuild.py; keeps its id where possible."""

    written = "Cluster {0.pk}"

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


class Membership(Row):
    """An article in its cluster. An article is in at most one cluster."""

    written = "Article {0.article_id} in cluster {0.cluster_id}"
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="memberships")
    article = models.OneToOneField(Article, on_delete=models.PROTECT, related_name="membership")

    class Meta:
        ordering = ["article__date", "article_id"]
