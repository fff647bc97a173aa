"""The columns of a file that have no field in an article: kept as they are spelled, and written again. Pure.

The text in Article.extra_columns is a JSON object. An export writes its members next to its own columns; one with the
name of an own column gets a prefix there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from articles.fields import NAMES
from articles.files.records import Member, members_of, object_of
from articles.storage.incoming import (
    MAX_EXTRA_CHARACTERS,
    MAX_EXTRA_COLUMNS,
    MAX_EXTRA_NAME_CHARACTERS,
    RejectedArticleError,
)

PREFIX = "extra."


def extra_columns(members: Iterable[Member], in_fields: Collection[str]) -> str:
    """Return the columns that are not in a field, as a JSON object in their order; empty if there are none.

    Of a name in `in_fields` that is repeated, the last is in the field. Raises RejectedArticleError over a bound.
    """
    left = set(in_fields)
    kept: list[Member] = []
    for member in reversed(list(members)):
        if member.name in left:
            left.remove(member.name)
        else:
            kept.append(_stored(member))
    _check(kept)
    text = object_of(reversed(kept))
    if len(text) > MAX_EXTRA_CHARACTERS:
        longest = max(kept, key=lambda member: len(member.value_json))
        fault = f"extra columns have {len(text):,} characters, most of them {longest.name!r}"
        raise RejectedArticleError(f"{fault}; the limit is {MAX_EXTRA_CHARACTERS:,}; remove some")
    return text


def exported_members(extra: str, own: Collection[str] = NAMES) -> list[Member]:
    """Return the columns that an export with these own columns writes for a text that extra_columns returned."""
    return [member.under(PREFIX) if _needs_prefix(member.name, own) else member for member in members_of(extra)]


def _stored(member: Member) -> Member:
    """Return the column without the prefix that an export gave it."""
    is_prefixed = member.name_json.startswith(f'"{PREFIX}') and _needs_prefix(member.name)
    return member.without(PREFIX) if is_prefixed else member


def _needs_prefix(name: str, own: Collection[str] = NAMES) -> bool:
    """Return whether a name is that of an own column, or would become one when prefixes are removed."""
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name in own


def _check(members: Collection[Member]) -> None:
    if len(members) > MAX_EXTRA_COLUMNS:
        raise RejectedArticleError(
            f"row has {len(members):,} extra columns; the limit is {MAX_EXTRA_COLUMNS:,}; remove some"
        )
    for member in members:
        if len(member.name) > MAX_EXTRA_NAME_CHARACTERS:
            fault = f"extra column {member.name[:50]!r}… has a name of {len(member.name):,} characters"
            raise RejectedArticleError(f"{fault}; the limit is {MAX_EXTRA_NAME_CHARACTERS:,}; shorten it")
