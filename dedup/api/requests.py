"""What requests send: values, read more strictly than pydantic does so that nothing is guessed, and pages of lists.

A cursor says where the last page ended, as a text that only this module reads. It names the values of the last row that
its list is ordered by, so rows that are added meanwhile move no other row to another page.
"""

import base64
import datetime
import json
import re
from collections.abc import Callable, Collection, Sequence
from types import SimpleNamespace
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema

from articles.numbers import MAX_NUMBER, read_number
from articles.paging import rows_after
from dedup.api.problems import Fault, invalid, refused

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _storable(value: str) -> str:
    """Return a text that PostgreSQL can store."""
    if "\0" in value:
        raise ValueError(f"has a NUL character at position {value.index(chr(0)) + 1}; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:  # JSON can carry half of a UTF-16 pair
        raise ValueError(f"has half a surrogate pair at position {error.start + 1}; encode it as UTF-8") from error
    return value


def _day(value: Any) -> Any:
    if value is None or type(value) is datetime.date:
        return value
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise ValueError("is not a day; write it as 2026-03-31")
    return value


Text = Annotated[str, AfterValidator(_storable)]
Day = Annotated[datetime.date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
# The number of a row, in an address or a body.
Number = Annotated[int, Field(ge=1, le=MAX_NUMBER)]


class Body(Schema):
    """What a request sends: an attribute that it does not have is refused."""

    model_config = ConfigDict(extra="forbid")


# ---- pages ------------------------------------------------------------------------------------------

USUAL_ROWS, MOST_ROWS = 50, 200

Item = TypeVar("Item")


class PageQuery(Schema):
    """Which page of a list."""

    cursor: Text | None = Field(None, max_length=200, description="From the address in `next`; without it, the first.")
    limit: int = Field(USUAL_ROWS, ge=1, le=MOST_ROWS, description="How many rows at most.")


class Page(Schema, Generic[Item]):
    """A page of a list. `next` is the address of the next one; null on the last."""

    data: list[Item]
    next: str | None


def read_cursor(cursor: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the values in a cursor by the names of their columns. Raises ValueError."""
    written = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
    if not isinstance(written, list) or not all(isinstance(value, str) for value in written):
        raise ValueError("a cursor is a list of texts")
    read = {"date": datetime.date.fromisoformat}
    values = {name: read.get(name, read_number)(value) for name, value in zip(names, written, strict=True)}
    if None in values.values():
        raise ValueError("no row has such a number")
    return values


def page_of(
    request: HttpRequest, rows: QuerySet[Any], query: PageQuery, ordering: Sequence[str], make: Callable[[Any], Item]
) -> Page[Item]:
    """Return a page of these rows. `ordering` has names of their own columns, the last one unique.

    Raises ProblemError, 422, for a cursor of another list, and for a parameter that the list does not have.
    """
    refuse_unknown(request, type(query).model_fields)
    names = [name.removeprefix("-") for name in ordering]
    rows = rows.order_by(*ordering)
    if query.cursor is not None:
        try:
            last: Any = SimpleNamespace(**read_cursor(query.cursor, names))
        except ValueError as error:
            said = "This is not a cursor of this list."
            raise refused("query/cursor", "Use an address in `next` as it is.", summary=said) from error
        rows = rows_after(rows, ordering, last)
    found = list(rows[: query.limit + 1])
    shown = found[: query.limit]
    following = None
    if len(found) > query.limit:
        values = json.dumps([str(getattr(shown[-1], name)) for name in names])
        cursor = base64.urlsafe_b64encode(values.encode()).decode().rstrip("=")
        asked = urlencode(dict(request.GET.items()) | {"cursor": cursor})
        following = request.build_absolute_uri(f"{request.path}?{asked}")
    return Page(data=[make(row) for row in shown], next=following)


def refuse_unknown(request: HttpRequest, names: Collection[str]) -> None:
    """Raise ProblemError, 422, for a parameter with another name: a filter that is misspelt must not be ignored."""
    faults = [
        Fault(where=f"query/{name[:40]}", detail=f"There is no such parameter; use {', '.join(names)}.")
        for name in request.GET
        if name not in names
    ]
    if faults:
        raise invalid(*faults)
