"""The url pass: articles of one newspaper with the same URL, once tracking parameters are removed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dedup.declarations import Finds, setting
from dedup.detection.article_sql import article_sql, scope_parameters
from dedup.detection.passes.base import Connection, Explanation, PassConfig, Reach
from dedup.detection.passes.grouping import counted, grouped_candidates, shared_text
from dedup.detection.types import Candidate, Tally, Window

# Every URL of an article counts: its own, the feed's, the redirect's target, the canonical one.
# A URL without a path is a front page, which many articles may name. Groups by hash, in one scan.
_SQL = article_sql(
    """
WITH seen AS (
    SELECT DISTINCT article.newspaper_id, known.normalized_url, article.id, article.date
    FROM {articles} AS article
    JOIN {article_urls} AS known ON known.article_id = article.id
    WHERE article.date <= %(last_day)s
      AND {article.in_newspapers}
      AND known.normalized_url ~ '//[^/]+/.'
), counted AS (
    SELECT *, count(*) OVER (PARTITION BY newspaper_id, normalized_url) AS articles FROM seen
)
SELECT newspaper_id || ' ' || normalized_url, normalized_url, id, date
FROM counted
WHERE articles > 1
ORDER BY newspaper_id, normalized_url, date, id
""",
    "article",
)

# What both articles have, with the newspaper of each. By the index on the article's URLs.
_SHARED_SQL = article_sql(
    """
SELECT known.normalized_url, known.normalized_url ~ '//[^/]+/.'
FROM {article_urls} AS known
WHERE known.article_id = ANY (%(ids)s)
GROUP BY known.normalized_url
HAVING count(DISTINCT known.article_id) = 2
ORDER BY known.normalized_url
"""
)
_NEWSPAPERS_SQL = article_sql("SELECT DISTINCT newspaper_id FROM {articles} WHERE id = ANY (%(ids)s)")
# By the index article_url_normalized.
_HOLDERS_SQL = article_sql(
    """
SELECT count(DISTINCT article.id)
FROM {articles} AS article
JOIN {article_urls} AS known ON known.article_id = article.id
WHERE article.date <= %(last_day)s
  AND article.newspaper_id = %(newspaper_id)s
  AND md5(known.normalized_url) = md5(%(url)s) AND known.normalized_url = %(url)s
"""
)


@dataclass(frozen=True, slots=True)
class UrlConfig(PassConfig):
    """Settings of the url pass."""

    largest_group: int = setting(
        25,
        range=(2, 1000),
        unit="articles",
        help="A normalised URL shared by more articles than this is ignored.",
        source="Media Cloud's 2018 rules, which refuse headlines shared by more than 25 articles",
        label="Most articles under one address",
        finds=Finds.MORE_IF_HIGHER,
    )


class UrlPass:
    """Pairs within a newspaper whose URLs have the same lossy normal form, on any day."""

    name: ClassVar[str] = "url"
    label: ClassVar[str] = "Same URL"
    proposes: ClassVar[str] = "the same URL in one newspaper, once tracking parameters are removed"
    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.STORE
    compares_texts: ClassVar[bool] = False
    config_class: ClassVar[type[PassConfig]] = UrlConfig

    def find(
        self, window: Window, config: UrlConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once, with score 1; a pair that shares several URLs has the first as evidence."""
        with connection.cursor() as cursor:
            cursor.execute(_SQL, scope_parameters(window))
            found = grouped_candidates(
                self.name, cursor, window=window, largest=config.largest_group, star=False, evidence=shared_text
            )
            seen: set[tuple[int, int]] = set()
            for candidate in counted(found, tally):
                if (candidate.left, candidate.right) not in seen:
                    seen.add((candidate.left, candidate.right))
                    yield candidate

    def explain(self, left: int, right: int, window: Window, config: UrlConfig, connection: Connection) -> Explanation:
        """Return why the two articles are proposed or not."""
        with connection.cursor() as cursor:
            cursor.execute(_NEWSPAPERS_SQL, {"ids": [left, right]})
            newspapers = [newspaper for (newspaper,) in cursor]
            cursor.execute(_SHARED_SQL, {"ids": [left, right]})
            shared = cursor.fetchall()
            if not shared:
                return Explanation(False, "They share no URL, once tracking parameters are removed.", 0.0)
            if len(newspapers) > 1:
                why = "They share a URL but are of two newspapers; this pass compares within one."
                return Explanation(False, why, 0.0)
            stories = [url for url, has_path in shared if has_path]
            if not stories:
                return Explanation(False, "They share only the URL of a front page, which names no article.", 0.0)
            holders = {}
            for url in stories:
                parameters = {**scope_parameters(window), "newspaper_id": newspapers[0], "url": url}
                cursor.execute(_HOLDERS_SQL, parameters)
                [holders[url]] = cursor.fetchone()
        return _explained(holders, config)


def _explained(holders: dict[str, int], config: UrlConfig) -> Explanation:
    """Return the explanation for the URLs that two articles share, each with the number of articles that have it."""
    fewest = min(holders, key=lambda url: (holders[url] > config.largest_group, url))
    evidence = {"shared": fewest, "articles": holders[fewest]}
    if holders[fewest] <= config.largest_group:
        return Explanation(True, f"Both have the URL {fewest}.", 1.0, evidence=evidence)
    why = (
        f"{holders[fewest]:,} articles have the URL {fewest} that they share. URLs of more than "
        f"{config.largest_group:,} articles are ignored."
    )
    return Explanation(False, why, 0.0)
