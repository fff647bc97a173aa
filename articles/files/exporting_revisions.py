"""Writes the versions of articles whose pages were fetched again."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator
from typing import Any

from django.db import transaction

from articles.files.exporting import ExportedRow
from articles.models import Article, ArticleRevision

COLUMNS = (
    *("article", "number", "kind", "seen_at", "updated_at", "headline", "content", "note"),
    *("url", "newspaper", "date", "language"),
)
# The article itself, which comes before its revisions.
FIRST = "first"
_AT_ONCE = 200


def versions_rows(
    *,
    since: datetime.date | None = None,
    until: datetime.date | None = None,
    newspaper_ids: Collection[int] | None = None,
) -> Iterator[ExportedRow]:
    """Yield the versions of the articles that have a revision, by day, article and number, as of one moment.

    Number 0 is the article as it was first stored. Times are in ISO 8601.
    """
    articles = Article.objects.in_scope(since, until, newspaper_ids)
    found = ArticleRevision.objects.filter(article__in=articles.values("pk")).defer("body")
    found = found.select_related("article__newspaper").order_by("article__date", "article", "number")
    with transaction.atomic():
        for each in found.iterator(_AT_ONCE):
            if each.number == 1:
                yield ExportedRow(_first(each.article), [])
            yield ExportedRow(_revision(each), [])


def _first(article: Article) -> dict[str, Any]:
    return _of(article) | {
        "number": 0,
        "kind": FIRST,
        "seen_at": article.stored_at.isoformat(),
        "headline": article.headline,
        "content": article.content,
    }


def _revision(each: ArticleRevision) -> dict[str, Any]:
    return _of(each.article) | {
        "number": each.number,
        "kind": each.kind,
        "seen_at": each.seen_at.isoformat(),
        "updated_at": each.updated_at.isoformat() if each.updated_at else None,
        "headline": each.headline,
        "content": each.content,
        "note": each.note,
        "url": each.url,
    }


def _of(article: Article) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {
        "article": article.pk,
        "note": "",
        "url": article.url,
        "newspaper": article.newspaper.name,
        "date": article.date.isoformat(),
        "language": article.language,
    }
