"""What people say of pairs that decides nothing: second readings of decided pairs, and labels of validation samples."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from articles.models import Article
from dedup.answers import CHOICES, LABEL_CHOICES, Answer
from dedup.models.base import READING_TOMBSTONE, Row, append_only
from dedup.models.decisions import Decision
from dedup.models.pairs import Pair, TwoArticles
from dedup.models.runs import DetectionRun


class SecondReading(models.Model):
    """A second editor's answer. It changes nothing: the first decision stays in force, whether or not they agree.

    Appended by dedup/review/readings; the database refuses changes and deletions. If the answers differ, the pair is a
    disagreement until a later decision on it.
    """

    pair = models.ForeignKey(
        Pair,
        null=True,
        on_delete=models.PROTECT,
        related_name="second_readings",
        help_text="Null if an article of the pair was removed.",
    )
    decision = models.ForeignKey(
        Decision, on_delete=models.PROTECT, related_name="second_readings", help_text="The first answer."
    )
    first_kind = models.CharField(
        max_length=15, choices=CHOICES, help_text="What the first decision says about this pair."
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="second_readings")
    kind = models.CharField(max_length=15, choices=CHOICES)
    note = models.TextField(blank=True)
    blind = models.BooleanField(help_text="Whether the editor answered without seeing the first answer.")
    read_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["decision", "user", "pair"], name="one_reading_an_editor"),
            models.UniqueConstraint(fields=["decision", "pair"], condition=Q(blind=True), name="one_blind_reading"),
        ]
        triggers = [append_only(READING_TOMBSTONE)]

    def __str__(self) -> str:
        return f"Second reading {self.pk}: {self.get_kind_display()}"

    @property
    def agrees(self) -> bool:
        """Whether both editors gave the same answer."""
        return self.kind == self.first_kind

    @property
    def answers(self) -> tuple[Answer, Answer]:
        """The first answer and this one."""
        return Answer(self.first_kind), Answer(self.kind)


class ValidationSample(Row):
    """Pairs of articles drawn at random by stratum, as the archive was then. Its labels are no decisions.

    `strata` has a list of objects with `name`, `pairs` (how many the archive had), `asked` and `drawn`.
    """

    written = "{0.name}"
    name = models.CharField(max_length=100, unique=True)
    seed = models.BigIntegerField(help_text="What it was drawn with: the same archive and seed give the same pairs.")
    options = models.JSONField(help_text="How it was drawn: sizes, pass, score bands, what the strata differ in.")
    strata = models.JSONField(help_text="The strata with their sizes, in order.")
    size = models.PositiveIntegerField(help_text="The number of its pairs.")
    readers = models.PositiveSmallIntegerField(help_text="How many people are to read each pair.")
    run = models.ForeignKey(
        DetectionRun, null=True, on_delete=models.SET_NULL, related_name="+", help_text="The last run before it."
    )
    drawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    drawn_at = models.DateTimeField(default=timezone.now)
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    opened_at = models.DateTimeField(null=True, help_text="When its results were opened before all labels were in.")

    class Meta:
        ordering = ["-id"]


class SampledPair(TwoArticles, Row):
    """A pair of a sample: two articles, the stratum it was drawn from, and how many pairs it represents."""

    written = "Pair {0.position} of {0.sample_id}"
    sample = models.ForeignKey(ValidationSample, on_delete=models.CASCADE, related_name="pairs")
    position = models.PositiveIntegerField(help_text="Its place in the order of reading, from 1; strata are mixed.")
    left = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="+")
    right = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="+")
    stratum = models.CharField(max_length=200)
    weight = models.FloatField(help_text="The pairs of its stratum, divided by those drawn from it.")
    revision = models.BigIntegerField(help_text="The highest revision of the two articles when it was drawn.")
    settled = models.CharField(
        max_length=1, choices=LABEL_CHOICES, blank=True, help_text="The label that settled a disagreement."
    )
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    settled_at = models.DateTimeField(null=True)
    settled_note = models.TextField(blank=True)

    class Meta:
        ordering = ["sample", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "position"], name="one_pair_a_position"),
            models.UniqueConstraint(fields=["sample", "left", "right"], name="one_place_a_pair"),
            models.CheckConstraint(condition=Q(left__lt=F("right")), name="sampled_pair_in_order"),
            models.CheckConstraint(condition=Q(weight__gt=0), name="sampled_pair_weight"),
        ]


class SampleLabel(Row):
    """What one reader said about a pair of a sample. A reader may change it; others do not see it meanwhile."""

    written = "{0.reader}: {0.label}"
    pair = models.ForeignKey(SampledPair, on_delete=models.CASCADE, related_name="labels")
    reader = models.CharField(max_length=150, help_text="A user name, or a name that import_labels was given.")
    label = models.CharField(max_length=1, choices=LABEL_CHOICES)
    note = models.TextField(blank=True)
    imported = models.BooleanField(default=False, help_text="Whether it came from a file.")
    labelled_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["pair", "reader"], name="one_label_a_reader")]
