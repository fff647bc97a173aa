"""Profiles: named sets of settings for runs."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from articles.boilerplate.mode import Mode
from articles.models import Newspaper
from dedup.detection.types import KeepRule
from dedup.models.base import Row


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
        default=0.1,
        db_default=0.1,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        verbose_name="asked from",
        help_text="From this probability of being duplicates on, 0 to 1, editors are asked about versions, templates "
        "and similar pairs. They are asked about all duplicates. The setting of the default profile counts.",
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
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="one_default_profile"),
        ]


class ProfileRule(models.Model):
    """Windows and thresholds of a profile for one newspaper, or for two. Read it through detection/runs/profiles.py."""

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="rules")
    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(
        Newspaper,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Empty: the rule holds for pairs with any newspaper.",
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
                fields=["profile", "newspaper"], condition=Q(other__isnull=True), name="one_rule_a_newspaper"
            ),
            models.UniqueConstraint(fields=["profile", "newspaper", "other"], name="one_rule_a_pair_of_newspapers"),
            models.CheckConstraint(
                condition=Q(other__isnull=True) | Q(newspaper__lte=F("other")), name="rule_newspapers_in_order"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.newspaper} and {self.other or 'any newspaper'}"
