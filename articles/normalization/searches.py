"""Reads what people type to find articles by words, and writes it as a query of PostgreSQL's text search. Pure.

All words must be there, in any form that the language of the article gives them. `"ferry line"` is a phrase, `econom*`
the beginning of a word, `headline:ferry` a word of the headline. `-port` or `NOT port` excludes, `OR` stands between
alternatives, and brackets group. `newspaper:`, `collection:`, `language:`, `after:` and `before:` narrow the
articles as a whole.
"""

import datetime
import re
from contextlib import suppress
from dataclasses import dataclass, field

from articles.normalization.text import normalize_text

MAX_CHARACTERS = 2_000
MOST_WORDS = 50
_MOST_BRACKETS = 20

_TOKEN = re.compile(
    r"""\s*(?:(?P<closed>\))|(?P<minus>-)?(?:(?P<opened>\()
    |(?:(?P<field>headline|newspaper|collection|language|after|before):)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s()"]+))))""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTES = str.maketrans("“”„«»＂", '""""""')
_DAY = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")
# Scripts whose words are not separated: each character counts as a word, and a word of several as a phrase.
UNSEPARATED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CHARACTER = re.compile(f"([{UNSEPARATED}])")


class SearchError(ValueError):
    """A search cannot be read; the message says why, and what to change."""


@dataclass(slots=True)
class WordSearch:
    """What is searched for: `words` as to_tsquery reads them, empty if there are none; and what narrows the articles.

    `newspapers` are names, each of a "newspaper" or a "collection"; any of them will do. `after` is the first day,
    `before` the day after the last one; None: no bound.
    """

    words: str = ""
    newspapers: list[tuple[str, str]] = field(default_factory=list)
    but_newspapers: list[tuple[str, str]] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    after: datetime.date | None = None
    before: datetime.date | None = None


def check_length(text: str) -> None:
    """Refuse a text that is too long to be searched for. Raises SearchError."""
    if len(text) > MAX_CHARACTERS:
        raise SearchError(f"This has {len(text):,} characters; a search takes at most {MAX_CHARACTERS:,}. Shorten it.")


def read_search(text: str) -> WordSearch:
    """Return what a text searches for. Raises SearchError."""
    check_length(text)
    return _Reader(text).read()


class _Reader:
    """Reads a search, from the loosest operator to the closest."""

    def __init__(self, text: str) -> None:
        text = text.replace("\0", " ").translate(_QUOTES)
        if text.count('"') % 2:
            raise SearchError("A quotation mark has no second one. Add it, or take it out.")
        self._tokens = list(_TOKEN.finditer(text))[::-1]
        self._found, self._words, self._depth = WordSearch(), 0, 0

    def read(self) -> WordSearch:
        self._found.words = self._alternatives()
        if self._tokens:
            raise SearchError('A bracket ")" has no "(" before it. Add it, or take it out.')
        return self._found

    def _alternatives(self) -> str:
        found = [self._together()]
        while self._is_next("OR"):
            self._tokens.pop()
            found.append(self._together())
        if len(found) > 1 and not all(found):
            raise SearchError("OR stands between two words. Write OR in small letters to search for the word itself.")
        return _joined(" | ", found)

    def _together(self) -> str:
        found: list[str] = []
        while self._tokens and not self._tokens[-1]["closed"] and not self._is_next("OR"):
            if self._is_next("AND"):
                self._tokens.pop()
            else:
                found.append(self._one())
        return _joined(" & ", found)

    def _one(self) -> str:
        if self._is_next("NOT"):
            self._tokens.pop()
            if not self._tokens:
                raise SearchError("NOT has no word after it. Write it in small letters to search for the word itself.")
            return _excluded(self._one())
        token = self._tokens.pop()
        if token["field"] and token["field"].lower() != "headline":
            self._narrow(token)
            return ""
        found = self._in_brackets() if token["opened"] else self._word(token)
        return _excluded(found) if token["minus"] else found

    def _word(self, token: re.Match[str]) -> str:
        """Return a word or a phrase; empty if it has neither letters nor digits."""
        text = token["phrase"] or token["word"] or ""
        if not (words := normalize_text(text)):
            return ""
        self._words += 1
        if self._words > MOST_WORDS:
            raise SearchError(f"This has more than {MOST_WORDS} words and phrases. Take some out.")
        flags = f"{'*' if text.endswith('*') else ''}{'A' if token['field'] else ''}"
        return f"'{words}'{flags and ':'}{flags}"

    def _in_brackets(self) -> str:
        self._depth += 1
        if self._depth > _MOST_BRACKETS:
            raise SearchError(f"More than {_MOST_BRACKETS} brackets stand inside each other. Take some out.")
        inside = self._alternatives()
        if not self._tokens:
            raise SearchError('A bracket "(" has no ")" after it. Add it, or take it out.')
        self._tokens.pop()
        self._depth -= 1
        return inside

    def _narrow(self, token: re.Match[str]) -> None:
        name, value = token["field"].lower(), (token["phrase"] or token["word"] or "").strip()
        if self._depth or (token["minus"] and name not in ("newspaper", "collection")):
            raise SearchError(f"{name}: narrows the whole search; write it without brackets and without a minus.")
        if name in ("newspaper", "collection"):
            (self._found.but_newspapers if token["minus"] else self._found.newspapers).append((name, value))
        elif name == "language":
            self._found.languages.append(value.lower())
        else:
            setattr(self._found, name, _day(name, value))

    def _is_next(self, operator: str) -> bool:
        return bool(self._tokens) and self._tokens[-1][0].strip() == operator


def _joined(operator: str, parts: list[str]) -> str:
    kept = [part for part in parts if part]
    return f"({operator.join(kept)})" if len(kept) > 1 else "".join(kept)


def _excluded(part: str) -> str:
    return part and f"!{part}"


def characters_apart(text: str) -> str:
    """Return a text with blanks around the characters of scripts that do not separate words."""
    return " ".join(_CHARACTER.sub(r" \1 ", text).split())


def _day(name: str, value: str) -> datetime.date:
    """Return the first day of a year, a month or a day."""
    if match := _DAY.fullmatch(value):
        with suppress(ValueError):  # there is no such day
            return datetime.date(*(int(part or 1) for part in match.groups()))
    raise SearchError(f"{name}:{value[:40]} is not a day. Write {name}:2024-05-31, {name}:2024-05 or {name}:2024.")
