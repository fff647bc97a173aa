"""Removes the lines around an article's text that its markup does not mark: read-also lines, share bars, sign-ups.

A line is judged as a whole, by its beginning and its length, so that a sentence that only contains such words is kept.
Pure.
"""

import re
from collections.abc import Sequence

from articles.extraction.html import Paragraph
from articles.loading import words_for
from articles.normalization.text import letters

# Longer paragraphs are prose, however they begin.
MAX_LINE_LETTERS = 250
MAX_LINE_CHARACTERS = 500
# A line with at least this share of linked text leads elsewhere, if it is long enough for a headline.
MIN_LINKED = 0.8
MIN_HEADLINE_LETTERS = 12
# If such lines are a larger share of a text, it is a list that its author wrote.
MAX_LINKED_LINES = 0.5


def _phrases(lines: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(_words(phrase)) for phrase in re.split(r"[|\n]", lines) if phrase.strip())


def _words(text: str) -> list[str]:
    """Return the words without case, every number as 0."""
    text = re.sub(r"\d+", "0", text.replace("’", "'").casefold())
    return re.findall(r"[^\W_][\w'\u0300-\u036f\u0900-\u0fff-]*", text)


_WORDS = words_for(__file__)
_READ_ALSO = _phrases(_WORDS["read_also"])
_LABELS = _phrases(_WORDS["labels"])
_FIRST_LABELS = _phrases(_WORDS["first_labels"])
_SHARE_WORDS = frozenset(_WORDS["share"])
_SHARE_HELPERS = frozenset(_WORDS["share_helpers"])
MAX_SHARE_WORDS = 15
_CALL = re.compile(_WORDS["call"], re.IGNORECASE | re.VERBOSE | re.DOTALL)
_CONSENT = re.compile(_WORDS["consent"], re.IGNORECASE | re.VERBOSE | re.DOTALL)
_READ_TIME = re.compile(_WORDS["reading_time"], re.IGNORECASE | re.VERBOSE)
_IMPRINT = re.compile(_WORDS["imprint"], re.IGNORECASE | re.VERBOSE | re.DOTALL)
_AFTER_HEAD = re.compile(r"\s*(?P<sign>[:：|>»›]|\s[–—-]\s|\.{3}|…)")


MAX_TIME_CHARACTERS = 80
_NAME = r"[^\W\d_a-zà-ÿа-я][\w.'’-]+"
_BYLINE = re.compile(
    rf"(?:By|BY|Von|von|Par|Por|Di|Door|Av|Af|Text|Written by|Reporting by|Автор)\b:? {_NAME}"
    rf"(?: (?:de |van |von |der |da )*{_NAME}){{1,3}}"
    rf"(?:(?:,| and| und| et| y| e| en| og| och| &) {_NAME}(?: {_NAME}){{1,3}}){{0,3}}"
)
_TIME_LABELS = frozenset(_WORDS["time_labels"])
_TIME_WORD = re.compile(_WORDS["time"])


def without_page_chrome(parts: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs without page chrome, the lines that are not part of the article."""
    total = sum(letters(part.text) for part in parts)
    leading_away = sum(letters(part.text) for part in parts if part.linked >= MIN_LINKED)
    listing = leading_away > MAX_LINKED_LINES * total
    return [part for part in parts if not is_page_chrome(part, listing=listing)]


def is_page_chrome(part: Paragraph, *, listing: bool = False) -> bool:
    """Return whether the line is not part of the article; in a `listing`, lines that are links are."""
    text = part.text
    if len(text) > MAX_LINE_CHARACTERS:
        return False
    if _CONSENT.match(text):
        return True
    if letters(text) > MAX_LINE_LETTERS:
        return False
    if not listing and _leads_away(part):
        return True
    words = _words(text)
    return (
        tuple(words) in _LABELS
        or tuple(words) in _FIRST_LABELS
        or _is_share_bar(text, words)
        or _announces(part, words)
        or bool(_CALL.match(text) or _IMPRINT.match(text) or _READ_TIME.match(text))
        or (any(word in _TIME_LABELS for word in words) and is_time(text))
    )


def is_announcement(text: str) -> bool:
    """Return whether the line is the heading of a box with other articles or with readers' comments."""
    words = tuple(_words(text))
    return words in _READ_ALSO or words in _LABELS


def is_time(text: str) -> bool:
    """Return whether the line only says when the article was published."""
    if len(text) > MAX_TIME_CHARACTERS or not any(map(str.isdigit, text)):
        return False
    return all(word in _TIME_LABELS or _TIME_WORD.fullmatch(word) for word in _words(text))


def is_byline(part: Paragraph) -> bool:
    """Return whether the line only says who wrote the article."""
    return not part.heading and len(part.text) <= MAX_TIME_CHARACTERS and bool(_BYLINE.fullmatch(part.text))


def _leads_away(part: Paragraph) -> bool:
    """Return whether the line is a link to another page. A URL that is written out is not."""
    text = part.text
    written_out = " " not in text and text.isascii()
    return part.linked >= MIN_LINKED and not part.heading and letters(text) >= MIN_HEADLINE_LETTERS and not written_out


def _is_share_bar(text: str, words: Sequence[str]) -> bool:
    sentence = text.endswith(".") and len(words) > 3
    return (
        len(words) <= MAX_SHARE_WORDS
        and not sentence
        and any(word in _SHARE_WORDS for word in words)
        and all(word in _SHARE_WORDS or word in _SHARE_HELPERS for word in words)
    )


def _announces(part: Paragraph, words: Sequence[str]) -> bool:
    """Return whether the line announces other articles."""
    if tuple(words) in _READ_ALSO:
        return True
    if part.linked >= MIN_LINKED / 2 and any(tuple(words[:length]) in _READ_ALSO for length in range(1, 6)):
        return True
    if (sign := _AFTER_HEAD.search(part.text)) is None:
        return False
    head = _words(part.text[: sign.start()])
    if tuple(head) in _READ_ALSO:
        return True
    # "Read also on this:", but not "Read the letter here:"
    return sign["sign"] in ":：" and any(
        tuple(head[:length]) in _READ_ALSO for length in range(max(2, len(head) - 3), 6)
    )
