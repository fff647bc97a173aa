"""The words of texts as they are compared, by number: of a whole batch at once, and only new ones one by one. Pure.

A word is a run of letters, a number, or a single character of a script without blanks between words. Each has a
kind (number, date, name, other): forms replace numbers and dates, and reasons say what is replaced.
"""

import re
import unicodedata
from array import array
from collections.abc import Sequence
from functools import cache
from sys import intern
from typing import Final

import numpy as np
import numpy.typing as npt
import regex

from dedup.detection.comparison.language_words import MONTHS, WEEKDAYS
from dedup.detection.kernels.masked_shingles import SOLO, WordHashes
from dedup.detection.kernels.tokens import Ragged, ranges

OTHER: Final = 0
NAME: Final = 1
NUMBER: Final = 2
DATE: Final = 3
MONTH: Final = 4  # a month in lower case, which may also be another word: may, mars

# A lexicon that knows so many parts is full. A word takes about 200 bytes.
_MOST_PARTS = 300_000

# Characters of SOLO, and marks, which Python's \w does not match; a slower pattern handles them.
_UNUSUAL = regex.compile(rf"[\p{{M}}{SOLO}]")
# All of them, and many others, but none of the Latin letters and usual punctuation: a quick test.
_MAYBE_UNUSUAL = re.compile("[\u0300-\u1fff\u20d0-\u20ff\u2c00-\U0010ffff]")
_NUMBER = r"\d+(?:[.,:/]\d+)*"
_USUAL_WORD = re.compile(rf"{_NUMBER}|[^\W_]+(?:'[^\W_]+)*")
_ANY_WORD = regex.compile(
    rf"{_NUMBER}|[{SOLO}]\p{{M}}*|[\p{{L}}\p{{M}}\p{{N}}--[{SOLO}]]+(?:'[\p{{L}}\p{{M}}\p{{N}}--[{SOLO}]]+)*",
    regex.VERSION1,
)
# The blocks of the scripts of SOLO, and all above the basic plane but emoji; and the underscore.
_MAYBE_SOLO = re.compile(
    "[_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\ua9ff\uaa60-\uaa7f\uf900-\ufdff\ufe10-\uffff\U00010000-\U0001efff\U00020000-\U0010ffff]"
)
_MARK = regex.compile(r"\p{M}")
# Characters that are not seen and belong to no word: the soft hyphen, joiners, direction marks.
_VANISHING = "\xad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

Numbers = npt.NDArray[np.int32]
Kinds = npt.NDArray[np.uint8]


class Lexicon:
    """Words by number: as they are shown, and as they are compared. Words never contain blanks, so it learns parts.

    A part is what is between two blanks; its words are looked for only when it is first met.
    """

    def __init__(self) -> None:
        self._shown: list[str] = []
        self._compared: list[str] = []
        self._hashes = array("q")  # of words as they are compared; valid only within one process
        self._kinds = bytearray()
        self._numbers: dict[str, int] = {}
        # The words of part i are words[ends[i]:ends[i + 1]].
        self._words = array("i")
        self._ends = array("q", [0])
        self._parts = WordHashes(self._add)

    @property
    def is_full(self) -> bool:
        """Whether to go on with a new one."""
        return len(self._ends) > _MOST_PARTS

    def words_of(self, texts: Sequence[str]) -> Ragged:
        """Return the numbers of the words of each text, which has the form of typography()."""
        parts, ends = self._parts.of(texts)
        places = parts.astype(np.int64)
        bounds = np.frombuffer(self._ends, dtype=np.int64)
        begins = bounds[places]
        counts = bounds[places + 1] - begins
        numbers = np.frombuffer(self._words, dtype=np.int32)[ranges(begins, counts)]
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        return Ragged(numbers, before[np.append(0, ends)])

    def shown_of(self, numbers: Numbers) -> list[str]:
        """Return words as they are shown."""
        return list(map(self._shown.__getitem__, numbers.tolist()))

    def compared_of(self, numbers: Numbers) -> list[str]:
        """Return words as they are compared."""
        return list(map(self._compared.__getitem__, numbers.tolist()))

    def hashes_of(self, numbers: Numbers) -> npt.NDArray[np.int64]:
        """Return the hashes of words: those of two that are compared as one are equal, in any lexicon."""
        return np.frombuffer(self._hashes, dtype=np.int64)[numbers]

    def kinds_of(self, sentences: Ragged) -> Kinds:
        """Return the kind of each word of some sentences.

        A number begins with a digit. A date is the name of a weekday, or of a month if capitalised or next to a number.
        A name is capitalised and does not begin the sentence; scripts without capitals have no names.
        """
        kinds = np.frombuffer(self._kinds, dtype=np.uint8)[sentences.values]
        begins = sentences.offsets[:-1][sentences.sizes > 0]
        kinds[begins[kinds[begins] == NAME]] = OTHER
        months = np.flatnonzero(kinds == MONTH)
        if len(months):
            dated = np.zeros(len(months), dtype=np.bool_)
            for step in (-1, 1):
                near = np.clip(months + step, 0, len(kinds) - 1)
                together = np.diff(sentences.offsets.searchsorted([months, near], side="right"), axis=0)[0] == 0
                dated |= together & (kinds[near] == NUMBER)
            kinds[months] = np.where(dated, DATE, OTHER)
        return kinds

    def _add(self, part: str) -> int:
        """Learn a part, and return its number."""
        self._words.extend([self._number(word) for word in words_in(part)])
        self._ends.append(len(self._words))
        return len(self._ends) - 2

    def _number(self, word: str) -> int:
        number = self._numbers.setdefault(word, len(self._shown))
        if number == len(self._shown):
            compared = as_compared(word)
            self._shown.append(word)
            self._compared.append(compared)
            self._hashes.append(hash(compared))
            self._kinds.append(word_kind(word))
        return number


def as_compared(word: str) -> str:
    """Return a word as it is compared: case-folded, and 1,200 as 1200."""
    folded = word.casefold()
    return intern(_GROUPED.sub("", folded) if "," in folded else folded)


def word_kind(word: str) -> int:
    """Return the kind of a word as far as the word alone shows it."""
    if word[0].isnumeric():
        return NUMBER
    if (key := word.casefold()) in WEEKDAYS:
        return DATE
    capital = word[0].isupper()
    if key in MONTHS:
        return DATE if capital else MONTH
    return NAME if capital else OTHER


def typography(text: str) -> str:
    """Return a text in the form whose words are compared: without what is not seen, and with one kind of apostrophe."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    for character in _VANISHING:
        text = text.replace(character, "")
    return text


def words_in(text: str) -> list[str]:
    """Return the words of a text in this form, in order."""
    if text.isascii() or not (_MAYBE_UNUSUAL.search(text) and _UNUSUAL.search(text)):
        return _USUAL_WORD.findall(text)
    return (_ANY_WORD if _MAYBE_SOLO.search(text) else _marked_word()).findall(text)


@cache
def _marked_word() -> re.Pattern[str]:
    """Return the pattern of words of letters and marks, for texts without what _MAYBE_SOLO finds.

    The same words as by _ANY_WORD, five times faster. (Here an underscore is a letter.)
    """
    marks = "".join(_MARK.findall("".join(map(chr, range(0x300, 0xFFFF)))))
    letter = rf"[\w{marks}]"
    return re.compile(rf"{_NUMBER}|{letter}+(?:'{letter}+)*")
