"""Pages that an editor has fetched to check them: how many, and by whom.

The site hands in what fetches them, because dedup and crawlers know nothing of each other: the setting PAGE_FETCHER
names a function that takes a URL and an ExtractionRule and returns the ExtractedArticle of its page, or raises
ValueError with a sentence for editors.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import cast

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.module_loading import import_string

from articles.extraction.extract import ExtractedArticle
from articles.extraction.rules import ExtractionRule
from articles.normalization.logins import without_login
from articles.storage.extraction_rules import rule_for
from dedup.models import PageFetch

# A user has at most so many pages fetched in any hour: enough to check a list by hand, too few to crawl a site.
MOST_AN_HOUR = 20
_HOUR = datetime.timedelta(hours=1)
_KEPT = datetime.timedelta(days=1)


class FetchError(ValueError):
    """A page was not fetched; the message is for the editor."""


def fetch(url: str, *, user: User, rule: ExtractionRule | None = None) -> ExtractedArticle:
    """Return the article on a page, by its newspaper's own rule or this one. Raises FetchError."""
    url = without_login(url)
    _count(url, user)
    fetcher = cast("Callable[[str, ExtractionRule], ExtractedArticle]", import_string(settings.PAGE_FETCHER))
    try:
        return fetcher(url, rule_for(url) if rule is None else rule)
    except ValueError as error:
        raise FetchError(str(error)) from error


def _count(url: str, user: User) -> None:
    """Store that a user has a page fetched. Raises FetchError if it would be one too many."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        now = timezone.now()
        PageFetch.objects.filter(user=user, fetched_at__lt=now - _KEPT).delete()
        recent = PageFetch.objects.filter(user=user, fetched_at__gt=now - _HOUR).order_by("fetched_at")
        times = list(recent.values_list("fetched_at", flat=True))
        if len(times) >= MOST_AN_HOUR:
            again = date_format(timezone.localtime(times[-MOST_AN_HOUR] + _HOUR), "H:i")
            raise FetchError(
                f"You had {len(times)} pages fetched in the last hour; at most {MOST_AN_HOUR} are. "
                f"Try again at {again}, or paste the text."
            )
        PageFetch.objects.create(user=user, url=url, fetched_at=now)
