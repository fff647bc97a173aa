"""How long the fetched pages of articles are kept: for ever, unless a newspaper or a command says for how many days.

The files of corpora are deleted here, too, some days after they were written.
"""

import datetime
import threading
from collections.abc import Iterator
from typing import Any

from django.contrib.admin.models import CHANGE
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from articles.jobs.work import repeat
from articles.models import ArticlePage, ArticleRevision, AttachedCopy, Newspaper
from articles.storage.audit_log import log_action
from articles.storage.ingest import writing
from dedup.corpora import forget_old_corpora

AT_ONCE = 500
# Seconds between two looks of a worker. The first comes after a pause too.
PAUSE = 3600.0


def remove_pages(newspaper: Newspaper, days: int) -> Iterator[int]:
    """Delete the pages of a newspaper's articles that were fetched more than `days` days ago; yield how many.

    With the page go the further pages of the article, and of later versions and attached copies what was fetched. The
    articles and the texts of versions and copies stay. In batches, each a transaction.
    """
    old = _old(newspaper, days)
    while True:
        with writing():
            pages, versions, copies = (list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]) for rows in old)
            ArticlePage.objects.filter(pk__in=pages).delete()
            ArticleRevision.objects.filter(pk__in=versions).update(body=b"")
            AttachedCopy.objects.filter(pk__in=copies).update(page="")
        if not pages and not versions and not copies:
            return
        yield len(pages) + len(versions) + len(copies)


def set_page_days(newspaper: Newspaper, days: int | None, *, user: User) -> None:
    """Have a newspaper's fetched pages kept for so many days, None for ever, and log who wanted it."""
    with writing():
        before = Newspaper.objects.select_for_update().get(pk=newspaper.pk).page_days
        if before != days:
            Newspaper.objects.filter(pk=newspaper.pk).update(page_days=days)
            act = f"has its fetched pages kept {kept_for(days)} (before: {kept_for(before)})."
            log_action(newspaper, CHANGE, act, user=user)


def kept_for(days: int | None) -> str:
    """Say how long that is."""
    return "for ever" if days is None else f"for {days:,} day{'' if days == 1 else 's'}"


def watch(ended: threading.Event) -> None:
    """Delete what is no longer kept, every PAUSE seconds until `ended`. A worker does it next to its tasks."""

    def remove() -> None:
        forget_old_corpora()
        remove_outdated_pages(ended)

    repeat(remove, ended, pause=PAUSE, name="What is no longer kept")


def remove_outdated_pages(ended: threading.Event) -> int:
    """Delete the pages that newspapers no longer keep, batch by batch until `ended`; return how many."""
    removed = 0
    for newspaper in Newspaper.objects.exclude(page_days=None):
        for number in remove_pages(newspaper, newspaper.page_days or 0):
            removed += number
            if ended.is_set():
                return removed
    return removed


def count_old(newspaper: Newspaper, days: int) -> int:
    """Return how many pages, and versions with what was fetched of them, `remove_pages` would delete."""
    return sum(rows.count() for rows in _old(newspaper, days))


def _old(newspaper: Newspaper, days: int) -> tuple[QuerySet[Any], QuerySet[Any], QuerySet[Any]]:
    """Return the pages, and the versions and copies with what was fetched of them, that are older than so many days."""
    before = timezone.now() - datetime.timedelta(days=days)
    pages = ArticlePage.objects.filter(article__newspaper=newspaper, fetched_at__lt=before)
    versions = ArticleRevision.objects.filter(article__newspaper=newspaper, seen_at__lt=before).exclude(body=b"")
    copies = AttachedCopy.objects.filter(article__newspaper=newspaper, page_fetched_at__lt=before).exclude(page="")
    return pages, versions, copies
