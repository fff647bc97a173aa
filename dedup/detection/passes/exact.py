"""The exact pass: the same text, ignoring case, punctuation and typography, on any day, in any newspaper."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, ClassVar

from dedup.declarations import Finds, setting
from dedup.detection.article_sql import article_sql, scope_parameters
from dedup.detection.passes.base import Connection, Explanation, PassConfig, Reach
from dedup.detection.passes.grouping import counted, grouped_candidates
from dedup.detection.types import Candidate, Tally, Window

# A text that comes back under other headlines after so many days is page text, not a story.
LEFTOVER_HEADLINES = 3
LEFTOVER_DAYS = 30

# The step "row_number() OVER (PARTITION BY homogenised content)" of the Skoli study, over 128-bit digests. With OFFSET
# 0, only the texts that several articles have are measured; otherwise all are read for it.
_SQL = article_sql(
    """
WITH compared AS (
    SELECT {article.digest} AS digest, id, date, newspaper_id
    FROM {articles} AS article
    WHERE date <= %(last_day)s AND {article.in_newspapers}
      AND (%(only)s::uuid IS NULL OR {article.digest} = %(only)s)
), counted AS (
    SELECT digest, id, date, count(*) OVER (PARTITION BY digest) AS articles
    FROM compared
    WHERE digest IS NOT NULL
)
SELECT counted.digest, measured.headline, counted.id, counted.date
FROM counted
CROSS JOIN LATERAL (
    SELECT char_length({article.text}) AS characters,
           concat_ws(' ', article.newspaper_id, counted.date, article.normalized_title) AS headline
    FROM {articles} AS article
    WHERE article.id = counted.id
    OFFSET 0
) AS measured
WHERE counted.articles > 1 AND measured.characters >= %(minimum_characters)s
ORDER BY counted.digest, counted.date, counted.id
""",
    "article",
)
_TWO_SQL = article_sql(
    """
SELECT {article.digest}, char_length({article.text})
FROM {articles} AS article
WHERE id = ANY (%(ids)s)
ORDER BY id
""",
    "article",
)


@dataclass(frozen=True, slots=True)
class ExactConfig(PassConfig):
    """Settings of the exact pass."""

    minimum_characters: int = setting(
        40,
        range=(1, 10_000),
        unit="characters of normalised text",
        help="Shorter texts, such as “comment now” or “page not found”, are never matched.",
        source="the South African corpus: extraction of very short articles often returns other text",
        label="Shortest text",
        finds=Finds.MORE_IF_LOWER,
    )
    most_headlines: int = setting(
        3,
        range=(1, 1000),
        unit="headlines in one newspaper",
        help="A text that one newspaper has under more headlines than this is probably a remnant of extraction: "
        "its pairs are similar, not duplicates.",
        source="press releases of which only “About …” was extracted: 30 headlines over one text",
        label="Most headlines over one text",
        finds=Finds.SAME,
    )
    largest_group: int = setting(
        50,
        range=(2, 1000),
        unit="articles",
        help="In a larger group of equal texts, each article is paired only with the first one, not with all others.",
        source="50 equal texts already make 1,225 pairs",
        label="Equal texts that are all paired",
        finds=Finds.MORE_IF_HIGHER,
    )


class ExactPass:
    """Pairs with equal normalised text."""

    name: ClassVar[str] = "exact"
    label: ClassVar[str] = "Same text"
    proposes: ClassVar[str] = "the same text on any day in any newspaper"
    by_days: ClassVar[bool] = False
    reach: ClassVar[Reach] = Reach.STORE
    compares_texts: ClassVar[bool] = True
    config_class: ClassVar[type[PassConfig]] = ExactConfig

    def find(
        self, window: Window, config: ExactConfig, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield each pair once, with score 1."""
        with connection.cursor() as cursor:
            cursor.execute(
                _SQL, {**scope_parameters(window), "minimum_characters": config.minimum_characters, "only": None}
            )
            yield from counted(_pairs(cursor, window, config), tally)

    def explain(
        self, left: int, right: int, window: Window, config: ExactConfig, connection: Connection
    ) -> Explanation:
        """Return why the two articles are proposed or not."""
        parameters = {**scope_parameters(window), "minimum_characters": config.minimum_characters}
        with connection.cursor() as cursor:
            cursor.execute(_TWO_SQL, {**parameters, "ids": [left, right]})
            (digest, characters), (other, _) = cursor.fetchall()
            if digest is None or digest != other:
                return Explanation(False, "The two texts are not the same, word for word.", 0.0)
            if characters < config.minimum_characters:
                least = config.minimum_characters
                why = f"The texts are equal, but have {characters:,} characters; at least {least:,} are needed."
                return Explanation(False, why, 1.0)
            cursor.execute(_SQL, {**parameters, "only": digest})
            rows = cursor.fetchall()
        every = replace(window, first_day=date.min)
        for found in _pairs(rows, every, config):
            if (found.left, found.right) == (left, right):
                return Explanation(True, "The two texts are the same, word for word.", 1.0, evidence=found.evidence)
        why = (
            f"{len(rows):,} articles have this text. In a group of more than {config.largest_group:,}, each article is "
            "paired only with the first one."
        )
        return Explanation(False, why, 1.0)


def _pairs(rows: Iterable[Any], window: Window, config: ExactConfig) -> Iterator[Candidate]:
    return grouped_candidates(
        ExactPass.name,
        rows,
        window=window,
        largest=config.largest_group,
        star=True,
        evidence=partial(headline_counts, most=config.most_headlines),
    )


def headline_counts(texts: Sequence[str], *, most: int) -> dict[str, Any]:
    """Return how many articles share a text, and the highest number of headlines that one newspaper has over it.

    `texts` have the newspaper, the day and the headline of each article. What is probably a remnant of extraction also
    has the number of its headlines as `leftover`: a text with more than `most` of them in one newspaper, or with
    LEFTOVER_HEADLINES over more than LEFTOVER_DAYS in any newspapers. A story is told under many headlines, too, but
    within days.
    """
    rows = [text.split(" ", 2) for text in texts]
    newspapers = Counter(newspaper for newspaper, _ in {(newspaper, title) for newspaper, _, title in rows})
    headlines = max(newspapers.values())
    noted = {"articles": len(texts), "headlines": headlines}
    if headlines > most:
        return noted | {"leftover": headlines}
    everywhere = len({title for _, _, title in rows})
    days = [date.fromisoformat(day) for _, day, _ in rows]
    late = (max(days) - min(days)).days > LEFTOVER_DAYS
    return noted | {"leftover": everywhere} if everywhere >= LEFTOVER_HEADLINES and late else noted
