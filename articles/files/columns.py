"""Turns the values of a row into an article, by the accepted names of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from articles.files.records import RAW_CHARACTERS, UnreadableFileError, kind_of
from articles.models import Article, ArticleURL
from articles.normalization.values import parse_day, plain_text
from articles.storage.incoming import Details, IncomingArticle, RejectedArticleError

# The accepted column names of each field, the preferred one first. Case, blanks, underscores and hyphens
# make no difference (publishedAt, PUBLISHED_AT).
COLUMNS = {
    "date": ("date", "published", "published_at", "pubdate", "time", "timestamp"),
    "headline": ("headline", "title"),
    "url": ("url", "link"),
    "content": ("content", "text"),
    "description": ("description", "summary"),
    "newspaper": ("newspaper", "source", "publisher"),
    "external_id": ("external_id", "id"),
}


def check_columns(header: Sequence[str]) -> None:
    """Raise UnreadableFileError if the columns lack what every article needs."""
    columns = _columns(tuple(header))
    wanted = {"url": ["url"], "date": ["date"], "content": ["content", "description"]}
    for field, any_of in wanted.items():
        if not any(columns[each] for each in any_of):
            accepted = ", ".join(name for each in any_of for name in COLUMNS[each])
            present = ", ".join(header)[:RAW_CHARACTERS]
            fault = f"its header has no {field} column ({accepted}), only {present}"
            raise UnreadableFileError(f"{fault}; rename or add one")


def article_in(values: Mapping[str, object], newspaper: str) -> IncomingArticle:
    """Return the article in a row; `newspaper` is used if the row does not name one.

    Raises RejectedArticleError and UnreadableDayError. The checks of ingest come later.
    """
    columns = _columns(tuple(values))
    url = _text(values, columns["url"])
    if not url:
        raise RejectedArticleError("url is missing; every article needs its URL")
    day = parse_day(_text(values, columns["date"], numbers=True))
    return IncomingArticle(
        date=day,
        headline=plain_text(_text(values, columns["headline"])),
        url=url,
        content=_content(values, columns),
        newspaper=" ".join(_newspaper(values, columns["newspaper"]).split()) or newspaper,
        external_id=_external_id(values, columns["external_id"]),
        kind=ArticleURL.Kind.IMPORT,
        details=Details(date_source=Article.DateSource.IMPORT),
    )


@lru_cache(maxsize=256)
def _columns(names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return for each field which of these columns hold it; the preferred one first."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(_form(name), []).append(name)
    return {
        field: [name for each in accepted for name in by_form.get(_form(each), [])]
        for field, accepted in COLUMNS.items()
    }


def _form(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _newspaper(values: Mapping[str, object], names: Iterable[str]) -> str:
    """Return the newspaper's name, a text or an object with a `name`; anything else counts as absent."""
    for name in names:
        value = values[name]
        if isinstance(value, dict):
            value = value.get("name")
        if isinstance(value, str) and (text := value.strip()):
            return text
    return ""


def _external_id(values: Mapping[str, object], names: Iterable[str]) -> str:
    """Return the first text or number of these; an id of another kind, such as an object, counts as absent."""
    plain = [
        name for name in names if isinstance(values[name], str | int | float) and not isinstance(values[name], bool)
    ]
    return _text(values, plain, numbers=True)


def _content(values: Mapping[str, object], columns: Mapping[str, list[str]]) -> str:
    """Return the text of the article; its teaser only if the row has no column for a text.

    A teaser is HTML, as is usual in feeds; a text is taken unchanged.
    """
    if any(values[name] is not None for name in columns["content"]):
        return _text(values, columns["content"])
    if not columns["content"] and not columns["description"]:
        names = ", ".join(COLUMNS["content"] + COLUMNS["description"])
        raise RejectedArticleError(f"content is missing: the row has none of {names}; every article needs a text")
    return plain_text(_text(values, columns["description"]))


def _text(values: Mapping[str, object], names: Iterable[str], *, numbers: bool = False) -> str:
    """Return the first of these values that is not blank, stripped; empty if all are blank."""
    for name in names:
        value = values[name]
        if numbers and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            raise RejectedArticleError(f"{name} is {kind_of(value)}, not text")
        if value and (text := value.strip()):
            return text
    return ""
