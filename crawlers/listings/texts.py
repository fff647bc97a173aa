"""Makes the texts of feeds and sitemaps fit to be stored. Pure."""

from __future__ import annotations

import re

from articles.normalization.values import plain_text
from articles.storage.incoming import MAX_HEADLINE_CHARACTERS

MAX_SUMMARY_CHARACTERS = 20_000
_LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?=$|[-_\s])", re.IGNORECASE)


def headline(markup: str) -> str:
    """Return a headline as plain text of one line."""
    return _storable(plain_text(markup[: 2 * MAX_HEADLINE_CHARACTERS]))[:MAX_HEADLINE_CHARACTERS]


def summary(markup: str) -> str:
    """Return a description as plain text of one line."""
    return _storable(plain_text(markup[: 2 * MAX_SUMMARY_CHARACTERS]))[:MAX_SUMMARY_CHARACTERS]


def language_code(declared: str) -> str:
    """Return the ISO 639 code of a declared language, such as en of en-GB; empty if it is none."""
    code = _LANGUAGE.match(declared)
    return code[1].lower() if code else ""


def _storable(text: str) -> str:
    """Return a text without characters that the database does not accept."""
    return text.replace("\0", "").encode(errors="replace").decode()
