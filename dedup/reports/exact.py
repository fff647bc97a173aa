"""Report `exact`: articles with the same headline, the same text, or both, compared as stored and normalised.

It counts like a study of a Google Alerts feed, in which 8.63% of the items repeated a headline or a teaser: groups by
title, by description and by both, and what the study's retention rule would drop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Literal

from django.db import connection, transaction

from articles.normalization.text import normalize_text, text_digest
from articles.normalization.titles import normalize_title
from articles.storage.incoming import IncomingArticle
from articles.storage.newspapers import newspaper_host
from dedup.article_sql import article_sql
from dedup.declarations import Settings
from dedup.reports.base import Cell, Column, ColumnType, Report, Table
from dedup.runs.scope import Scope

Form = Literal["exact", "normalised"]

_ITEMS_SQL = """
CREATE TEMPORARY TABLE dedup_item (form text, id bigint, newspaper text, date date, title text, text bytea)
ON COMMIT DROP
"""
# One scan of the articles. An empty headline or text never matches.
_STORED_SQL = article_sql(
    """
INSERT INTO dedup_item
SELECT form, id, newspaper_id, date, title, text
FROM {articles} AS article,
     LATERAL (VALUES
         ('exact', NULLIF(headline, ''), sha256(convert_to(content, 'UTF8'))),
         ('normalised', NULLIF(normalized_title, ''), uuid_send(text_digest))
     ) AS forms (form, title, text)
WHERE (%(since)s::date IS NULL OR date >= %(since)s)
  AND (%(until)s::date IS NULL OR date <= %(until)s)
  AND {article.in_newspapers}
""",
    "article",
)
_COPY_SQL = "COPY dedup_item (form, id, newspaper, date, title, text) FROM STDIN"
_COUNT_SQL = """
WITH counted AS (
    SELECT form, title, text,
           title IS NOT NULL AND count(*) OVER (PARTITION BY form, title) > 1 AS title_again,
           text IS NOT NULL AND count(*) OVER (PARTITION BY form, text) > 1 AS text_again,
           title IS NOT NULL AND text IS NOT NULL
               AND count(*) OVER (PARTITION BY form, title, text) > 1 AS both_again,
           title IS NOT NULL
               AND row_number() OVER (PARTITION BY form, newspaper, date, title ORDER BY id) > 1
               OR text IS NOT NULL
               AND row_number() OVER (PARTITION BY form, newspaper, date, text ORDER BY id) > 1 AS copy_of_the_day,
           title IS NOT NULL AND text IS NOT NULL
               AND row_number() OVER (PARTITION BY form, newspaper, title, text ORDER BY date, id) > 1 AS copy
    FROM dedup_item
)
SELECT form,
       count(*),
       count(DISTINCT title) FILTER (WHERE title_again),
       count(*) FILTER (WHERE title_again),
       count(DISTINCT text) FILTER (WHERE text_again),
       count(*) FILTER (WHERE text_again),
       count(DISTINCT (title, text)) FILTER (WHERE both_again),
       count(*) FILTER (WHERE both_again),
       count(*) FILTER (WHERE title_again OR text_again),
       count(*) FILTER (WHERE copy_of_the_day),
       count(*) FILTER (WHERE copy AND NOT copy_of_the_day)
