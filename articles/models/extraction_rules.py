"""Newspapers' own extraction rules, with their history."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from articles.models.newspapers import Newspaper


def _selectors(help_text: str) -> ArrayField[list[str], list[str]]:
    return ArrayField(models.TextField(), default=list, help_text=help_text)


class ExtractionRule(models.Model):
    """A version of a newspaper's own extraction rule, never changed or deleted; Newspaper.extraction_rule is in use.

    One without selectors ends the rule. Written by storage/extraction_rules.py.
    """

    newspaper = models.ForeignKey(Newspaper, on_delete=models.CASCADE, related_name="extraction_rules")
    body = _selectors("What holds the article's text.")
    headline = _selectors("What holds the headline.")
    day = _selectors("What holds the day of publication.")
    authors = _selectors("What holds the authors.")
    drop = _selectors("What is removed from the page before anything is read.")
    note = models.CharField(max_length=200, blank=True, help_text="Why it was saved, in the words of who did.")
    restores = models.ForeignKey(
        "self", null=True, on_delete=models.RESTRICT, related_name="+", help_text="The older version that it repeats."
    )
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"rule {self.pk} of {self.newspaper}"
