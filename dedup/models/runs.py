"""Profiles, which are named sets of settings; runs of the detection, their phases and blocks of days; the workers."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.models import Collection, Job, Newspaper
from dedup.detection.types import KeepRule, SameAs
from dedup.models.base import Row

# The chance to be the same, from which and up to one less which editors are asked about a pair.
ASKED_FROM = 0.15


class Boilerplate(models.TextChoices):
    """How boilerplate is treated when texts are compared."""

    KEEP = Mode.KEEP.value, "kept"
    STORY = Mode.STORY.value, "removed from all articles except the first"
    TOPIC = Mode.TOPIC.value, "removed from all articles"


class Keep(models.TextChoices):
    """Which article of a cluster is kept, that is, represents it, unless an editor chose one."""

    EARLIEST = KeepRule.EARLIEST.value, "the earliest"
    AGENCY = KeepRule.AGENCY.value, "the earliest that credits a news agency"
    LONGEST = KeepRule.LONGEST.value, "the longest"


class Profile(Row):
    """A named set of windows, thresholds and passes. Read it through detection/runs/profiles.py, which validates it."""

    written = "{0.name}"
    name = models.CharField(max_length=100, unique=True)
    is_default = models.BooleanField(default=False, help_text="Runs that name no profile use this one.")
    settings = models.JSONField(
        default=dict, blank=True, help_text="The settings that differ from the defaults, by pass."
    )
    same_as = models.CharField(
        max_length=7,
        choices=[(same_as.value, same_as.value) for same_as in SameAs],
        default=SameAs.CROPPED.value,
        db_default=SameAs.CROPPED.value,
        verbose_name="what counts as the same",
        help_text="Which pairs put their articles into one cluster. The default profile's choice counts; when you "
        "change it, a worker rebuilds the clusters from the stored pairs.",
    )
    boilerplate = models.CharField(
        max_length=5,
        choices=Boilerplate.choices,
        default=Boilerplate.KEEP,
        help_text="How sentences shared by many articles of a newspaper in one week are treated when texts are "
        "compared. Stored articles never change.",
    )
    keep_rule = models.CharField(
        max_length=8,
        choices=Keep.choices,
        default=Keep.EARLIEST,
        db_default=Keep.EARLIEST,
        verbose_name="article to keep",
        help_text="Which article represents its cluster, unless an editor chose one. Among equals, the earliest. The "
        "default profile's rule counts; all clusters follow it from the next full run.",
    )
    asked_from = models.FloatField(
        default=ASKED_FROM,
        db_default=ASKED_FROM,
        validators=[MinValueValidator(0), MaxValueValidator(0.5)],
        verbose_name="asked from",
        help_text="Editors are asked about pairs with at least this chance to be the same, 0 to 0.5, and at most one "
        "less that: 0.15 asks from 15% to 85%. The setting of the default profile counts.",
    )
    nightly_at = models.TimeField(
        null=True,
        blank=True,
        help_text="Every day at this time, a worker compares articles that are new or have changed. Empty: never.",
    )
    nightly_due = models.DateTimeField(null=True, editable=False, help_text="When the next nightly run starts.")
    nightly_waits_since = models.DateTimeField(
        null=True, editable=False, help_text="When the nightly run was due that waits until another run ends."
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="one_default_profile")
        ]


class ProfileRule(models.Model):
    """Windows and thresholds of a profile for one or two sides, which are newspapers or collections.

    With one side, it holds for pairs with any newspaper. Read it through detection/runs/profiles.py.
    """

    SIDES = ("newspaper_id", "other_id", "collection_id", "other_collection_id")

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="rules")
    newspaper = models.ForeignKey(Newspaper, null=True, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(
        Newspaper, null=True, on_delete=models.CASCADE, related_name="+", help_text="The second of two newspapers."
    )
    collection = models.ForeignKey(
        Collection,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="A run takes the newspapers that it has when the run starts.",
    )
    other_collection = models.ForeignKey(
        Collection, null=True, on_delete=models.CASCADE, related_name="+", help_text="The second of two collections."
    )
    settings = models.JSONField(
        default=dict, blank=True, help_text="Lowest scores and most days that differ from the profile's, by pass."
    )
    left_out = models.BooleanField(default=False, help_text="Whether these pairs are not proposed at all.")
    retired = models.BooleanField(
        default=False, help_text="Whether runs hide pairs of earlier runs that this rule does not allow."
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["profile", "newspaper", "other", "collection", "other_collection"],
                nulls_distinct=False,
                name="one_rule_for_the_same_sides",
            ),
            # One or two sides; two of a kind are in order. A comparison with NULL would pass, hence all the isnull.
            models.CheckConstraint(
                condition=Q(newspaper__isnull=False, other__isnull=True, other_collection__isnull=True)
                | Q(newspaper__isnull=True, other__isnull=True, collection__isnull=False, other_collection__isnull=True)
                | Q(newspaper__lte=F("other"), collection__isnull=True, other_collection__isnull=True)
                & Q(newspaper__isnull=False, other__isnull=False)
                | Q(collection__lte=F("other_collection"), newspaper__isnull=True, other__isnull=True)
                & Q(collection__isnull=False, other_collection__isnull=False),
                name="rule_sides_in_order",
            ),
        ]

    def __str__(self) -> str:
        return " and ".join(map(str, [*self.sides, "any newspaper"][:2]))

    @property
    def sides(self) -> list[Newspaper | Collection]:
        """The one or two newspapers or collections, newspapers first."""
        return [side for side in (self.newspaper, self.other, self.collection, self.other_collection) if side]


class DetectionRun(Row):
    """One run of the detection: its settings and scope, its progress and its counts."""

    written = "Run {0.pk}"

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
    results = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="A hash of the results of a run on a cluster that this run stored; empty if it searched here.",
    )
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="detection_runs"
    )
    job = models.ForeignKey(
        Job,
        null=True,
        on_delete=models.SET_NULL,
        related_name="runs",
        help_text="The job that does it. Null: a command.",
    )
    cancelled_at = models.DateTimeField(null=True, help_text="When somebody asked this run to stop.")
    cancelled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-started_at", "-id"]

    @property
    def boilerplate(self) -> Mode:
        """How the run treated boilerplate."""
        return Mode(self.scope.get("boilerplate", Mode.KEEP))

    @property
    def boilerplate_label(self) -> str:
        """The same in words."""
        return str(Boilerplate(self.boilerplate).label)


class RunBlock(Row):
    """A block of days that a run has finished for a pass; stored together with its evidence."""

    written = "{0.pass_name} {0.first_day} to {0.last_day}"
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
        constraints = [models.UniqueConstraint(fields=["run", "pass_name", "first_day"], name="one_mark_a_block")]


class RunPhase(Row):
    """One phase of a run, stored while it goes on. The seconds of a run's phases add up to its time."""

    written = "{0.name} of run {0.run_id}"

    class State(models.TextChoices):
        AHEAD = "ahead", "ahead"
        RUNNING = "running", "running"
        DONE = "done", "done"

    run = models.ForeignKey(DetectionRun, on_delete=models.CASCADE, related_name="phases")
    name = models.CharField(max_length=20)
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=7, choices=State.choices, default=State.AHEAD)
    total = models.PositiveBigIntegerField(null=True, help_text="How much there is to do; none if nothing is counted.")
    done = models.PositiveBigIntegerField(default=0)
    found = models.PositiveBigIntegerField(default=0, help_text="Pairs, or sentences of boilerplate.")
    seconds = models.FloatField(
        default=0, help_text="Wall-clock time; passes that work at the same time share it by their work."
    )
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_row_a_phase")]


class Worker(Row):
    """A process that executes queued runs, and when it last gave a sign of life."""

    written = "{0.name}"
    name = models.CharField(max_length=64, primary_key=True)
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-seen_at"]
