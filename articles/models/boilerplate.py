"""What boilerplate the weeks of newspapers have, and what editors keep."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Upper

from articles.boilerplate.rules import SentenceKind
from articles.models.newspapers import Newspaper


class BoilerplateWeek(models.Model):
    """A fingerprint of what the boilerplate of a newspaper's week depends on: when it changes, it is searched again."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="+")
    week = models.DateField(help_text="The Monday of the week.")
    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["newspaper", "week"], name="one_row_a_week")]

    def __str__(self) -> str:
        return f"{self.newspaper}, week of {self.week}"


class RepeatedSentence(models.Model):
    """A sentence shared by several articles of a newspaper's week. Written by storage/boilerplate_marks.py."""

    class Kind(models.TextChoices):
        """Whether it is boilerplate, or why it is not."""

        BOILERPLATE = SentenceKind.BOILERPLATE.value, "boilerplate"
        QUOTATION = SentenceKind.QUOTATION.value, "quotation"
        WHITELISTED = SentenceKind.WHITELISTED.value, "whitelisted"

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="repeated_sentences")
    week = models.DateField(help_text="The Monday of the week.")
    digest = models.UUIDField(help_text="A digest of the normalised sentence.")
    sentence = models.TextField(help_text="The sentence as its first article has it.")
    kind = models.CharField(max_length=11, choices=Kind.choices)
    articles = models.PositiveIntegerField(help_text="The number of articles of the week that have it.")
    article_ids = ArrayField(models.BigIntegerField(), help_text="The ids of these articles, the first one first.")

    class Meta:
        ordering = ["-week", "-articles", "id"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "week", "digest"], name="one_row_a_sentence")]
        indexes = [
            models.Index(fields=["newspaper", "digest"], name="repeated_sentence"),
            GinIndex(OpClass(Upper("sentence"), name="gin_trgm_ops"), name="repeated_sentence_words"),
        ]

    def __str__(self) -> str:
        return self.sentence


class WhitelistedSentence(models.Model):
    """A sentence that an editor wants kept in a newspaper's articles, however often it appears."""

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="whitelisted_sentences")
    digest = models.UUIDField(help_text="A digest of the normalised sentence.")
    sentence = models.TextField()
    whitelisted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    whitelisted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-whitelisted_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["newspaper", "digest"], name="whitelisted_once")]

    def __str__(self) -> str:
        return self.sentence
