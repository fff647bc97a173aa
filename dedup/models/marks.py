"""How far what runs derive of articles and pairs is up to date."""

from __future__ import annotations

from django.db import models


class UpToDate(models.Model):
    """What is derived under this name is up to date with all articles up to a revision.

    `rests_on` is a digest of whatever else it depends on. Without a row, all of it is derived again.
    """

    name = models.CharField(max_length=20, primary_key=True)
    revision = models.BigIntegerField()
    rests_on = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        verbose_name_plural = "marks of what is up to date"

    def __str__(self) -> str:
        return f"{self.name} up to {self.revision}"


class ChangedArticle(models.Model):
    """An article with a pair that runs have changed since they last rebuilt the clusters; it may have several rows."""

    # No foreign key, which would check every row: these are written by the thousands and soon deleted.
    article = models.BigIntegerField()

    def __str__(self) -> str:
        return str(self.article)
