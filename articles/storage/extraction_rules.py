"""The writer of newspapers' own extraction rules, and who finds the rule of a page."""

from typing import Any

from django.db import transaction

from articles.extraction.kept_pages import KeptPage, RawPage
from articles.extraction.rules import FIELDS, NO_RULE, ExtractionRule, rule_faults
from articles.models import ArticlePage, Newspaper
from articles.models import ExtractionRule as SavedRule
from articles.storage.newspapers import Naming, existing_newspaper

# A rule is tried on so many pages: the newest ones, and others from all days of the newspaper.
TRIED_PAGES = 10
_NEWEST = 5


class RuleError(ValueError):
    """A rule that cannot be saved; the message is a sentence for people."""


def save_rule(
    newspaper: Newspaper, rule: ExtractionRule, *, user: Any, note: str = "", restores: SavedRule | None = None
) -> SavedRule:
    """Save a valid rule as the newspaper's own; one without selectors ends it. Raises RuleError.

    Its pages are extracted by it from now on; those that are stored are outdated until `reextract`.
    """
    if faults := rule_faults(rule):
        raise RuleError(" ".join(fault for found in faults.values() for fault in found))
    with transaction.atomic():
        newspaper = Newspaper.objects.select_for_update().get(pk=newspaper.pk)
        current = rule_of(newspaper)
        if all(current.selectors(field) == rule.selectors(field) for field in FIELDS):
            raise RuleError("Nothing was saved: the newspaper has this rule already.")
        values = {field: list(rule.selectors(field)) for field in FIELDS}
        saved = SavedRule.objects.create(newspaper=newspaper, note=note, restores=restores, saved_by=user, **values)
        newspaper.extraction_rule = saved if rule else None
        newspaper.save(update_fields=["extraction_rule"])
    return saved


def rule_of(newspaper: Newspaper) -> ExtractionRule:
    """Return the newspaper's own rule; NO_RULE if it has none."""
    return selectors_of(newspaper.extraction_rule) if newspaper.extraction_rule else NO_RULE


def selectors_of(saved: SavedRule) -> ExtractionRule:
    return ExtractionRule.of({field: getattr(saved, field) for field in FIELDS} | {"number": saved.pk})


def rule_for(url: str) -> ExtractionRule:
    """Return the rule of the newspaper of the URL's host; NO_RULE if it has none."""
    found = existing_newspaper(Naming.of("", url))
    return rule_of(found) if found else NO_RULE


def pages_to_try(newspaper: Newspaper) -> list[ArticlePage]:
    """Return up to TRIED_PAGES stored pages with their articles, the newest first, from all days of the newspaper."""
    articles = newspaper.articles.filter(page__isnull=False).order_by("-date", "-id")
    newest = list(articles.values_list("pk", flat=True)[:_NEWEST])
    others = articles.exclude(pk__in=newest)
    first, last = others.order_by("date", "id").first(), others.first()
    spread: set[int] = set()  # the first ones from days at even distances
    wanted = TRIED_PAGES - _NEWEST
    if first and last:
        for place in range(wanted):
            day = first.date + (last.date - first.date) * place / wanted
            later = others.filter(date__gte=day).exclude(pk__in=spread).order_by("date", "id")
            spread.update(later.values_list("pk", flat=True)[:1])
    pages = ArticlePage.objects.select_related("article").filter(pk__in=spread.union(newest))
    return sorted(pages, key=lambda page: (page.article.date, page.pk), reverse=True)


def kept_page(page: ArticlePage, rule: ExtractionRule) -> KeptPage:
    """Return a stored page as the extraction takes it, with this rule."""
    following = [RawPage(bytes(further.body), further.url, further.content_type) for further in page.following.all()]
    day = page.fetched_at.date()
    return KeptPage(bytes(page.body), page.url, page.content_type, day, rule, following, bytes(page.feed_entry))
