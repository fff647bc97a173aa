"""Report `exact`: articles with the same headline, the same text, or both, compared as stored and normalised.

It counts like a study of a Google Alerts feed, in which 8.63% of the items repeated a headline or a teaser: groups by
title, by description and by both, and what the study's retention rule would drop.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, LiteralString
from uuid import UUID

from django.db import connection, transaction

from articles.normalization import NORMALIZER_VERSION
from articles.normalization.text import normalize_text, text_digest
from articles.normalization.titles import normalize_title
from articles.storage.incoming import IncomingArticle
from articles.storage.newspapers import newspaper_host
from dedup.declarations import Settings
from dedup.detection.article_sql import article_sql
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Report
from dedup.reports.columns import COUNT, SHARE, TEXT, Table, listed, share

Form = Literal["exact", "normalised"]

# The articles in one form: digests of their headlines and texts. An empty headline or text never matches.
_ITEMS_SQL = """
CREATE TEMPORARY TABLE dedup_item (id bigint, newspaper text, date date, title uuid, text uuid) ON COMMIT DROP
"""
# Room for a digest of every article, so that a million of them are grouped without files.
_MEMORY_SQL = "SET LOCAL work_mem = '64MB'"
# Equal contents have equal digests if the same rules normalised them; an empty text has none. So only texts that come
# twice once normalised are unpacked. The index article_text_digest has the digests in order.
_EXACT_SQL = article_sql(
    """
INSERT INTO dedup_item
SELECT id, newspaper_id, date, CASE WHEN headline <> '' THEN md5(headline)::uuid END,
       CASE WHEN again.text_digest IS NOT NULL OR article.text_digest IS NULL OR normalizer_version <> %(normalizer)s
            THEN encode(substring(sha256(convert_to(content, 'UTF8')) FOR 16), 'hex')::uuid END
FROM {articles} AS article
LEFT JOIN (
    SELECT text_digest FROM {articles} WHERE text_digest IS NOT NULL GROUP BY text_digest HAVING count(*) > 1
) AS again ON again.text_digest = article.text_digest
WHERE {article.in_scope}
""",
    "article",
)
_NORMALISED_SQL = article_sql(
    """
INSERT INTO dedup_item
SELECT id, newspaper_id, date, CASE WHEN normalized_title <> '' THEN md5(normalized_title)::uuid END, text_digest
FROM {articles} AS article
WHERE {article.in_scope}
""",
    "article",
)
_STORED: tuple[tuple[Form, LiteralString], ...] = (("exact", _EXACT_SQL), ("normalised", _NORMALISED_SQL))
# The articles of a file, which is read only once, in both forms.
_FILE_SQL = """
CREATE TEMPORARY TABLE dedup_file_item (form text, id bigint, newspaper text, date date, title uuid, text uuid)
ON COMMIT DROP
"""
_COPY_SQL = "COPY dedup_file_item (form, id, newspaper, date, title, text) FROM STDIN"
_OF_FILE_SQL = """
INSERT INTO dedup_item SELECT id, newspaper, date, title, text FROM dedup_file_item WHERE form = %(form)s
"""
# Only the articles that may be copies of another one of their newspaper are put in order.
_COUNT_SQL = """
WITH title AS MATERIALIZED (
    SELECT title AS title_again, count(*) AS articles FROM dedup_item
    WHERE title IS NOT NULL GROUP BY title HAVING count(*) > 1
), text AS MATERIALIZED (
    SELECT text AS text_again, count(*) AS articles FROM dedup_item
    WHERE text IS NOT NULL GROUP BY text HAVING count(*) > 1
), day AS (
    SELECT newspaper, date, title FROM dedup_item
    WHERE title IS NOT NULL GROUP BY newspaper, date, title HAVING count(*) > 1
), found AS MATERIALIZED (
    SELECT item.*, text_again, day.title AS same_day
    FROM dedup_item AS item
    LEFT JOIN text ON text_again = item.text
    LEFT JOIN day USING (newspaper, date, title)
    WHERE text_again IS NOT NULL OR day.title IS NOT NULL
), copy AS (
    SELECT title IS NOT NULL AND row_number() OVER (PARTITION BY newspaper, date, title ORDER BY id) > 1
               OR text IS NOT NULL AND row_number() OVER (PARTITION BY newspaper, date, text ORDER BY id) > 1
               AS of_the_day,
           title IS NOT NULL AND text IS NOT NULL
               AND row_number() OVER (PARTITION BY newspaper, title, text ORDER BY date, id) > 1 AS of_any_day
    FROM found
), both_again AS (
    SELECT count(*) AS articles FROM found
    WHERE title IS NOT NULL AND text_again IS NOT NULL GROUP BY title, text HAVING count(*) > 1
)
SELECT (SELECT count(*) FROM dedup_item),
       (SELECT count(*) FROM title),
       (SELECT coalesce(sum(articles), 0)::bigint FROM title),
       (SELECT count(*) FROM text),
       (SELECT coalesce(sum(articles), 0)::bigint FROM text),
       (SELECT count(*) FROM both_again),
       (SELECT coalesce(sum(articles), 0)::bigint FROM both_again),
       (SELECT count(*) FROM found JOIN title ON title_again = found.title WHERE text_again IS NOT NULL),
       (SELECT count(*) FROM copy WHERE of_the_day),
       (SELECT count(*) FROM copy WHERE of_any_day AND NOT of_the_day)
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


