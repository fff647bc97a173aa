"""Pairs of articles, what the passes found about them, their verdicts, clusters, and the questions about both."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import MD5, Abs, Cast, Concat
from django.utils import timezone

from articles.models import Article, in_order
from articles.querysets import texts_of
from dedup.answers import Answer
from dedup.detection.types import Relation, VerdictKind
from dedup.models.base import Row
from dedup.models.runs import DetectionRun

# How far a pair is from even odds. The index pair_doubt has it.
DOUBT = Abs(F("duplicate_probability") - 0.5)
# A cluster held together by a less probable pair is shown as weak.
WEAK_PROBABILITY = 0.75


class Verdict(models.TextChoices):
    """How two articles relate to each other."""

    DUPLICATE = VerdictKind.DUPLICATE.value, "duplicate"
    VERSION = VerdictKind.VERSION.value, "version"
    TEMPLATE = VerdictKind.TEMPLATE.value, "template"
    SIMILAR = VerdictKind.SIMILAR.value, "similar"


RELATIONS = [(relation.value, relation.value) for relation in Relation]


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

    @property
    def both(self) -> tuple[Article, Article]:
        """The earlier and the later one."""
        return in_order(self.left, self.right)


class PairQuerySet(models.QuerySet["Pair"]):
    """Pairs."""

    def proposed(self) -> PairQuerySet:
        """Return the pairs that some pass currently proposes: not all of their evidence is stale."""
        return self.filter(best_score__gt=0)

    def in_queue(self) -> PairQuerySet:
        """Return the proposed pairs that are waiting for an editor's decision."""
        return self.proposed().filter(state="undecided")

    def joining(self) -> PairQuerySet:
        """Return the proposed pairs whose verdict puts both articles in one cluster."""
        return self.proposed().filter(joins=True)

    def drawn(self, lot: str) -> PairQuerySet:
        """Return the same pairs in a random order, the same one every time; another lot gives another order."""
        return self.order_by(MD5(Concat(Value(lot, models.TextField()), Cast("pk", models.TextField()))))

    def among(self, article_ids: Collection[int] | QuerySet[Any]) -> PairQuerySet:
        """Return the pairs with both articles among these."""
        return self.filter(left__in=article_ids, right__in=article_ids)

    def in_group(self, group_id: int) -> PairQuerySet:
        """Return the pairs with both articles in this dense group."""
        return self.filter(left__group_member__group=group_id, right__group_member__group=group_id)

    def touching(self, article_ids: Collection[int]) -> PairQuerySet:
        """Return the pairs with at least one article among these."""
        return self.filter(Q(left__in=article_ids) | Q(right__in=article_ids))

    def with_doubt(self) -> PairQuerySet:
        """Return the same pairs with `doubt`, the distance from even odds: 0 for the most doubtful, 0.5 for certain."""
        return self.annotate(doubt=DOUBT)

    def with_articles(self) -> PairQuerySet:
        """Return the same pairs with their articles as lists show them, without the long texts."""
        return self.select_related("left__newspaper", "right__newspaper").defer(*texts_of("left", "right"))


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
    relation = models.CharField(
        max_length=8,
        choices=RELATIONS,
        blank=True,
        db_default="",
        help_text="What the two articles are to each other. Empty: not compared yet.",
    )
    relation_probability = models.FloatField(null=True, help_text="The probability of the relation, 0 to 1.")
    left_own = models.PositiveIntegerField(
        null=True, help_text="How many words of the left article the right one lacks in matching sentences."
    )
    right_own = models.PositiveIntegerField(null=True, help_text="The same of the right article's words.")
    new_text = models.CharField(
        max_length=6,
        blank=True,
        db_default="",
        help_text="Where most of the longer article's own words stand: head, middle or tail. Empty: it has none.",
    )
    quoted = models.FloatField(
        null=True,
        help_text="Of the words that match: the share in quotation marks in the longer article alone, 0 to 1.",
    )
    joins = models.BooleanField(
        db_default=False, help_text="Whether the pair puts both articles in one cluster (Profile.same_as)."
    )
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


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    """Evidence."""

    def found_by(self, run: DetectionRun) -> EvidenceQuerySet:
        """Return the evidence that a run found for the pairs in its scope.

        A pass that reads all articles also finds pairs that are older than the scope; these are left out.
        """
        found = self.filter(run=run)
        if since := run.scope.get("since"):
            found = found.filter(Q(pair__left__date__gte=since) | Q(pair__right__date__gte=since))
        for pass_name, newer_than in (run.scope.get("newer_than") or {}).items():
            newer = Q(pair__left__revision__gt=newer_than) | Q(pair__right__revision__gt=newer_than)
            found = found.filter(~Q(pass_name=pass_name) | newer)
        return found


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


class ClusterQuerySet(models.QuerySet["Cluster"]):
    """Clusters."""

    def weakly_held(self) -> ClusterQuerySet:
        """Return the proposed clusters with a pair less probable than WEAK_PROBABILITY."""
        return self.filter(state="proposed", lowest_score__lt=WEAK_PROBABILITY)

    def with_kept(self) -> ClusterQuerySet:
        """Return the same clusters with their kept article, without its long texts."""
        return self.select_related("kept__newspaper").defer(*texts_of("kept"))


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
    kept_text = models.ForeignKey(
        Article,
        null=True,
        on_delete=models.PROTECT,
        related_name="text_of",
        help_text="The article whose text represents the cluster, if an editor chose another than the kept one's.",
    )

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
    asked = models.BooleanField(help_text="Whether it is doubtful, so that an editor is asked.")
    certain = models.BooleanField(help_text="Whether it is nearly certain instead, and may be confirmed at a glance.")
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
                fields=["-change", "doubt", "number", "id"], condition=Q(certain=True), name="question_certain"
            ),
            models.Index(
                fields=["-change", "doubt", "number", "id"], condition=Q(conflict=True), name="question_conflict"
            ),
            models.Index(
                fields=["-size", "number", "id"],
                condition=Q(Q(asked=True) | Q(certain=True), cluster__isnull=False),
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
