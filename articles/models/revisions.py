"""Later versions of stored articles."""

from __future__ import annotations

from django.db import models

from articles.models.articles import Article


class ArticleRevision(models.Model):
    """What a later visit to the page of a stored article found: another text, or that the article is gone.

    The article itself stays as it was first stored, and detection reads only that. Written by storage/revisions.py,
    deleted only with its article, and changed only if its page is extracted again by other rules.
    """

    class Kind(models.TextChoices):
        CHANGED = "changed", "changed"
        GONE = "gone", "gone"
        BACK = "back", "back again"

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField(help_text="1 for the first one after the article as it was stored.")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    seen_at = models.DateTimeField(help_text="When its page was fetched.")
    updated_at = models.DateTimeField(
        null=True, help_text="The time of the change that a feed or sitemap gave; null if none did."
    )
    headline = models.TextField(blank=True, help_text="Empty if the article is gone.")
    content = models.TextField(blank=True, help_text="Empty if the article is gone.")
    note = models.CharField(max_length=200, blank=True, help_text="Why the article counts as gone.")
    url = models.TextField(help_text="The URL that the page was fetched from, after redirects.")
    content_type = models.CharField(max_length=200, blank=True)
    body = models.BinaryField(help_text="The page as it was fetched, compressed with gzip; empty if gone.")
    extractor_version = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["article", "number"]
        constraints = [models.UniqueConstraint(fields=["article", "number"], name="revision_number")]

    def __str__(self) -> str:
        return f"{self.article_id}, revision {self.number}"
