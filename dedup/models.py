"""Profiles, runs, pairs with their evidence, clusters, and the history of decisions."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.models import Article
from dedup.querysets import ClusterQuerySet, DecisionQuerySet, EvidenceQuerySet, PairQuerySet
from dedup.types import VerdictKind


class Boilerplate(models.TextChoices):
    """How boilerplate is treated when texts are compared."""

    KEEP = Mode.KEEP.value, "kept"
    STORY = Mode.STORY.value, "removed from all articles except the first"
    TOPIC = Mode.TOPIC.value, "removed from all articles"


class Profile(models.Model):
    """A named set of windows, thresholds and passes. Read it through dedup/runs/profiles.py, which validates it."""

    name = models.CharField(max_length=100, unique=True)
    is_default = models.BooleanField(default=False, help_text="Runs that name no profile use this one.")
    settings = models.JSONField(
        default=dict, blank=True, help_text="The settings that differ from the defaults, by pass."
    )
    versions_join = models.BooleanField(
        default=False,
        verbose_name="versions join clusters",
        help_text="Whether a new version of an article joins its cluster. Duplicates always do.",
    )
    boilerplate = models.CharField(
        max_length=5,
        choices=Boilerplate.choices,
        default=Boilerplate.KEEP,
        help_text="How sentences shared by many articles of a newspaper in one week are treated when texts are "
        "compared. Stored articles never change.",
    )
    nightly_at = models.TimeField(
        null=True,
        blank=True,
        help_text="Every day at this time, a worker compares articles that are new or have changed. Empty: never.",
    )
    nightly_due = models.DateTimeField(null=True, editable=False, help_text="When the next nightly run starts.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="one_default_profile"),
        ]

    def __str__(self) -> str:
        return self.name


class Verdict(models.TextChoices):
    """How two articles relate to each other."""

    DUPLICATE = VerdictKind.DUPLICATE.value, "duplicate"
    VERSION = VerdictKind.VERSION.value, "version"
    TEMPLATE = VerdictKind.TEMPLATE.value, "template"
    SIMILAR = VerdictKind.SIMILAR.value, "similar"


class DetectionRun(models.Model):
    """One run of the detection: its settings and scope, its progress and its counts."""

    class State(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        INTERRUPTED = "interrupted", "interrupted"

    profile = models.ForeignKey(Profile, null=True, on_delete=models.SET_NULL, related_name="runs")
    profile_name = models.CharField(max_length=100, blank=True)
    config = models.JSONField(help_text="The settings of every pass when the run started.")
    scope = models.JSONField(help_text="What was compared: since, until, newspapers, passes, newer_than, boilerplate.")
    state = models.CharField(max_length=11, choices=State.choices, default=State.RUNNING)
    counts = models.JSONField(default=dict, help_text="Numbers of articles, pairs by pass, and clusters.")
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="detection_runs"
    )

    class Meta:
        ordering = ["-started_at", "-id"]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    @property
    def boilerplate(self) -> Mode:
        """How the run treated boilerplate."""
        return Mode(self.scope.get("boilerplate", Mode.KEEP))

    @property
    def boilerplate_label(self) -> str:
        """The same in words."""
        return str(Boilerplate(self.boilerplate).label)


class RunBlock(models.Model):
    """A block of days that a run has finished for a pass; stored together with its evidence."""

    run = models.ForeignKey(DetectionRun, on_delete=models.CASCADE, related_name="blocks")
    pass_name = models.CharField(max_length=20)
    first_day = models.DateField()
    last_day = models.DateField()
    candidates = models.PositiveBigIntegerField(default=0, help_text="Pairs that passed the pass's quick filter.")
    verified = models.PositiveBigIntegerField(default=0, help_text="Candidates that the pass then scored exactly.")
    pairs = models.PositiveIntegerField(help_text="Pairs that reached the threshold and were kept.")
    seconds = models.FloatField(help_text="Wall-clock time in seconds.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "pass_name", "first_day"], name="one_mark_a_block"),
        ]

    def __str__(self) -> str:
        return f"{self.pass_name} {self.first_day} to {self.last_day}"


class Pair(models.Model):
    """Two articles that a pass has proposed as a pair. Never deleted."""

    class State(models.TextChoices):
        UNDECIDED = "undecided", "undecided"
        CONFIRMED = "confirmed", "confirmed duplicate"
        REJECTED = "rejected", "not a duplicate"
        UNSURE = "unsure", "unsure"

    left = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="pairs_as_left")
    right = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="pairs_as_right")
    state = models.CharField(
        max_length=9,
        choices=State.choices,
        default=State.UNDECIDED,
        help_text="What editors decided last. Decisions that were undone do not count.",
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
        ]

    def __str__(self) -> str:
        return f"Pair {self.pk}"


class Evidence(models.Model):
    """What one pass found about a pair. A newer run of the same scope that no longer finds it marks it stale."""

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
        indexes = [models.Index(fields=["run", "pass_name"], name="evidence_run")]

    def __str__(self) -> str:
        return f"{self.pass_name} {self.score:.3f}"


class JudgedMonth(models.Model):
    """A fingerprint of what a month's verdicts depend on: when it changes, the month's pairs are judged again."""

    month = models.DateField(primary_key=True, help_text="The first day of the month.")
    fingerprint = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"


class HeadlineForm(models.Model):
    """An article's headline with numbers, months and weekdays masked. The headlines of a series share one form."""

    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="headline_form")
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="+")
    date = models.DateField()
    form = models.TextField()
    revision = models.BigIntegerField(help_text="The revision of the article when its form was computed.")

    class Meta:
        indexes = [
            models.Index("newspaper", MD5("form"), name="headline_form"),
            models.Index(fields=["date"], name="headline_form_date"),
        ]

    def __str__(self) -> str:
        return self.form