def _rows(articles: Iterable[IncomingArticle]) -> Iterator[tuple[Any, ...]]:
    for number, article in enumerate(articles):
        newspaper = article.newspaper or newspaper_host(article.url)
        text = UUID(bytes=hashlib.sha256(article.content.encode()).digest()[:16])
        yield "exact", number, newspaper, article.date, _digest(article.headline), text
        title = _digest(normalize_title(article.headline, [newspaper]))
        yield "normalised", number, newspaper, article.date, title, text_digest(normalize_text(article.content))


def _digest(title: str) -> UUID | None:
    return UUID(bytes=hashlib.md5(title.encode(), usedforsecurity=False).digest()) if title else None


def _counts(cursor: Any, fill: LiteralString, parameters: Mapping[str, Any]) -> ExactCopies:
    """Count what a statement puts into the temporary table of articles in one form. Call it in a transaction."""
    cursor.execute(_MEMORY_SQL)
    cursor.execute(_ITEMS_SQL)
    cursor.execute(fill, parameters)
    cursor.execute("ANALYZE dedup_item")
    cursor.execute(_COUNT_SQL)
    articles, *groups, both, same_day, other_day = cursor.fetchone()
    cursor.execute("DROP TABLE dedup_item")
    headline, text, together = (Groups(*groups[start : start + 2]) for start in (0, 2, 4))
    repeats = headline.articles + text.articles - both
    return ExactCopies(articles, headline, text, together, repeats, same_day, other_day)


class ExactReport(Report, name="exact", label="Exact repeats", after_run=True):
    """Counts articles with the same headline, the same text, or both: as stored, and ignoring case, punctuation and the
    newspaper's name.
    """

    def result(self, scope: Scope, options: Settings) -> dict[Form, ExactCopies]:  # noqa: ARG002 - it has none
        """Count the stored articles by form: "exact", as they are, and "normalised", as passes compare them."""
        asked = {**scope.bounds(), "normalizer": NORMALIZER_VERSION}
        with transaction.atomic(), connection.cursor() as cursor:
            return {form: _counts(cursor, statement, asked) for form, statement in _STORED}

    def result_of(self, articles: Iterable[IncomingArticle], options: Settings) -> dict[Form, ExactCopies]:  # noqa: ARG002
        """Count the rows of a file. Each counts, even if its URL appears twice."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_FILE_SQL)
            with cursor.copy(_COPY_SQL) as copy:
                for row in _rows(articles):
                    copy.write_row(row)
            found = {form: _counts(cursor, _OF_FILE_SQL, {"form": form}) for form, _ in _STORED}
            cursor.execute("DROP TABLE dedup_file_item")
        return found

    def summary(self, result: dict[Form, ExactCopies]) -> str:
        """Return a sentence with the number of repeats."""
        exact, normalised = result["exact"], result["normalised"]
        if not exact.articles:
            return "There are no articles to count."
        return (
            f"{exact.any:,} of {exact.articles:,} articles ({exact.any / exact.articles:.2%}) share a headline or text "
            f"with another article as stored; {normalised.any:,} ({normalised.any / exact.articles:.2%}) do once "
            "normalised."
        )

    def tables(self, result: dict[Form, ExactCopies]) -> list[Table]:
        """Return a table for each form, with the same rows."""
        titles: dict[Form, str] = {"exact": "As stored", "normalised": "Normalised"}
        counts = (("groups", "Groups", COUNT), ("articles", "Articles", COUNT), ("share", "Share", SHARE))
        columns = (("repeated", "Repeated", TEXT), *counts)
        return [listed(form, titles[form], _repeated(copies), *columns) for form, copies in result.items()]


def _repeated(copies: ExactCopies) -> Iterator[tuple[str, int | None, int, float | None]]:
    """Yield what is repeated, in how many groups and articles, and their share of all."""
    for words, groups, articles in (
        ("the same headline", copies.headline.groups, copies.headline.articles),
        ("the same text", copies.text.groups, copies.text.articles),
        ("the same headline and text", copies.both.groups, copies.both.articles),
        ("any of these", None, copies.any),
        ("copies in one newspaper on one day", None, copies.same_day),
        ("the same headline and text in one newspaper on a later day", None, copies.other_day),
    ):
        yield words, groups, articles, share(articles, copies.articles)
