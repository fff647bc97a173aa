"""The types of values in requests: stricter than pydantic's own, so that nothing is guessed."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any

from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema

from articles.numbers import MAX_NUMBER

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