FROM counted
GROUP BY form
"""


@dataclass(frozen=True, slots=True)
class Groups:
    """The number of groups of two or more articles that share something, and of the articles in them."""

    groups: int
    articles: int


@dataclass(frozen=True, slots=True)
class ExactCopies:
    """The exact repeats among `articles`.

    `any` counts the articles whose headline or text another article has too. The study's retention rule drops
    `same_day`, copies in one newspaper on one day, and then `other_day`, later articles of one newspaper with the same
    headline and text. It keeps copies in other newspapers.
    """

    articles: int
    headline: Groups
    text: Groups
    both: Groups
    any: int
    same_day: int
    other_day: int

    @property
    def share(self) -> float:
        """Return the share of articles, 0..1, whose headline or text another article has too."""
        return self.any / self.articles if self.articles else 0.0


_NONE = ExactCopies(0, Groups(0, 0), Groups(0, 0), Groups(0, 0), 0, 0, 0)


def exact_copies(
    since: date | None = None, until: date | None = None, newspaper_ids: tuple[int, ...] | None = None
) -> dict[Form, ExactCopies]:
    """Return the counts by form: "exact", as the articles are stored, and "normalised", as passes compare them."""
    ids = None if newspaper_ids is None else list(newspaper_ids)
    with _items() as cursor:
        cursor.execute(_STORED_SQL, {"since": since, "until": until, "newspaper_ids": ids})
        return _counts(cursor)


def exact_copies_in(articles: Iterable[IncomingArticle]) -> dict[Form, ExactCopies]:
    """Return the counts of articles that need not be stored. Each counts, even if its URL appears twice."""
    with _items() as cursor:
        with cursor.copy(_COPY_SQL) as copy:
            for row in _rows(articles):
                copy.write_row(row)
        return _counts(cursor)


def _rows(articles: Iterable[IncomingArticle]) -> Iterator[tuple[Any, ...]]:
    for number, article in enumerate(articles):
        newspaper = article.newspaper or newspaper_host(article.url)
        text = hashlib.sha256(article.content.encode()).digest()
        yield "exact", number, newspaper, article.date, article.headline or None, text
        title = normalize_title(article.headline, [newspaper]) or None
        digest = text_digest(normalize_text(article.content))
        yield "normalised", number, newspaper, article.date, title, digest and digest.bytes


@contextmanager
def _items() -> Iterator[Any]:
    """Create the temporary table of the articles to count, and drop it afterwards."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_ITEMS_SQL)
        yield cursor
        cursor.execute("DROP TABLE dedup_item")


def _counts(cursor: Any) -> dict[Form, ExactCopies]:
    cursor.execute(_COUNT_SQL)
    found = {form: _copies(counts) for form, *counts in cursor.fetchall()}
    return {"exact": found.get("exact", _NONE), "normalised": found.get("normalised", _NONE)}


def _copies(counts: list[int]) -> ExactCopies:
    articles, *groups = counts[:7]
    headline, text, both = (Groups(*groups[start : start + 2]) for start in (0, 2, 4))
    return ExactCopies(articles, headline, text, both, *counts[7:])


class ExactReport(Report):
    """Exact repeats, as numbers and as shares of all articles."""

    name: ClassVar[str] = "exact"
    label: ClassVar[str] = "Exact repeats"
    help: ClassVar[str] = (
        "Counts articles with the same headline, the same text, or both: as stored, and ignoring case, punctuation "
        "and the newspaper's name."
    )
    options_class: ClassVar[type[Settings]] = Settings
    after_run: ClassVar[bool] = True

    def result(self, scope: Scope, options: Settings) -> dict[Form, ExactCopies]:  # noqa: ARG002 - it has none
        """Count the stored articles."""
        return exact_copies(scope.since, scope.until, scope.newspaper_ids)

    def result_of(self, articles: Iterable[IncomingArticle], options: Settings) -> dict[Form, ExactCopies]:  # noqa: ARG002
        """Count the rows of a file."""
        return exact_copies_in(articles)

    def says(self, result: dict[Form, ExactCopies]) -> str:
        """Return a sentence with the number of repeats."""
        exact, normalised = result["exact"], result["normalised"]
        if not exact.articles:
            return "There are no articles to count."
        return (
            f"{exact.any:,} of {exact.articles:,} articles ({exact.share:.2%}) share a headline or text with another "
            f"article as stored; {normalised.any:,} ({normalised.share:.2%}) do once normalised."
        )

    def tables(self, result: dict[Form, ExactCopies]) -> list[Table]:
        """Return a table for each form, with the same rows."""
        return [Table(form, _TITLES[form], _COLUMNS, tuple(_table_rows(copies))) for form, copies in result.items()]


_TITLES: dict[Form, str] = {"exact": "As stored", "normalised": "Normalised"}
_COLUMNS = (
    Column("repeated", "Repeated"),
    Column("groups", "Groups", ColumnType.COUNT),
    Column("articles", "Articles", ColumnType.COUNT),
    Column("share", "Share", ColumnType.SHARE),
)


def _table_rows(copies: ExactCopies) -> Iterator[tuple[Cell, ...]]:
    for words, groups, articles in (
        ("the same headline", copies.headline.groups, copies.headline.articles),
        ("the same text", copies.text.groups, copies.text.articles),
        ("the same headline and text", copies.both.groups, copies.both.articles),
        ("any of these", None, copies.any),
        ("copies in one newspaper on one day", None, copies.same_day),
        ("the same headline and text in one newspaper on a later day", None, copies.other_day),
    ):
        yield words, groups, articles, articles / copies.articles if copies.articles else None
