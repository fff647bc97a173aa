"""Links that wait or were refused, and the states of sources; both are written here only.

A link is saved before it is visited and deleted when its article is stored. However a crawl ends, the next one visits
the links that wait, and no finished ones.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, models
from django.utils import timezone

from articles.models import ArticleURL, Newspaper
from articles.normalization.times import possible_time
from articles.storage.incoming import ListedDate
from articles.storage.known_articles import known_pages
from articles.storage.removed import removed_urls
from crawlers.items import ArticleLink, Source, Validator
from crawlers.models import PendingLink, SourceValidator
from crawlers.reasons import BY_RULE

# Rows per query.
BATCH = 500

# By the constraint pending_link_key.
_SETTLE_SQL = """
DELETE FROM crawlers_pendinglink AS link
USING unnest(%(newspapers)s::bigint[], %(keys)s::uuid[]) AS done (newspaper_id, key)
WHERE link.newspaper_id = done.newspaper_id AND link.key = done.key
"""


@dataclass(frozen=True, slots=True)
class Sorted:
    """Links by their keys: `new` ones have to be visited, the others are skipped."""

    new: dict[UUID, ArticleLink]
    known: set[UUID]
    refused: set[UUID]


def sort_links(source: Source, links: Sequence[ArticleLink]) -> Sorted:
    """Sort up to BATCH links by whether they are stored, refused, or neither. What an admin removed is refused.

    If a page comes under two URLs, the first one counts.
    """
    by_key = {link.key: link for link in reversed(links)}
    known_urls = known_pages([link.url for link in by_key.values()], source.kept_parameters)
    known = {key for key, link in by_key.items() if link.url in known_urls}
    rows = PendingLink.objects.filter(newspaper_id=source.newspaper_id, key__in=by_key.keys() - known)
    now = timezone.now()
    refused = set(rows.filter(refused_until__gt=now).values_list("key", flat=True))
    rows.filter(refused_until__lte=now).update(refused_until=None, tries=0)
    removed = removed_urls([link.url for key, link in by_key.items() if key not in known], source.kept_parameters)
    refused |= {key for key, link in by_key.items() if link.url in removed}
    new = {key: by_key[key] for key in reversed(by_key) if key not in known and key not in refused}
    return Sorted(new, known, refused)


def save_links(links: Mapping[UUID, ArticleLink]) -> None:
    """Save new links by their keys, before they are visited."""
    rows = [
        PendingLink(
            newspaper_id=link.source.newspaper_id,
            key=key,
            url=link.url,
            kind=link.kind,
            published=link.published.day if link.published else None,
            published_time=str(link.published.time or "") if link.published else "",
            headline=link.headline,
            language=link.language,
            feed_entry=link.feed_entry,
        )
        for key, link in links.items()
    ]
    PendingLink.objects.bulk_create(rows, ignore_conflicts=True)


def waiting_links(source: Source, after: int = 0) -> list[tuple[int, ArticleLink]]:
    """Return the next BATCH links that wait since an earlier crawl, with their row ids, all above `after`, in order."""
    rows = PendingLink.objects.filter(newspaper_id=source.newspaper_id, refused_until=None, pk__gt=after)
    return [(row.pk, _link(source, row)) for row in rows.order_by("pk")[:BATCH]]


def try_new_rule(newspaper: Newspaper, *, days: float) -> None:
    """Let links wait again whose pages had no article before the newspaper's extraction rule was saved.

    `days` is for how many days links are refused.
    """
    if newspaper.extraction_rule:
        since = newspaper.extraction_rule.saved_at + datetime.timedelta(days=days)
        refused = PendingLink.objects.filter(newspaper=newspaper, reason__in=BY_RULE, refused_until__lt=since)
        refused.update(refused_until=None, tries=0)


def settle(links: Sequence[ArticleLink]) -> None:
    """Delete links whose articles are stored."""
    newspapers, keys = [link.source.newspaper_id for link in links], [link.key for link in links]
    with connection.cursor() as cursor:
        cursor.execute(_SETTLE_SQL, {"newspapers": newspapers, "keys": keys})


def refuse(link: ArticleLink, reason: str, *, days: float) -> None:
    """Skip a link for this many days, because another visit would fail in the same way."""
    _of(link).update(reason=reason, refused_until=timezone.now() + datetime.timedelta(days=days))


def postpone(link: ArticleLink, reason: str, *, max_tries: int, days: float) -> None:
    """Let a link with a temporary failure wait for the next crawl; after `max_tries` crawls, refuse it."""
    for row in _of(link):
        row.tries += 1
        row.reason = reason
        if row.tries >= max_tries:
            row.refused_until = timezone.now() + datetime.timedelta(days=days)
        row.save()


def stored_validators(source: Source) -> dict[str, Validator]:
    """Return the states of the newspaper's sources by URL, as far as they were read with its current pattern."""
    newspaper, pattern = source.newspaper_id, source.article_url_pattern
    rows = SourceValidator.objects.filter(newspaper_id=newspaper, article_url_pattern=pattern)
    return {row.url: Validator(row.url, row.etag, row.last_modified) for row in rows}


def store_validators(source: Source, validators: Sequence[Validator]) -> None:
    """Store the states of sources whose links are all saved; delete that of a source that declares none."""
    for validator in validators:
        newspaper, url = source.newspaper_id, validator.url
        if validator.etag or validator.last_modified:
            state = {"etag": validator.etag, "last_modified": validator.last_modified}
            values = state | {"article_url_pattern": source.article_url_pattern}
            SourceValidator.objects.update_or_create(newspaper_id=newspaper, url=url, defaults=values)
        else:
            SourceValidator.objects.filter(newspaper_id=newspaper, url=url).delete()


def tidy_links() -> None:
    """Delete links whose refusal has ended: if a source lists them again, they count as new.

    The other links of a newspaper that was merged go to the one that has its articles now.
    """
    PendingLink.objects.filter(refused_until__lte=timezone.now()).delete()
    for newspaper in Newspaper.objects.exclude(merged_into=None):
        there = PendingLink.objects.filter(newspaper=newspaper.current).values("key")
        PendingLink.objects.filter(newspaper=newspaper).exclude(key__in=there).update(newspaper=newspaper.current)


def forget(newspaper_ids: Sequence[int]) -> None:
    """Delete these newspapers' waiting and refused links, and the states of their sources."""
    PendingLink.objects.filter(newspaper_id__in=newspaper_ids).delete()
    SourceValidator.objects.filter(newspaper_id__in=newspaper_ids).delete()


def _of(link: ArticleLink) -> models.QuerySet[PendingLink]:
    return PendingLink.objects.filter(newspaper_id=link.source.newspaper_id, key=link.key)


def _link(source: Source, row: PendingLink) -> ArticleLink:
    listed = None
    if row.published is not None:
        time = possible_time(row.published_time, row.published)
        # Feeds, sitemaps and lists give dates; links of each are a kind.
        listed = ListedDate(row.published, time, in_sitemap=row.kind == ArticleURL.Kind.PAGE)
    return ArticleLink(
        url=row.url,
        published=listed,
        headline=row.headline,
        language=row.language,
        feed_entry=bytes(row.feed_entry),
        source=source,
        kind=ArticleURL.Kind(row.kind),
        written_key=row.key,
    )
