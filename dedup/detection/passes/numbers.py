"""The numbers pass: articles that have two long numbers one after the other, as tables and results do.

The other passes that compare parts of texts take all numbers for one, so what copies of a table share is not in them.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from dedup.detection.passes.base import PassConfig, Reach, days_compared
from dedup.detection.passes.keyed import Key, KeyedPass, Words, articles_of_a_key

# Five digits or more, not round, of which normalised texts have blanks between thousands: 289649, 289 649, 5 944 286.
_NUMBER = r"\m(?:\d{5,}|\d{2,3}(?: \d{3})+|\d(?: \d{3}){2,})\M"


@dataclass(frozen=True, slots=True)
class NumbersConfig(PassConfig):
    """Settings of the numbers pass."""

    day_window: int = days_compared(31, "a choice: a month, after which a form is filled in again")
    largest_group: int = articles_of_a_key(
        10,
        "Numbers that more articles than this have one after the other within these days, such as those of "
        "telephones, are ignored.",
        "33,249 news articles: 283 pairs, 116 of which the other passes find too",
        "Most articles with the same numbers",
    )


class NumbersPass(KeyedPass):
    """Pairs of articles with the same two numbers of five or more digits, one after the other, in any newspapers."""

    name: ClassVar[str] = "numbers"
    label: ClassVar[str] = "Same numbers"
    proposes: ClassVar[str] = "two long numbers one after the other in both, at most 31 days apart"
    config_class: ClassVar[type[PassConfig]] = NumbersConfig
    reach: ClassVar[Reach] = Reach.WINDOW
    compares_texts: ClassVar[bool] = True
    seconds_an_article: ClassVar[float] = 0.0003
    days: ClassVar[str] = "day_window"
    # An explanation reads the texts that have the last three digits of both numbers.
    key: ClassVar[Key] = Key(
        "two.number || ' ' || nullif(two.next, two.number)",
        source="{articles} AS article CROSS JOIN LATERAL ("
        "SELECT replace(run[1], ' ', '') AS number, lead(replace(run[1], ' ', '')) OVER (ORDER BY place) AS next"
        " FROM regexp_matches({article.text}, %(number)s, 'g') WITH ORDINALITY AS found (run, place)"
        " WHERE run[1] !~ '000$') AS two",
        several=True,
        lookup="strpos({article.text}, right(split_part(%(only)s, ' ', 1), 3)) > 0"
        " AND strpos({article.text}, right(%(only)s, 3)) > 0 AND two.number || ' ' || two.next = %(only)s",
    )
    words: ClassVar[Words] = Words(
        same="Both have the numbers {key} one after the other.",
        different="They do not have two numbers of five or more digits one after the other in common.",
        far="They have long numbers in common.",
        too_many="{articles:,} articles have the numbers {key} within these days. Numbers of more than "
        "{largest_group:,} articles are ignored.",
    )

    def one_newspaper(self, _config: NumbersConfig) -> bool:
        """Return False: tables are of any newspapers."""
        return False

    def parameters(self, config: NumbersConfig) -> dict[str, Any]:
        """Return the settings and the pattern of a number."""
        return {**super().parameters(config), "number": _NUMBER}
