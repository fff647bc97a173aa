"""What is kept of the texts of articles, so that no run makes it again."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from articles.models import Article


class ArticleShingles(models.Model):
    """The word shingles of an article's whole text, as dedup/kernels/masked_shingles.py makes them. A cache."""

    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="shingles")
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="+", db_index=False)
    date = models.DateField()
    sample = ArrayField(
        models.IntegerField(),
        null=True,
        help_text="Some of them, by which articles with a text are found; null: not made yet.",
    )
    shingles = models.BinaryField(help_text="Their hashes: 32 bits each, little-endian, ascending and distinct.")
    revision = models.BigIntegerField(help_text="The revision of the article when its shingles were computed.")

    class Meta:
        verbose_name_plural = "article shingles"
        indexes = [
            models.Index(fields=["newspaper", "date"], name="article_shingles_around"),
            GinIndex(fields=["sample"], name="article_shingle_sample"),
        ]

    def __str__(self) -> str:
        return f"Shingles of article {self.article_id}"


class ArticleSentences(models.Model):
    """The sentences of an article's whole content, as dedup/kernels/sentences.py marks them. A cache."""

    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="sentences")
    revision = models.BigIntegerField(help_text="The revision of the article when its sentences were marked.")
    hashes = models.BinaryField(help_text="Their hashes: 64 bits each, little-endian, ascending and distinct.")
    marks = models.BinaryField(help_text="Their lengths and whether they have a name: 16 bits each, little-endian.")

    class Meta:
        verbose_name_plural = "article sentences"

    def __str__(self) -> str:
        return f"Sentences of article {self.article_id}"
