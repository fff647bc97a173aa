"""Reads the rows that export_articles wrote: each is the article as it was, so nothing in them is interpreted."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping
from typing import Any

from articles.fields import FOUND, NAMES, Kind
from articles.files.extra_columns import extra_columns
from articles.files.records import Record, kind_of
from articles.models import Article, ArticleURL
from articles.normalization.times import parse_date
from articles.normalization.values import parse_day
from articles.storage.incoming import (
    Details,
    IncomingArticle,
    RejectedArticleError,
    SeenHeadline,
    SeenURL,
    url_fault,
)

_FLAGS = {"true": True, "false": False, "": False}


def restored_article(record: Record, newspaper: str) -> IncomingArticle:
    """Return the article in a row of an export; `newspaper` is used if somebody emptied that column.

    Columns that the version that wrote it did not have yet count as empty. Raises RejectedArticleError and
    UnreadableDayError. The checks of ingest come later.
    """
    values = record.values
    own = [name for name in NAMES if name in values]
    return IncomingArticle(
        date=parse_day(_text(values, "date")),
        headline=_text(values, "headline"),
        url=_text(values, "url"),
        content=_text(values, "content"),
        newspaper=_text(values, "newspaper") or newspaper,
        external_id=_text(values, "external_id"),
        kind=ArticleURL.Kind.IMPORT,
        other_urls=list(_urls(values)),
        details=_details(values),
        headlines=list(_headlines(values)),
        extra_columns=extra_columns(record.members(), own) if record.repeated or len(own) < len(values) else "",
        restored=True,
    )


def _details(values: Mapping[str, object]) -> Details:
    source = _text(values, "date_source") if "date_source" in values else Article.DateSource.IMPORT
    if source not in ("", *Article.DateSource.values):
        known = ", ".join(Article.DateSource.values)
        raise RejectedArticleError(f"date_source is {source[:50]!r}, not one of {known}")
    written = _text(values, "published_at")
    time = parse_date(written, "published_at")[1] if written else None
    found: dict[str, Any] = {
        field.name: (_flag if field.kind == Kind.YES_NO else _text)(values, field.name) for field in FOUND
    }
    return Details(date_source=source, **found).with_time(time)


def _urls(values: Mapping[str, object]) -> Iterator[SeenURL]:
    for item_ in _objects(values, "urls"):
        url, kind = _text(item_, "url"), _text(item_, "kind")
        if fault := url_fault(url):
            raise RejectedArticleError(f"urls: {fault}")
        if kind not in ArticleURL.Kind.values:
            known = ", ".join(ArticleURL.Kind.values)
            raise RejectedArticleError(f"urls: kind is {kind[:50]!r}, not one of {known}")
        yield SeenURL(url, ArticleURL.Kind(kind))


def _headlines(values: Mapping[str, object]) -> Iterator[SeenHeadline]:
    for item_ in _objects(values, "headlines"):
        headline, url, day = _text(item_, "headline"), _text(item_, "url"), _text(item_, "date")
        if fault := url_fault(url):
            raise RejectedArticleError(f"headlines: {fault}")
        try:
            yield SeenHeadline(headline, datetime.date.fromisoformat(day), url)
        except ValueError as error:
            raise RejectedArticleError(f"headlines: date {day[:50]!r} is not a day, such as 2024-04-03") from error


def _text(values: Mapping[str, object], name: str) -> str:
    """Return a text as it is; empty if it is missing."""
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RejectedArticleError(f"{name} is {kind_of(value)}, not text")
    return value


def _flag(values: Mapping[str, object], name: str) -> bool:
    """Return a truth value. A spreadsheet that saves a CSV file writes TRUE and FALSE."""
    value = values.get(name)
    written = "" if value is None else str(value).lower()
    if written not in _FLAGS:
        raise RejectedArticleError(f"{name} is {written[:50]!r}, not true or false")
    return _FLAGS[written]


def _objects(values: Mapping[str, object], name: str) -> list[dict[str, object]]:
    """Return a list that JSON lines hold as it is and a cell of CSV holds as JSON; empty if it is missing."""
    found: Any = values.get(name) or []
    try:
        found = json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError) as error:
        raise RejectedArticleError(f"{name} is not JSON; leave it as export_articles wrote it") from error
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise RejectedArticleError(f"{name} is not a list of objects; leave it as export_articles wrote it")
    return found
