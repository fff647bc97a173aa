"""Second readings: what another editor answered about a pair that is already decided."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dedup.answers import CHOICES, Answer
from dedup.models.append_only import READING_TOMBSTONE, append_only
from dedup.models.decisions import Decision
from dedup.models.pairs import Pair


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
