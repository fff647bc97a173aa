"""Merging newspapers and undoing it, while no run is active; and what a merge will change, in words."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from articles.models import Collection, Newspaper, NewspaperMerge
from articles.storage import newspaper_merges
from articles.storage.newspaper_merges import Carried, MergePlan, plan_merge, stored_since
from dedup.detection.runs.starting import run_lock
from dedup.models import Pair

_LISTS = {
    "title_affixes": "headline affixes added",
    "refused_affixes": "refused affixes added",
    "kept_url_parameters": "kept URL parameters added",
    "feed_urls": "feeds added",
    "sitemap_urls": "sitemaps added",
    "section_urls": "section pages added",
}


class MergePreview(NamedTuple):
    """What a merge will do, also as labels and texts, in reading order."""

    plan: MergePlan
    facts: list[tuple[str, str]]


def preview_merge(merged: Newspaper, into: Newspaper) -> MergePreview:
    """Return what a merge will do; change nothing. Raises MergeError."""
    plan = plan_merge(merged, into)
    touched = Pair.objects.proposed().filter(Q(left__newspaper=merged) | Q(right__newspaper=merged))
    joined = touched.filter(Q(left__newspaper=into) | Q(right__newspaper=into))  # those that become of one newspaper
    days = " to ".join(sorted({str(day) for day in (plan.first_day, plan.last_day) if day})) or "none"
    pairs = f"{touched.count():,}, {joined.count():,} of them with articles of {into}"
    facts = [("articles that move", f"{plan.articles:,}"), ("days", days), ("pairs with these articles", pairs)]
    if plan.names:
        facts.append(("names and hosts that will find it", ", ".join(plan.names)))
    return MergePreview(plan, [*facts, *_settings(plan.carried)])


def merge_newspapers(merged: Newspaper, into: Newspaper, *, user: Any = None) -> NewspaperMerge:
    """Merge a newspaper into another one. Raises MergeError, and RunActiveError if a run is active."""
    with run_lock():
        return newspaper_merges.merge_newspapers(merged, into, user=user)


def undo_merge(merge: NewspaperMerge, *, user: Any = None) -> str:
    """Undo a merge; return a sentence about it. Raises MergeError, and RunActiveError if a run is active."""
    staying = stored_since(merge)
    with run_lock():
        moved = newspaper_merges.undo_merge(merge, user=user)
    what = f"{_articles(moved)} moved back to {merge.merged}"
    return f"{what}; {_articles(staying)} stored in {merge.into} since the merge stay there." if staying else f"{what}."


def done_line(merge: NewspaperMerge) -> str:
    """Return a sentence about a merge that was just made."""
    return f"{_articles(merge.articles)} moved from {merge.merged} to {merge.into}. The next run compares them again."


def merges_made() -> QuerySet[NewspaperMerge]:
    """Return all merges, the latest first, without the ids of their articles."""
    return NewspaperMerge.objects.select_related("merged", "into", "merged_by", "undone_by").defer("article_ids")


def _settings(carried: Carried) -> Iterator[tuple[str, str]]:
    for name, values in carried.added.items():
        yield _LISTS[name], ", ".join(values)
    if pattern := carried.replaced.get("article_url_pattern"):
        yield "article URL pattern", pattern[1] or "none"
    if teasers := carried.replaced.get("teasers"):
        yield "teasers", "yes" if teasers[1] else "no"
    if "crawl" in carried.replaced:
        yield "crawl", "yes"
    if carried.sentences:
        yield "whitelisted sentences added", f"{len(carried.sentences):,}"
    if carried.collections:
        joined = Collection.objects.filter(pk__in=carried.collections)
        yield "collections joined", ", ".join(map(str, joined))
    if carried.left:
        names = " and ".join(_LISTS[name].removesuffix(" added") for name in carried.left)
        # Feeds need no pattern.
        one = "one way of reading feeds" if "feed_urls" in carried.left else "one article URL pattern"
        yield "not taken over", f"{names}, because {one} cannot serve both newspapers"


def _articles(number: int) -> str:
    return "1 article" if number == 1 else f"{number:,} articles"
