"""Trials of extraction rules: what would change on a newspaper's pages if a rule was saved; and fetched pages.

The site hands in what fetches them, because dedup and crawlers know nothing of each other: the setting PAGE_FETCHER
names a function that takes a URL and an ExtractionRule and returns the ExtractedArticle of its page, or raises
ValueError with a sentence for editors.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.module_loading import import_string

from articles.extraction.extract import ExtractedArticle
from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.extraction.trial import Reading, Tried, try_rule
from articles.models import Article, Newspaper
from articles.normalization.logins import without_login
from articles.storage.extraction_rules import kept_page, pages_to_try, rule_for, rule_of
from dedup.detection.comparison.differences import Differences, compare_texts
from dedup.detection.comparison.shown_text import MarkedText
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


_FACTS = {"headline": "Headline", "day": "Day", "authors": "Authors", "doubts": "Doubts"}


@dataclass(frozen=True)
class TriedPage:
    """A page read without and with the rule; without an article if it is not stored."""

    tried: Tried
    url: str
    article: Article | None = None

    @cached_property
    def text(self) -> Differences:
        """The differences between the two texts."""
        return compare_texts(MarkedText(self.tried.before.text), MarkedText(self.tried.after.text))

    @property
    def facts(self) -> list[tuple[str, str, str]]:
        """The label of each fact, and what it was and is."""
        before, after = self.tried.before, self.tried.after
        rows = [(label, getattr(before, name), getattr(after, name)) for name, label in _FACTS.items()]
        return [row for row in rows if row[1] or row[2]]

    @property
    def has_changed(self) -> bool:
        """Whether anything differs."""
        return self.tried.before != self.tried.after


class RuleTrial(NamedTuple):
    """The pages of a trial, and the page that was fetched for it, or why there is none."""

    pages: Sequence[TriedPage]
    fetched: Reading | None = None
    fetch_fault: str = ""

    @property
    def counts(self) -> list[tuple[str, int]]:
        """On how many pages each field differs, and how many have no article without and with the rule."""
        names = {"text": "Another text"} | {name: f"Other {label.lower()}" for name, label in _FACTS.items()}
        changed = {
            label: sum(getattr(page.tried.before, name) != getattr(page.tried.after, name) for page in self.pages)
            for name, label in names.items()
        }
        without = [sum(bool(getattr(page.tried, side).reason) for page in self.pages) for side in ("before", "after")]
        return [*changed.items(), ("No article before", without[0]), ("No article with the rule", without[1])]


def try_on_pages(newspaper: Newspaper, rule: ExtractionRule, *, url: str, user: User) -> RuleTrial:
    """Try a valid rule on stored pages of a newspaper and, if there is a URL, on a page that is fetched for it.

    Raises TrialError.
    """
    pages = pages_to_try(newspaper)
    tried = try_rule(rule, [kept_page(page, NO_RULE) for page in pages], current=rule_of(newspaper))
    found = [TriedPage(outcome, page.url, page.article) for outcome, page in zip(tried, pages, strict=True)]
    if not url:
        return RuleTrial(found)
    try:
        article = fetch(url, user=user, rule=rule)
    except FetchError as error:
        return RuleTrial(found, fetch_fault=str(error))
    return RuleTrial(found, fetched=Reading.of(article))
