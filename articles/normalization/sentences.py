"""Splits texts into sentences, with their positions and how much of them is quoted."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from sentencex import segment

_PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\S+")
# One set of rules for all languages; it knows the sentence ends of all scripts. A copy is split where its original is,
# and a needless split at "z. B." is in both.
_RULES = "en"
# A longer paragraph is split at this length: the time of sentencex grows with the square of the quotes left open
# in a paragraph (9 s for 200,000 of them, 0.02 s for this many).
_LONGEST_PARAGRAPH = 10_000
# Text between quotation marks of any language, or from an opening mark to the end of the paragraph: a quotation of
# several paragraphs is closed only in its last one. A mark after a letter does not open a quotation: it is an
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
    """A sentence with single blanks, and its position: text[start:end] before the blanks were joined.

    `alone`: it is a whole paragraph; `quoted`: how many of its characters are between quotation marks.
    """

    text: str
    start: int
    end: int
    alone: bool
    quoted: int


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text in order, with single blanks, stripped.

    A blank line ends a sentence, but a single line break does not: some newspapers wrap their lines.
    """
    return [sentence for part in _PARAGRAPH_BREAK.split(text) for sentence in _sentences(" ".join(part.split()))]


def located_sentences(text: str) -> Iterator[Sentence]:
    """Yield the same sentences with their positions."""
    for begin, part in _paragraphs(text):
        words = [match.start() for match in _WORD.finditer(part)]
        paragraph = " ".join(part.split())
        # Where each word begins in the paragraph with single blanks.
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
    # The only white space here is blanks: sentencex 1.0.32 fails on U+2028 after an initial.
    return [
        stripped
        for start in range(0, len(paragraph), _LONGEST_PARAGRAPH)
        for sentence in segment(_RULES, paragraph[start : start + _LONGEST_PARAGRAPH])
        if (stripped := sentence.strip())
    ]


def _original(at: int, joined: list[int], words: list[int]) -> int:
    word = bisect_right(joined, at) - 1
    return words[word] + at - joined[word]
