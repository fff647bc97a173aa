"""The links that a crawl has yet to visit, those it refused, and the states of sources: the one writer of both.

A link is written down before it is visited and taken out when its article is stored. Whatever ends a crawl, the next
one visits what waits, and nothing that was dealt with.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import models
from django.utils import timezone

from articles.models import ArticleURL
from articles.storage import ingest
from crawlers.items import ArticleLink, Source, Validator
from crawlers.models import PendingLink, SourceValidator

# Rows handled with one query.
BATCH = 500


@dataclass(frozen=True, slots=True)
class Sorted:
    """Links by what is to be done: `new` are written down and to be visited; by their keys."""

    new: dict[UUID, ArticleLink]
    known: set[UUID]
    refused: set[UUID]


def sort_links(source: Source, links: Sequence[ArticleLink]) -> Sorted:
    """Write down the links that are neither stored nor refused, and return them; up to BATCH links.

    Of two spellings of one URL the first counts.
    """
    by_key = {link.key: link for link in reversed(links)}
    known_urls = ingest.known_urls([link.url for link in by_key.values()])
    known = {key for key, link in by_key.items() if link.url in known_urls}
    rows = PendingLink.objects.filter(newspaper_id=source.newspaper_id, key__in=by_key.keys() - known)
    now = timezone.now()
    refused = set(rows.filter(refused_until__gt=now).values_list("key", flat=True))
    rows.filter(refused_until__lte=now).update(refused_until=None, tries=0)
    new = {key: by_key[key] for key in reversed(by_key) if key not in known and key not in refused}
    PendingLink.objects.bulk_create([_row(key, link) for key, link in new.items()], ignore_conflicts=True)
    return Sorted(new, known, refused)


def waiting_links(source: Source, after: int = 0) -> list[tuple[int, ArticleLink]]:
    """Return the next of the newspaper's links that wait since an earlier crawl, by their numbers, the oldest first."""
    rows = PendingLink.objects.filter(newspaper_id=source.newspaper_id, refused_until=None, pk__gt=after)
    return [
        (row.pk, ArticleLink(source, row.url, ArticleURL.Kind(row.kind), row.published, row.key))
        for row in rows.order_by("pk")[:BATCH]
    ]


def settle(link: ArticleLink) -> None:
    """Forget a link whose article is stored."""
    _of(link).delete()


def refuse(link: ArticleLink, reason: str, *, days: float) -> None:
    """Leave a link alone for so many days: another visit would find the same."""
    until = timezone.now() + datetime.timedelta(days=days)
    _of(link).update(reason=reason, refused_until=until)


def postpone(link: ArticleLink, reason: str, *, max_tries: int, days: float) -> None:
    """Let a link wait for the next crawl, for a reason that may pass; after so many tries refuse it."""
    for row in _of(link):
        row.tries += 1
        row.reason = reason
        if row.tries >= max_tries:
            row.refused_until = timezone.now() + datetime.timedelta(days=days)
        row.save()


def stored_validators(source: Source) -> dict[str, Validator]:
    """Return the states of the newspaper's sources by URL, of those that were read by its present pattern."""
    rows = SourceValidator.objects.filter(
        newspaper_id=source.newspaper_id, article_url_pattern=source.article_url_pattern
    )
    return {row.url: Validator(row.url, row.etag, row.last_modified) for row in rows}


def store_validators(source: Source, validators: Sequence[Validator]) -> None:
    """Keep the states of sources whose links are all written down; one without any state is forgotten."""
    for validator in validators:
        rows = SourceValidator.objects.filter(newspaper_id=source.newspaper_id, url=validator.url)
        if validator.etag or validator.last_modified:
            rows.update_or_create(
                newspaper_id=source.newspaper_id,
                url=validator.url,
                defaults={
                    "article_url_pattern": source.article_url_pattern,
                    "etag": validator.etag,
                    "last_modified": validator.last_modified,
                },
            )
        else:
            rows.delete()


def tidy_links() -> None:
    """Forget links that were refused long enough ago: named again, they are as good as new."""
    PendingLink.objects.filter(refused_until__lte=timezone.now()).delete()


def forget(newspaper_ids: Sequence[int]) -> None:
    """Forget all that waits, was refused or is known of the sources of these newspapers."""
    PendingLink.objects.filter(newspaper_id__in=newspaper_ids).delete()
    SourceValidator.objects.filter(newspaper_id__in=newspaper_ids).delete()


def _of(link: ArticleLink) -> models.QuerySet[PendingLink]:
    return PendingLink.objects.filter(newspaper_id=link.source.newspaper_id, key=link.key)


def _row(key: UUID, link: ArticleLink) -> PendingLink:
    return PendingLink(
        newspaper_id=link.source.newspaper_id, key=key, url=link.url, kind=link.kind, published=link.published
    )
