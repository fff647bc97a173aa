"""Turns the values of a row into an article, by the accepted names of its columns.

A row that export_articles wrote is the article as it was, so nothing in it is interpreted. Columns that have no field
in an article are kept as they are spelled: the text in Article.extra_columns is a JSON object. An export writes its
members next to its own columns; one with the name of an own column gets a prefix there.
"""

import datetime
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from articles.fields import FIELDS, FOUND, FROM_FILES, NAMES, Field, Kind
from articles.files.cells import is_export
from articles.files.records import RAW_CHARACTERS, Member, Record, UnreadableFileError, kind_of, members_of, object_of
from articles.models import Article, ArticleURL
from articles.normalization.text import plain_text
from articles.normalization.times import PublicationTime, parse_date, parse_day
from articles.storage.incoming import (
    MAX_EXTRA_CHARACTERS,
    MAX_EXTRA_COLUMNS,
    MAX_EXTRA_NAME_CHARACTERS,
    Details,
    IncomingArticle,
    RejectedArticleError,
    SeenHeadline,
    SeenURL,
    text_fault,
    url_fault,
)

# The accepted column names of each field, the preferred one first. Case, blanks, underscores and hyphens
# make no difference (publishedAt, PUBLISHED_AT).
COLUMNS = {
    **{field.name: field.columns for field in FIELDS if field.columns},
    "description": ("description", "summary"),  # a teaser, for an article without a text
}


def check_columns(header: Sequence[str]) -> None:
    """Raise UnreadableFileError if the columns lack what every article needs."""
    columns = _columns(tuple(header))
    wanted = {"url": ["url"], "date": ["date"], "content": ["content", "description"]}
    for field, any_of in wanted.items():
        if not any(columns[either] for either in any_of):
            accepted = ", ".join(name for either in any_of for name in COLUMNS[either])
            present = ", ".join(header)[:RAW_CHARACTERS]
            fault = f"its header has no {field} column ({accepted}), only {present}"
            raise UnreadableFileError(f"{fault}; rename or add one")


def column_uses(names: Sequence[str]) -> dict[str, str]:
    """Return what each of these columns of a file becomes: its fields, or empty if it is kept as it is."""
    if is_export(names):
        return {name: name if name in NAMES else "" for name in names}
    uses: dict[str, list[str]] = {name: [] for name in names}
    for field, columns in _columns(tuple(names)).items():
        for name in columns:
            uses[name].append(field)
    # A teaser is the text only if there is no column for one.
    has_text = any("content" in fields for fields in uses.values())
    described = {"description": "" if has_text else "content"}
    shown = {name: [described.get(field, field) for field in fields] for name, fields in uses.items()}
    return {name: ", ".join(filter(None, fields)) for name, fields in shown.items()}


def article_in(record: Record, newspaper: str) -> IncomingArticle:
    """Return the article in a row; `newspaper` is used if the row does not name one.

    Raises RejectedArticleError and UnreadableDayError. The checks of ingest come later.
    """
    if is_export(record.values.keys()):
        return restored_article(record, newspaper)
    row = _Row(record.values, _columns(tuple(record.values)))
    url = row.text("url")
    if not url:
        raise RejectedArticleError("url is missing; every article needs its URL")
    day, time, doubt = row.date()
    found: dict[str, Any] = {field.name: row.detail(field) for field in FROM_FILES}
    return IncomingArticle(
        date=day,
        headline=plain_text(row.text("headline")),
        url=url,
        content=row.content(),
        newspaper=" ".join(row.newspaper().split()) or newspaper,
        external_id=row.text("external_id", _id),
        kind=ArticleURL.Kind.IMPORT,
        details=Details(date_source=Article.DateSource.IMPORT, date_doubt=doubt, **found).with_time(time),
        extra_columns=row.extra_columns(record),
    )


def _text(values: Mapping[str, object], name: str) -> str:
    """Return a text as it is; empty if it is missing."""
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RejectedArticleError(f"{name} is {kind_of(value)}, not text")
    return value


