"""How long the fetched pages of articles are kept: for ever, unless a newspaper or a command says for how many days."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from django.db.models import QuerySet
from django.utils import timezone

from articles.models import ArticlePage, ArticleRevision, Newspaper
from articles.storage.ingest import writing

AT_ONCE = 500


def remove_pages(newspaper: Newspaper, days: int) -> Iterator[int]:
    """Delete the pages of a newspaper's articles that were fetched more than `days` days ago; yield how many.

    With the page go the further pages of the article, and of later versions what was fetched. The articles and the
    texts of versions stay. In batches, each a transaction.
    """
    before = timezone.now() - datetime.timedelta(days=days)
    while True:
        with writing():
            pages = list(old_pages(newspaper, before).order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
            versions = list(_old_versions(newspaper, before).order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
            ArticlePage.objects.filter(pk__in=pages).delete()
            ArticleRevision.objects.filter(pk__in=versions).update(body=b"")
        if not pages and not versions:
            return
        yield len(pages) + len(versions)


def old_pages(newspaper: Newspaper, before: datetime.datetime) -> QuerySet[ArticlePage]:
    """Return the pages of a newspaper's articles that were fetched before this time."""
    return ArticlePage.objects.filter(article__newspaper=newspaper, fetched_at__lt=before)


def _old_versions(newspaper: Newspaper, before: datetime.datetime) -> QuerySet[ArticleRevision]:
    rows = ArticleRevision.objects.filter(article__newspaper=newspaper, seen_at__lt=before)
    return rows.exclude(body=b"")
