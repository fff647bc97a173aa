"""The history of decisions, what each says about two articles, and batches of many answered at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, OuterRef, Q, Subquery, Value
from django.db.models.functions import MD5, Cast, Concat
from django.utils import timezone

from articles.models import Article
from dedup.answers import CHOICES, Answer
from dedup.models.base import LINK_GOES, TOMBSTONE, Row, append_only
from dedup.models.pairs import Pair

# The pairs that come to a second editor are those for which this is smallest: the same ones every time, for everybody.
DRAWN_WITH = "second reading "
DRAWN_BY = MD5(Concat(Value(DRAWN_WITH, models.TextField()), Cast("pair_id", models.TextField())))


class DecisionQuerySet(models.QuerySet["Decision"]):
    """Decisions."""

    def in_force(self) -> DecisionQuerySet:
        """Return the decisions that are not undone.

        The undo of each is looked up by its index: a join would read all decisions, however few are asked about.
        """
        undo = self.model.objects.filter(undoes=OuterRef("pk")).order_by().values("pk")
        return self.alias(undo=Subquery(undo[:1])).filter(undo=None)

    def group_confirmations(self, group_ids: Collection[int]) -> DecisionQuerySet:
        """Return the decisions in force that confirmed one of these dense groups, the latest first."""
        found = self.filter(kind="confirm_group", group_number__in=group_ids, undone_by=None)
        return found.select_related("decided_by").order_by("-pk")


class Decision(models.Model):
    """One decision of an editor. Appended by dedup/review/answers; the database refuses changes and deletions.

    Only the removal of an article changes the decisions on it: they become tombstones, without its texts.
    """

    class Kind(models.TextChoices):
        """What a decision can be besides an answer about a pair (dedup/answers.py)."""

        CONFIRM_CLUSTER = "confirm_cluster", "confirmed the cluster"
        REJECT_CLUSTER = "reject_cluster", "dissolved the cluster"
        ALL_VERSIONS = "all_versions", "called all articles of the cluster versions"
        ALL_TEMPLATES = "all_templates", "called all articles of the cluster templates"
        SPLIT_CLUSTER = "split_cluster", "split the cluster"
        MERGE_CLUSTERS = "merge_clusters", "merged clusters"
        CONFIRM_GROUP = "confirm_group", "confirmed the dense group"
        RULE_GROUP = "rule_group", "made it a rule: never duplicates"
        END_GROUP_RULE = "end_group_rule", "ended the rule"
        TAKE_OUT = "take_out", "took an article out"
        KEEP = "keep", "chose the article to keep"
        KEEP_TEXT = "keep_text", "chose the text to keep"
        BATCH = "batch", "decided a batch"
        UNDO = "undo", "undid a decision"

    KINDS: ClassVar = [*((answer.value, answer.facts.did) for answer in Answer), *Kind.choices]

    kind = models.CharField(max_length=15, choices=KINDS)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions")
    decided_at = models.DateTimeField(default=timezone.now)
    pair = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="decisions")
    # A cluster may vanish when it is rebuilt: its number and its articles are stored as they were.
    cluster_number = models.BigIntegerField(null=True)
    group_number = models.BigIntegerField(null=True, help_text="The dense group it was about, which may be gone too.")
    articles = ArrayField(models.BigIntegerField(), default=list, help_text="The ids of the articles it was about.")
    article = models.ForeignKey(
        Article,
        null=True,
        on_delete=models.PROTECT,
        related_name="decisions",
        help_text="The article that was taken out or kept, or its text.",
    )
    undoes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    note = models.TextField(blank=True)
    tombstone = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether an article that it was about was removed: who, when, what and the ids are left.",
    )

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["decided_by", "-decided_at"], name="decision_of_editor"),
            models.Index(DRAWN_BY, condition=Q(pair__isnull=False, undoes=None), name="decision_drawn"),
        ]
        triggers = [append_only(TOMBSTONE)]

    def __str__(self) -> str:
        return f"Decision {self.pk}: {self.get_kind_display()}"

    @property
    def is_undoable(self) -> bool:
        """Whether an undo can take it back. A rule is ended, or made again, on the page of its group."""
        about_removed = self.tombstone and self.pair_id is None and self.kind in list(Answer)
        return self.kind not in NEVER_UNDONE and not about_removed


# The decision that gives this answer about every two articles of a cluster.
OF_CLUSTERS = {
    Answer.CONFIRM: Decision.Kind.CONFIRM_CLUSTER,
    Answer.REJECT: Decision.Kind.REJECT_CLUSTER,
    Answer.VERSION: Decision.Kind.ALL_VERSIONS,
    Answer.TEMPLATE: Decision.Kind.ALL_TEMPLATES,
}
# What says which article, and whose text, represents a cluster: no answer about its articles.
KEEPS = (Decision.Kind.KEEP, Decision.Kind.KEEP_TEXT)
NEVER_UNDONE = (Decision.Kind.UNDO, Decision.Kind.RULE_GROUP, Decision.Kind.END_GROUP_RULE)


class Link(Row):
    """What a decision says about two articles. The latest link whose decision is not undone is in force."""

    written = "{0.left_id} {0.kind} {0.right_id}"

    class Kind(models.TextChoices):
        """The links that decisions on clusters make; the other answers about pairs have links of their own."""

        MUST = Answer.CONFIRM.link, Answer.CONFIRM.facts.link_label
        CANNOT = Answer.REJECT.link, Answer.REJECT.facts.link_label
        STAY = "stay", "stays in one cluster when another article is taken out"

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="links")
    left = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="+")
    right = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(
        max_length=15, choices=dict(Kind.choices) | {answer.link: answer.facts.link_label for answer in Answer}
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["decision", "left", "right"], name="one_link_a_decision"),
            models.CheckConstraint(condition=Q(left__lt=F("right")), name="link_in_order"),
        ]
        indexes = [models.Index(fields=["left", "right", "-decision"], name="link_latest")]
        triggers = [append_only(LINK_GOES)]


class ConfirmedArticle(Row):
    """An article that must-links in force tie to others: those with the same `first` are one article to editors.

    Derived from the links by dedup/detection/clustering/constraints.py.
    """

    written = "Article {0.article_id}, tied to {0.first}"
    article = models.OneToOneField(Article, primary_key=True, on_delete=models.PROTECT, related_name="+")
    first = models.BigIntegerField(db_index=True, help_text="The lowest id of the articles that are tied together.")


class SeparateArticles(Row):
    """Two groups of tied articles that a cannot-link in force separates, each named by its lowest id.

    A group may be a single article, but not both. Derived from the links by dedup/detection/clustering/constraints.py.
    """

    written = "{0.one} and {0.other} are separate"
    one = models.BigIntegerField()
    other = models.BigIntegerField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["one", "other"], name="one_row_two_groups"),
            models.CheckConstraint(condition=Q(one__lt=F("other")), name="separate_in_order"),
        ]


class Batch(Row):
    """A set of questions, frozen when the batch is begun, and the one answer for all of it."""

    written = "Batch {0.pk}"
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