class ArticleShingles(models.Model):
    """The word shingles of an article's whole text, as dedup/kernels/masked_shingles.py makes them. A cache."""

    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="shingles")
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="+", db_index=False)
    date = models.DateField()
    shingles = models.BinaryField(help_text="Their hashes: 32 bits each, little-endian, ascending and distinct.")
    revision = models.BigIntegerField(help_text="The revision of the article when its shingles were computed.")

    class Meta:
        verbose_name_plural = "article shingles"
        indexes = [models.Index(fields=["newspaper", "date"], name="article_shingles_around")]

    def __str__(self) -> str:
        return f"Shingles of article {self.article_id}"


class Series(models.Model):
    """Headlines of one form in one newspaper on many days: a column, a forecast, exchange rates."""

    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="series")
    form = models.TextField()
    headline = models.TextField(help_text="The headline of the latest article.")
    articles = models.PositiveIntegerField()
    days = models.PositiveIntegerField(help_text="Days with at least one article.")
    first_day = models.DateField()
    last_day = models.DateField()
    ruled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The editor who made the rule that its articles are never duplicates of each other.",
    )
    ruled_at = models.DateTimeField(null=True)
    # A rule follows the articles when newspapers are merged, and goes back when that is undone.
    made_for = models.ForeignKey(
        "articles.Newspaper",
        null=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="The newspaper that the rule was made for, if that was merged into this one.",
    )

    class Meta:
        ordering = ["-articles", "id"]
        verbose_name_plural = "series"
        constraints = [models.UniqueConstraint("newspaper", MD5("form"), name="one_row_a_series")]

    def __str__(self) -> str:
        return self.headline


