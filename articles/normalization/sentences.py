"""Texts as sentences: what they say, where they stand, and what of them is quoted."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from sentencex import segment

_PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\S+")
# One set of rules for all languages, which know the sentence ends of all scripts: a copy is divided where its
# original is, and a needless division at "z. B." is in both of them.
_RULES = "en"
# A longer paragraph is divided here: the time of sentencex grows with the square of the quotes left open
# in a paragraph (9 s for 200,000 of them, 0.02 s for this many).
_LONGEST_PARAGRAPH = 10_000
# What stands between quotation marks, of whichever language, or from one that is left open to the end of the paragraph:
# a quotation of several paragraphs is closed in its last one alone. No mark behind a letter opens: that is an
# apostrophe, or an inch.
_QUOTATION = re.compile(
    r"""
      “[^“”]*(?:”|$) | (?<!\w)”[^“”]*(?:”|$) | „[^„“”]*(?:[“”]|$) | «[^«»]*(?:»|$) | (?<!\w)»[^«»]*(?:«|$)
    | ‹[^‹›]*(?:›|$) | 「[^「」]*(?:」|$) | 『[^『』]*(?:』|$) | (?<!\w)"[^"]*(?:"|$)
    | (?<!\w)[‘‚](?:[^‘’]|’(?=\w))*(?:[’‘](?!\w)|$) | (?<!\w)'(?=\w)(?:[^']|(?<=\w)'(?=\w))*'(?!\w)
    """,
    re.VERBOSE,
)


class Sentence(NamedTuple):
    """A sentence with single blanks within, and where it stands: text[start:end] before the blanks were joined.

    `alone` in a paragraph; `quoted`: how many of its characters stand between quotation marks.
    """

    text: str
    start: int
    end: int
    alone: bool
    quoted: int


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text in order, with single blanks within and none around.

    A blank line ends a sentence, a single line break does not: some newspapers wrap their lines.
    """
    return [sentence for part in _PARAGRAPH_BREAK.split(text) for sentence in _sentences(" ".join(part.split()))]


def located_sentences(text: str) -> Iterator[Sentence]:
    """Yield the same sentences with their places."""
    for begin, part in _paragraphs(text):
        words = [match.start() for match in _WORD.finditer(part)]
        paragraph = " ".join(part.split())
        # Where each word begins in the paragraph, whose words are one blank apart.
        joined = [match.start() for match in _WORD.finditer(paragraph)]
        quotations = [match.span() for match in _QUOTATION.finditer(paragraph)]
        sentences = _sentences(paragraph)
        place = 0
        for sentence in sentences:
            first = paragraph.index(sentence, place)
            place = first + len(sentence)
            start, last = (_original(at, joined, words) for at in (first, place - 1))
            quoted = sum(max(0, min(place, end) - max(first, start)) for start, end in quotations)
            yield Sentence(sentence, begin + start, begin + last + 1, len(sentences) == 1, quoted)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    begin = 0
    for gap in _PARAGRAPH_BREAK.finditer(text):
        yield begin, text[begin : gap.start()]
        begin = gap.end()
    yield begin, text[begin:]


def _sentences(paragraph: str) -> list[str]:
    # Its white space is blanks alone: sentencex 1.0.32 fails on U+2028 behind an initial.
    return [
        stripped
        for start in range(0, len(paragraph), _LONGEST_PARAGRAPH)
        for sentence in segment(_RULES, paragraph[start : start + _LONGEST_PARAGRAPH])
        if (stripped := sentence.strip())
    ]


def _original(at: int, joined: list[int], words: list[int]) -> int:
    word = bisect_right(joined, at) - 1
    return words[word] + at - joined[word]
