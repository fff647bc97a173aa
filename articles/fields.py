"""The fields of an article, each declared once. Pure.

Import, export, restoring, the corpus, the API, the bounds, the pages, withholding and the trigger that counts up the
revision read these declarations.
"""

import dataclasses
import datetime
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

# East of UTC, tomorrow has already begun; the second day allows for clocks that are wrong.
MAX_DAYS_AHEAD = 2
# The first printed newspaper appeared then (Relation, Strasbourg); an earlier day is a misread one, or none at all:
# programs write 0001-01-01 and the like if they know no day.
FIRST_PRINTED = datetime.date(1605, 1, 1)


class Kind(StrEnum):
    """The type of a field's values, in the words of the data dictionary."""

    INTEGER = "integer"
    TEXT = "text"
    DAY = "day, YYYY-MM-DD"
    YES_NO = "boolean"
    TEXTS = "list of texts"
    URLS = "list of objects with url and kind"
    HEADLINES = "list of objects with headline, date and url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of an article, which is a column of exports and of the corpus.

    `meaning` is its line in the data dictionary, and `limit` the most characters that its text may have; 0: no bound.
    `columns` are the accepted names of the columns of a file that are read into it, the preferred one first; without
    one, only an export has it. `pattern` is what a text must match to be read into it. `label` is what pages call it;
    empty: it is not among the details that every article shows. `has_words`: it has words of the article, or found in
    them, which withholding takes away. `is_compared`: passes compare it, so a change counts up the revision. `api` is
    the name in the API of what is found, empty if it is not there; `api_help` describes it there.
    """

    name: str
    meaning: str
    kind: Kind = Kind.TEXT
    limit: int = 0
    columns: tuple[str, ...] = ()
    pattern: str = ""
    label: str = ""
    has_words: bool = False
    is_compared: bool = False
    api: str = ""
    api_help: str = ""


def _text(meaning: str, limit: int, **more: Any) -> Any:
    """Declare a text of FoundDetails, empty if unknown; its name is that of the attribute."""
    return dataclasses.field(default="", metadata={"meaning": meaning, "limit": limit, **more})


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDetails:
    """What is found on a page, or given by a file, besides headline, text and day; empty if unknown.

    `language` is an ISO 639 code; `date_doubt` and `text_doubt` explain to people why the day and the text may be
    wrong; `paywalled` means that the text is only the beginning.
    """

    language: str = _text(
        "detected language, ISO 639; empty if uncertain",
        8,
        columns=("language",),
        pattern="[a-z]{2,3}",
        api="lang",
        api_help="The ISO 639 code of the language; empty if uncertain.",
    )
    byline: str = _text(
        "authors as the source names them; may be empty",
        500,
        columns=("byline",),
        label="By",
        has_words=True,
        api="byline",
    )
    agency: str = _text(
        "news agency credited with the text; may be empty",
        100,
        columns=("agency",),
        label="Agency",
        has_words=True,
        api="agency",
    )
    dateline: str = _text(
        "place and date before the first sentence; may be empty",
        200,
        columns=("dateline",),
        label="Dateline",
        has_words=True,
        api="dateline",
    )
    date_doubt: str = _text("why the date may be wrong; empty if certain", 200, has_words=True)
    text_doubt: str = _text(
        "why the text may be incomplete or not the article's; empty if certain",
        300,
        has_words=True,
        api="text_doubt",
        api_help="Why the text may be incomplete, or not the article's; empty if certain.",
    )
    paywalled: bool = dataclasses.field(
        default=False, metadata={"meaning": "whether the source showed only the beginning", "kind": Kind.YES_NO}
    )


# The fields of FoundDetails: those that columns of a file are read into, and the others.
FOUND = tuple(Field(name=attribute.name, **attribute.metadata) for attribute in dataclasses.fields(FoundDetails))
FROM_FILES = tuple(field for field in FOUND if field.columns)
# All fields, in the order of the columns of an export.
FIELDS = (
    Field(name="id", kind=Kind.INTEGER, meaning="number of the article in this installation"),
    Field(
        name="external_id",
        meaning="its id in the collection that it came from; may be empty",
        limit=200,
        columns=("external_id", "id"),
        has_words=True,
    ),
    Field(
        name="date",
        kind=Kind.DAY,
        meaning="day of publication",
        columns=("date", "published", "published_at", "pubdate", "time", "timestamp"),
        is_compared=True,
    ),
    Field(
        name="published_at",
        meaning="time of publication in ISO 8601, with its offset if known; may be empty",
        columns=("published_at",),
        is_compared=True,
    ),
    Field(
        name="headline",
        meaning="headline; may be empty",
        limit=2_000,
        columns=("headline", "title"),
        has_words=True,
    ),
    Field(
        name="url",
        meaning="URL that it was first stored under; different for every article",
        limit=2_000,
        columns=("url", "link"),
        has_words=True,
    ),
    Field(
        name="content",
        meaning="text, without boilerplate if that was asked for",
        limit=1_000_000,
        columns=("content", "text"),
        has_words=True,
        is_compared=True,
    ),
    *FROM_FILES,
    Field(name="newspaper", meaning="name of the newspaper", limit=200, columns=("newspaper", "source", "publisher")),
    Field(name="date_source", meaning="where the date was read; empty for old imports"),
    *(field for field in FOUND if not field.columns),
    Field(name="urls", kind=Kind.URLS, meaning="every URL under which the article was seen"),
    Field(name="headlines", kind=Kind.HEADLINES, meaning="other headlines under which it came again"),
)
NAMES = tuple(field.name for field in FIELDS)
LIMITS = {field.name: field.limit for field in FIELDS if field.limit}