class CrowdedArticle(models.Model):
    """An article near so many others that a pass proposes only some of its pairs with other such articles."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="crowded")
    pass_name = models.CharField(max_length=20)
    near = models.PositiveIntegerField(help_text="At least so many articles reach the threshold of the pass with it.")
    run = models.ForeignKey(DetectionRun, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pass_name", "article"], name="one_crowd_a_pass"),
        ]

    def __str__(self) -> str:
        return f"Article {self.article_id}, near {self.near} others"


class DenseGroup(models.Model):
    """Crowded articles that kept pairs connect. Rebuilt by dedup/runs/dense_groups.py; keeps its id where possible.

    A group with a rule stays, and keeps its articles, even if no pass finds them crowded any more.
    """

    first = models.ForeignKey(
        Article, on_delete=models.PROTECT, related_name="+", help_text="The earliest article by day and id."
    )
    size = models.PositiveIntegerField()
    newspapers = models.PositiveIntegerField(help_text="Newspapers with at least one article.")
    first_day = models.DateField()
    last_day = models.DateField()
    pairs = models.PositiveIntegerField(help_text="Pairs that the passes kept between its crowded articles.")
    passes = ArrayField(models.CharField(max_length=20), help_text="The passes that kept only some of its pairs.")
    fingerprint = models.CharField(max_length=64, help_text="Changes whenever its articles do.")
    ruled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The editor who made the rule that its articles are never duplicates of each other.",
    )
    ruled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-size", "id"]

    def __str__(self) -> str:
        return f"Dense group {self.pk}"

    @property
    def possible_pairs(self) -> int:
        """How many pairs its articles could form."""
        return self.size * (self.size - 1) // 2


class GroupMember(models.Model):
    """An article in its dense group. An article is in at most one."""

    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="group_member")
    group = models.ForeignKey(DenseGroup, on_delete=models.CASCADE, related_name="members")

    def __str__(self) -> str:
        return f"Article {self.article_id} in dense group {self.group_id}"


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


class Cluster(models.Model):
    """Articles a reader would call the same. Rebuilt by dedup/clustering/rebuild.py; keeps its id where possible."""

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


class Decision(models.Model):
    """One decision of an editor. Appended by dedup/review/decisions.py; the database refuses changes and deletions."""

    class Kind(models.TextChoices):
        CONFIRM = "confirm", "confirmed the pair"
        REJECT = "reject", "rejected the pair"
        UNSURE = "unsure", "was unsure of the pair"
        CONFIRM_CLUSTER = "confirm_cluster", "confirmed the cluster"
        REJECT_CLUSTER = "reject_cluster", "dissolved the cluster"
        CONFIRM_GROUP = "confirm_group", "confirmed the dense group"
        RULE_GROUP = "rule_group", "made it a rule: never duplicates"
        END_GROUP_RULE = "end_group_rule", "ended the rule"
        TAKE_OUT = "take_out", "took an article out"
        KEEP = "keep", "chose the article to keep"
        UNDO = "undo", "undid a decision"

    kind = models.CharField(max_length=15, choices=Kind.choices)
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
        help_text="The article that was taken out or kept.",
    )
    undoes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    note = models.TextField(blank=True)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"Decision {self.pk}: {self.get_kind_display()}"

    @property
    def is_undoable(self) -> bool:
        """Whether an undo can take it back. A rule is ended, or made again, on the page of its group."""
        return self.kind not in {self.Kind.UNDO, self.Kind.RULE_GROUP, self.Kind.END_GROUP_RULE}


class Link(models.Model):
    """What a decision says about two articles. The latest link whose decision is not undone is in force."""

    class Kind(models.TextChoices):
        MUST = "must", "must be in one cluster"
        CANNOT = "cannot", "cannot be in one cluster"
        STAY = "stay", "stays in one cluster when another article is taken out"
        UNSURE = "unsure", "left open"

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="links")
    left = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="+")
    right = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=6, choices=Kind.choices)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["decision", "left", "right"], name="one_link_a_decision"),
            models.CheckConstraint(condition=Q(left__lt=F("right")), name="link_in_order"),
        ]
        indexes = [models.Index(fields=["left", "right", "-decision"], name="link_latest")]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.left_id} {self.kind} {self.right_id}"
