"""The post pass: articles of one newspaper whose URLs have the same number of a post, whatever else they say."""

from dataclasses import dataclass
from typing import Any, ClassVar

from dedup.detection.passes.base import PassConfig
from dedup.detection.passes.keyed import Key, KeyedPass, Words, articles_of_a_key
from dedup.detection.types import Mark

# Five digits or more after a separator, or after letters as in article289.html. With letters behind, they are a hash.
_NUMBER = r"(?<![0-9A-Za-z%])[A-Za-z]*([0-9]{5,})(?![0-9A-Za-z])"
# 20251127, 2025112709, 202511, 27112025, and round numbers, which are amounts.
_NO_POST = (
    r"^((19|20)\d\d(0[1-9]|1[0-2])((0[1-9]|[12]\d|3[01])\d{0,6})?|(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])(19|20)\d\d"
    r"|\d+000)$"
)
# An article's own date, as to_char writes it: these may be numbers of posts elsewhere. All have six to eight digits.
_FORMS = "DDMMYY MMDDYY YYMMDD FMDDFMMMYYYY FMMMFMDDYYYY"


@dataclass(frozen=True, slots=True)
class PostConfig(PassConfig):
    """Settings of the post pass."""

    largest_group: int = articles_of_a_key(
        5,
        "A number in the URLs of more articles than this is that of a section or an author and is ignored.",
        "33,249 articles of 12 newspapers: of 509 numbers in several URLs, none is in more than 5",
        "Most articles with one number",
    )


class PostPass(KeyedPass):
    """Pairs within a newspaper whose URLs have the same number of five or more digits that is no date, on any day.

    As /news/123456-bridge-closes and /news/123456-bridge-to-close: sites write a new URL when the headline changes.
    """

    name: ClassVar[str] = "post"
    label: ClassVar[str] = "Same post number"
    proposes: ClassVar[str] = "the same post number in two URLs of one newspaper"
    config_class: ClassVar[type[PassConfig]] = PostConfig
    mark: ClassVar[Mark] = Mark.URLS
    marked_note: ClassVar[str] = "URLs with the same post number"
    seconds_an_article: ClassVar[float] = 0.00003
    # The longest number after the host.
    key: ClassVar[Key] = Key(
        "(SELECT run[1] FROM regexp_matches(substring(known.normalized_url FROM '//[^/]+(/.*)'), %(number)s, 'g')"
        " AS run WHERE run[1] !~ %(no_post)s AND NOT (length(run[1]) BETWEEN 6 AND 8 AND run[1] = ANY (string_to_array("
        "(SELECT string_agg(to_char(article.date + day, %(forms)s), ' ') FROM generate_series(-1, 1) AS day), ' ')))"
        " ORDER BY length(run[1]) DESC, run[1] LIMIT 1)",
        source="{articles} AS article JOIN {article_urls} AS known ON known.article_id = article.id",
        several=True,
        eligible="known.normalized_url ~ '[0-9][0-9][0-9][0-9][0-9]'",
    )
    words: ClassVar[Words] = Words(
        same="Both have the number {key} in a URL.",
        different="No long number, apart from dates, is in URLs of both.",
        elsewhere="Their URLs share a number but are of two newspapers; this pass compares within one.",
        too_many="{articles:,} articles have the number {key} in a URL. Numbers of more than {largest_group:,} "
        "articles are ignored.",
    )

    def parameters(self, config: PostConfig) -> dict[str, Any]:
        """Return the settings and the patterns of numbers."""
        return {**super().parameters(config), "number": _NUMBER, "no_post": _NO_POST, "forms": _FORMS}
