"""What is kept of the texts of articles, so that no run makes it again, and how far what runs derive is up to date."""

from __future__ import annotations

from django.db import models

from articles.models import Article
from dedup.models.base import Row


class ArticleShingles(Row):
    """The word shingles of an article's whole text, as detection/kernels/masked_shingles.py makes them. A cache."""

    written = "Shingles of article {0.article_id}"
    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="shingles")
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="+", db_index=False)
    date = models.DateField()
    shingles = models.BinaryField(help_text="Their hashes: 32 bits each, little-endian, ascending and distinct.")
    revision = models.BigIntegerField(help_text="The revision of the article when its shingles were computed.")

    class Meta:
        verbose_name_plural = "article shingles"
        indexes = [models.Index(fields=["newspaper", "date"], name="article_shingles_around")]


class ShingleSample(Row):
    """Some shingles of some articles, by which articles with a text are found. A cache.

    If an article changes, a later row has it too.
    """

    written = "Sampled shingles of {0.count} articles"
    count = models.PositiveIntegerField(help_text="The number of articles.")
    articles = models.BinaryField(help_text="Their ids: 64 bits each, little-endian.")
    hashes = models.BinaryField(help_text="The hashes: 32 bits each, little-endian, ascending.")
    owners = models.BinaryField(help_text="The place of the article of each: 16 bits each, little-endian.")


class ArticleSentences(Row):
    """The sentences of an article's whole content, as dedup/detection/kernels/sentences.py marks them. A cache."""

    written = "Sentences of article {0.article_id}"
    article = models.OneToOneField(Article, primary_key=True, on_delete=models.CASCADE, related_name="sentences")
    revision = models.BigIntegerField(help_text="The revision of the article when its sentences were marked.")
    hashes = models.BinaryField(help_text="Their hashes: 64 bits each, little-endian, ascending and distinct.")
    marks = models.BinaryField(help_text="Their lengths and whether they have a name: 16 bits each, little-endian.")

    class Meta:
        verbose_name_plural = "article sentences"


class NewspaperMonth(Row):
    """What recurs in the texts of a newspaper around a month, learnt when pairs of that month were judged. A cache."""

    written = "Newspaper {0.newspaper_id}, {0.month:%Y-%m}"
    newspaper = models.ForeignKey("articles.Newspaper", on_delete=models.CASCADE, related_name="+", db_index=False)
    month = models.DateField(help_text="The first day of the month.")
    digest = models.BigIntegerField(help_text="A digest of the articles that it is learnt from, and of how.")
    articles = models.PositiveIntegerField(help_text="The number of articles that it is learnt from.")
    phrases = models.BinaryField(
        help_text="Hashes of the phrases that recur: 32 bits each, little-endian, ascending and distinct."
    )
    common = models.TextField(help_text="The words that are common, with blanks between them.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["newspaper", "month"], name="one_row_a_newspaper_and_month")]


class Watermark(Row):
    """What is derived under this name is up to date with all articles up to a revision.

    `input_digest` is a digest of whatever else it depends on. Without a row, all of it is derived again.
    """

    written = "{0.name} up to {0.revision}"
    name = models.CharField(max_length=20, primary_key=True)
    revision = models.BigIntegerField()
    input_digest = models.CharField(max_length=64, blank=True, default="")


class ChangedArticle(Row):
    """An article with a pair that runs have changed since they last rebuilt the clusters; it may have several rows."""

    written = "{0.article}"
    # No foreign key, which would check every row: these are written by the thousands and soon deleted.
    article = models.BigIntegerField()