def _text_or_number(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _text(values, name)


def _id(values: Mapping[str, object], name: str) -> str:
    """Return a text or number; an id of another kind, such as an object, counts as absent."""
    is_one = isinstance(values[name], str | int | float) and not isinstance(values[name], bool)
    return _text_or_number(values, name) if is_one else ""


class _Row:
    """The values of a row, of which `used` are in a field of the article."""

    def __init__(self, values: Mapping[str, object], columns: Mapping[str, list[str]]) -> None:
        self._values = values
        self._columns = columns
        self._used: set[str] = set()

    def text(self, field: str, read: Callable[[Mapping[str, object], str], str] = _text) -> str:
        """Return the first value of the field that is not blank, as `read` reads it, stripped; empty if all are."""
        for name in self._columns[field]:
            if text := read(self._values, name).strip():
                self._used.add(name)
                return text
        return ""

    def date(self) -> tuple[datetime.date, PublicationTime | None, str]:
        """Return the day, the time if the row has one, and why the day may be wrong. Raises UnreadableDayError.

        `date` decides the day, and `published_at` the time; without a time there, `date` gives it too.
        """
        written = self.text("date", _text_or_number)
        day, time = parse_date(written)
        used = set(self._used)
        exact = self.text("published_at", _text_or_number)
        if not exact or exact == written:
            return day, time, ""
        other_day, exact_time = parse_date(exact, "published_at")
        if exact_time is None:
            self._used = used
            return day, time, ""
        # Two time zones may write the same moment as two days.
        doubt = f"published_at says {other_day}" if abs((other_day - day).days) > 1 else ""
        return day, exact_time, doubt

    def newspaper(self) -> str:
        """Return the newspaper's name, a text or an object with a `name`; anything else counts as absent."""
        for name in self._columns["newspaper"]:
            value = self._values[name]
            inner = value.get("name") if isinstance(value, dict) else value
            if isinstance(inner, str) and (text := inner.strip()):
                if inner is value:  # what else an object says is kept
                    self._used.add(name)
                return text
        return ""

    def detail(self, field: Field) -> str:
        """Return the first text that fits into the field; anything else counts as absent, and is an extra column."""

        def fitting(values: Mapping[str, object], name: str) -> str:
            value = values[name]
            text = " ".join(value.split()) if isinstance(value, str) else ""
            matches = not field.pattern or re.fullmatch(field.pattern, text)
            return text if matches and not text_fault(field.name, text, field.limit) else ""

        return self.text(field.name, fitting)

    def content(self) -> str:
        """Return the text of the article; its teaser only if the row has no column for a text.

        A teaser is HTML, as is usual in feeds; a text is taken unchanged.
        """
        if any(self._values[name] is not None for name in self._columns["content"]):
            return self.text("content")
        if not self._columns["content"] and not self._columns["description"]:
            names = ", ".join(COLUMNS["content"] + COLUMNS["description"])
            raise RejectedArticleError(f"content is missing: the row has none of {names}; every article needs a text")
        return plain_text(self.text("description"))

    def extra_columns(self, record: Record) -> str:
        """Return the columns that are in no field of the article, read before."""
        values = {name: self._values[name] for names in self._columns.values() for name in names}
        blank = {
            name for name, value in values.items() if value is None or (isinstance(value, str) and not value.strip())
        }
        in_fields = self._used | blank
        if len(in_fields) == len(self._values) and not record.repeated:
            return ""
        return extra_columns_of(record.members(), in_fields)


@lru_cache(maxsize=256)
def _columns(names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return for each field which of these columns hold it; the preferred one first."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(column_form(name), []).append(name)
    return {
        field: [name for alias in accepted for name in by_form.get(column_form(alias), [])]
        for field, accepted in COLUMNS.items()
    }


def column_form(name: str) -> str:
    """Return the name of a column without case, blanks, underscores and hyphens, which make no difference."""
    return re.sub(r"[\s_-]", "", name).lower()


_FLAGS = {"true": True, "false": False, "": False}


def restored_article(record: Record, newspaper: str) -> IncomingArticle:
    """Return the article in a row of an export; `newspaper` is used if somebody emptied that column.

    Columns that the version that wrote it did not have yet count as empty. Raises RejectedArticleError and
    UnreadableDayError. The checks of ingest come later.
    """
    values = record.values
    own = [name for name in NAMES if name in values]
    return IncomingArticle(
        date=parse_day(_text(values, "date")),
        headline=_text(values, "headline"),
        url=_text(values, "url"),
        content=_text(values, "content"),
        newspaper=_text(values, "newspaper") or newspaper,
        external_id=_text(values, "external_id"),
        kind=ArticleURL.Kind.IMPORT,
        other_urls=list(_urls(values)),
        details=_details(values),
        headlines=list(_headlines(values)),
        extra_columns=extra_columns_of(record.members(), own) if record.repeated or len(own) < len(values) else "",
        restored=True,
    )


def _details(values: Mapping[str, object]) -> Details:
    source = _text(values, "date_source") if "date_source" in values else Article.DateSource.IMPORT
    if source not in ("", *Article.DateSource.values):
        known = ", ".join(Article.DateSource.values)
        raise RejectedArticleError(f"date_source is {source[:50]!r}, not one of {known}")
    written = _text(values, "published_at")
    time = parse_date(written, "published_at")[1] if written else None
    found: dict[str, Any] = {
        field.name: (_flag if field.kind == Kind.YES_NO else _text)(values, field.name) for field in FOUND
    }
    return Details(date_source=source, **found).with_time(time)


def _urls(values: Mapping[str, object]) -> Iterator[SeenURL]:
    for entry in _objects(values, "urls"):
        url, kind = _text(entry, "url"), _text(entry, "kind")
        if fault := url_fault(url):
            raise RejectedArticleError(f"urls: {fault}")
        if kind not in ArticleURL.Kind.values:
            known = ", ".join(ArticleURL.Kind.values)
            raise RejectedArticleError(f"urls: kind is {kind[:50]!r}, not one of {known}")
        yield SeenURL(url, ArticleURL.Kind(kind))


def _headlines(values: Mapping[str, object]) -> Iterator[SeenHeadline]:
    for entry in _objects(values, "headlines"):
        headline, url, day = _text(entry, "headline"), _text(entry, "url"), _text(entry, "date")
        if fault := url_fault(url):
            raise RejectedArticleError(f"headlines: {fault}")
        try:
            yield SeenHeadline(headline, datetime.date.fromisoformat(day), url)
        except ValueError as error:
            raise RejectedArticleError(f"headlines: date {day[:50]!r} is not a day, such as 2024-04-03") from error


def _flag(values: Mapping[str, object], name: str) -> bool:
    """Return a truth value. A spreadsheet that saves a CSV file writes TRUE and FALSE."""
    value = values.get(name)
    written = "" if value is None else str(value).lower()
    if written not in _FLAGS:
        raise RejectedArticleError(f"{name} is {written[:50]!r}, not true or false")
    return _FLAGS[written]


def _objects(values: Mapping[str, object], name: str) -> list[dict[str, object]]:
    """Return a list that JSON lines hold as it is and a cell of CSV holds as JSON; empty if it is missing."""
    found: Any = values.get(name) or []
    try:
        found = json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError) as error:
        raise RejectedArticleError(f"{name} is not JSON; leave it as export_articles wrote it") from error
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise RejectedArticleError(f"{name} is not a list of objects; leave it as export_articles wrote it")
    return found


PREFIX = "extra."


def extra_columns_of(members: Iterable[Member], in_fields: Collection[str]) -> str:
    """Return the columns that are not in a field, as a JSON object in their order; empty if there are none.

    Of a name in `in_fields` that is repeated, the last is in the field. Raises RejectedArticleError over a bound.
    """
    left = set(in_fields)
    kept: list[Member] = []
    for member in reversed(list(members)):
        if member.name in left:
            left.remove(member.name)
        else:
            # Without the prefix that an export gave it.
            is_prefixed = member.name_json.startswith(f'"{PREFIX}') and _needs_prefix(member.name)
            kept.append(member.without(PREFIX) if is_prefixed else member)
    if len(kept) > MAX_EXTRA_COLUMNS:
        fault = f"row has {len(kept):,} extra columns"
        raise RejectedArticleError(f"{fault}; the limit is {MAX_EXTRA_COLUMNS:,}; remove some")
    for member in kept:
        if len(member.name) > MAX_EXTRA_NAME_CHARACTERS:
            fault = f"extra column {member.name[:50]!r}… has a name of {len(member.name):,} characters"
            raise RejectedArticleError(f"{fault}; the limit is {MAX_EXTRA_NAME_CHARACTERS:,}; shorten it")
    text = object_of(reversed(kept))
    if len(text) > MAX_EXTRA_CHARACTERS:
        longest = max(kept, key=lambda member: len(member.value_json))
        fault = f"extra columns have {len(text):,} characters, most of them {longest.name!r}"
        raise RejectedArticleError(f"{fault}; the limit is {MAX_EXTRA_CHARACTERS:,}; remove some")
    return text


def exported_members(extra: str, own: Collection[str] = NAMES) -> list[Member]:
    """Return the columns that an export with these own columns writes for a text that extra_columns_of returned."""
    return [member.under(PREFIX) if _needs_prefix(member.name, own) else member for member in members_of(extra)]


def _needs_prefix(name: str, own: Collection[str] = NAMES) -> bool:
    """Return whether a name is that of an own column, or would become one when prefixes are removed."""
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name in own
