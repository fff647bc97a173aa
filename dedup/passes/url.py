"""The url pass: articles of one newspaper with the same URL, once tracking parameters are removed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dedup.article_sql import article_sql, scope_parameters
from dedup.declarations import Finds, setting
from dedup.passes.base import Connection, PassConfig, Reach
from dedup.passes.grouping import counted, grouped_candidates, shared_text
from dedup.types import Candidate, Tally, Window

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
