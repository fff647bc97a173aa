"""Trials of extraction rules: what would change on a newspaper's pages if a rule was saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User

from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.extraction.trial import Reading, TrialError, Tried, try_rule
from articles.models import Article, ArticlePage, Newspaper
from articles.storage.extraction_rules import kept_page, pages_to_try, rule_of
from dedup.detection.comparison.differences import Differences, compare_texts
from dedup.detection.comparison.highlighting import MarkedText
from dedup.review.fetches import FetchError, fetch

__all__ = ["RuleTrial", "TrialError", "check_speed", "try_on_pages"]

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


@dataclass(frozen=True)
class RuleTrial:
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
    found = [_page(each, page) for each, page in zip(tried, pages, strict=True)]
    if not url:
        return RuleTrial(found)
    try:
        article = fetch(url, user=user, rule=rule)
    except FetchError as error:
        return RuleTrial(found, fetch_fault=str(error))
    return RuleTrial(found, fetched=Reading.of(article))


def check_speed(rule: ExtractionRule) -> None:
    """Raise TrialError if a selector of a valid rule takes too long."""
    try_rule(rule, [])


def _page(tried: Tried, page: ArticlePage) -> TriedPage:
    return TriedPage(tried, page.url, page.article)
