"""The members of a JSON object as they are spelled: the order, repeated names, 1.0 and 1e5, escapes. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

_decode_at = json.JSONDecoder().raw_decode
_BEFORE_NAME = re.compile(r'[\s,{]*"')
_BEFORE_VALUE = re.compile(r"\s*:\s*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Member(NamedTuple):
    """A member of a JSON object: its name, and the JSON texts of its name and its value."""

    name: str
    name_json: str
    value_json: str

    def under(self, prefix: str) -> Member:
        """Return it with a prefix of plain letters and dots before its name."""
        return Member(prefix + self.name, f'"{prefix}{self.name_json[1:]}', self.value_json)

    def without(self, prefix: str) -> Member:
        """Return it without a prefix that its name_json begins with."""
        return Member(self.name.removeprefix(prefix), f'"{self.name_json[1 + len(prefix) :]}', self.value_json)


def members_of(text: str) -> Iterator[Member]:
    """Yield the members of a JSON text that is known to be a valid object; of an empty text, none."""
    position = 0
    while before := _BEFORE_NAME.match(text, position):
        start = before.end() - 1
        name, end = _decode_at(text, start)
        value = end + len(cast("re.Match[str]", _BEFORE_VALUE.match(text, end))[0])
        _, position = _decode_at(text, value)
        yield Member(name, text[start:end], text[value:position])


def text_member(name: str, value: str) -> Member:
    """Return the member of a name and a text."""
    return Member(name, json.dumps(name, ensure_ascii=False), json.dumps(value, ensure_ascii=False))


def object_of(members: Iterable[Member]) -> str:
    """Return a JSON object as one line; empty if there are no members."""
    text = ", ".join(f"{member.name_json}: {member.value_json}" for member in members)
    return f"{{{text}}}" if text else ""


def plain(value_json: str) -> str:
    """Return the JSON text of a value as people read it: a text without quotes, nothing for null, else unchanged.

    A text with half a surrogate pair, which UTF-8 cannot write, stays JSON too.
    """
    if value_json == "null":
        return ""
    if not value_json.startswith('"'):
        return value_json
    text: str = json.loads(value_json)
    return value_json if _LONE_SURROGATE.search(text) else text
