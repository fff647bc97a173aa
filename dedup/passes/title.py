"""The title pass: the same headline; in the same newspaper on the same day, unless a profile looks farther."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dedup.passes.base import Connection, PassConfig, Reach, setting
from dedup.passes.grouping import counted, near_candidates, scope_parameters
from dedup.types import Candidate, Tally, Window

# Relies on the index article_title for a few days and on article_date for many.
_SQL = """
WITH counted AS (
    SELECT CASE WHEN %(across_newspapers)s THEN 0 ELSE newspaper_id END AS place, normalized_title, date, id,
           count(*) OVER (
               PARTITION BY CASE WHEN %(across_newspapers)s THEN 0 ELSE newspaper_id END, normalized_title
           ) AS articles
    FROM articles_article
    WHERE date BETWEEN %(first_day)s - %(days_apart)s AND %(last_day)s
      AND (%(newspaper_ids)s::bigint[] IS NULL OR newspaper_id = ANY (%(newspaper_ids)s))
      AND (cardinality(string_to_array(normalized_title, ' ')) >= %(minimum_words)s
           OR normalized_title ~ %(unspaced)s)
)
SELECT place || ' ' || normalized_title, normalized_title, id, date
FROM counted
WHERE articles > 1
ORDER BY place, normalized_title, date, id
"""


# Thai, Lao, Burmese, Khmer, kana and Han: written without blanks, two characters are counted as a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"


@dataclass(frozen=True, slots=True)
class TitleConfig(PassConfig):
    """Settings of the title pass."""

    days_apart: int = setting(
        0,
        range=(0, 36_500),
        unit="days, inclusive",
        help="Two articles are compared when their days of publication are at most this far apart; 0 is the same day.",
        source="Skoli: the same headline on the same day in the same newspaper",
    )
    across_newspapers: bool = setting(
        False,
        help="Whether articles of different newspapers are compared too.",
        unit="yes or no",
        source="Skoli: the same headline on the same day in the same newspaper",
    )
    minimum_words: int = setting(
        3,
        range=(1, 20),
        unit="words",
        help="A normalised headline with fewer words is never matched.",
        source="Media Cloud's 2018 rules want 5; 3 keeps the short headlines of agencies",
    )
    largest_group: int = setting(
        25,
        range=(2, 1000),
        unit="articles",
        help="Where more articles than this have the same headline within these days, it is a rubric and is left out.",
        source="Media Cloud's 2018 rules, which refuse groups of more than 25",
    )


class TitlePass:
    """Pairs whose normalised headlines are equal, within a newspaper and a day or as far as the settings say."""

    name: ClassVar[str] = "title"
    label: ClassVar[str] = "Same headline"
    by_days: ClassVar[bool] = True
    reach: ClassVar[Reach] = Reach.WINDOW
    config_class: ClassVar[type[PassConfig]] = TitleConfig

    def find(
        self, window: Window, config: TitleConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once, with score 1."""
        parameters = {
            "days_apart": config.days_apart,
            "across_newspapers": config.across_newspapers,
            "minimum_words": config.minimum_words,
            "unspaced": f"[{_UNSPACED}]{{{2 * config.minimum_words}}}",
        }
        with connection.cursor() as cursor:
            cursor.execute(_SQL, {**scope_parameters(window), **parameters})
            found = near_candidates(
                self.name, cursor, window=window, largest=config.largest_group, days_apart=config.days_apart
            )
            yield from counted(found, tally)
