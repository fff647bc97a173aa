"""The log of removals, what keeps removed articles from coming back, and articles that are withheld."""

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from articles.models.articles import Article
from articles.models.newspapers import by_user


class Removal(models.Model):
    """An admin's removal of a newspaper or of articles: the only way in which stored articles are ever deleted.

    Appended by newsdedup_site/privacy/. The database refuses to delete a row, and to change who, when, what or why.
    """

    class Kind(models.TextChoices):
        NEWSPAPER = "newspaper", "newspaper"
        ARTICLES = "articles", "articles"

    class State(models.TextChoices):
        RUNNING = "running", "under way"
        DONE = "done", "done"

    kind = models.CharField(max_length=9, choices=Kind.choices)
    label = models.CharField(max_length=300, help_text="The newspaper's name, or the numbers of the articles.")
    newspaper_ids = ArrayField(models.BigIntegerField(), default=list, help_text="The newspapers that are removed.")
    article_ids = ArrayField(models.BigIntegerField(), default=list, help_text="The articles that are removed alone.")
    reason = models.TextField(help_text="Why, in the words of the admin.")
    requested_by = by_user()
    requested_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=7, choices=State.choices, default=State.RUNNING)
    counts = models.JSONField(default=dict, help_text="How many rows of each kind went, or became tombstones.")
    seen_at = models.DateTimeField(default=timezone.now, help_text="The last sign of life of the work.")
    finished_at = models.DateTimeField(null=True)
    lifted_at = models.DateTimeField(null=True, help_text="When the articles were allowed to come again.")
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-id"]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Delete),
            pgtrigger.Trigger(
                name="said_once",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                func="""
                IF (NEW.kind, NEW.label, NEW.newspaper_ids, NEW.article_ids, NEW.reason, NEW.requested_at)
                    IS DISTINCT FROM
                   (OLD.kind, OLD.label, OLD.newspaper_ids, OLD.article_ids, OLD.reason, OLD.requested_at)
                   OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id
                   OR (OLD.state = 'done'
                       AND (NEW.state, NEW.counts, NEW.finished_at) IS DISTINCT FROM
                           (OLD.state, OLD.counts, OLD.finished_at))
                THEN
                    RAISE EXCEPTION 'the log of removals is append-only: removal % cannot be changed', OLD.id;
                END IF;
                RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"Removal {self.pk}"


class RemovedIdentity(models.Model):
    """A digest of a URL, or of a newspaper's name or host, that was removed: it is not stored again.

    See articles/storage/removed.py, which makes the digests.
    """

    digest = models.UUIDField(primary_key=True)
    removal = models.ForeignKey(Removal, on_delete=models.PROTECT, related_name="identities")

    class Meta:
        verbose_name_plural = "removed identities"

    def __str__(self) -> str:
        return str(self.digest)


class Withholding(models.Model):
    """An article that an admin took from all pages and exports, until somebody releases it.

    Meanwhile the rows with its texts are kept in WithheldRow, and nowhere else. Written by
    articles/storage/removed.py.
    """

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="withholdings")
    reason = models.TextField(help_text="Why, in the words of the admin.")
    withheld_by = by_user()
    withheld_at = models.DateTimeField(default=timezone.now)
    released_at = models.DateTimeField(null=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["article"], condition=models.Q(released_at=None), name="one_withholding_an_article"
            )
        ]

    def __str__(self) -> str:
        return f"Withholding {self.pk} of article {self.article_id}"


class WithheldRow(models.Model):
    """A row of an article that is withheld, as it was: releasing the article puts it back."""

    withholding = models.ForeignKey(Withholding, on_delete=models.CASCADE, related_name="rows")
    table = models.CharField(max_length=63)
    row = models.JSONField(help_text="Its columns; bytes in hexadecimal.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"a row of {self.table}"
