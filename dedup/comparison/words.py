"""The words of a text, as they are shown and as they are compared. Pure.

Words are compared as written, including case. Only blanks, Unicode composition and the typography of quotation
marks and dashes are ignored, because they do not matter to an editor. Scripts without blanks between words
(Chinese, Japanese, Thai, Khmer …) are compared character by character.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


def _characters(*categories: str) -> str:
    """Return the characters of these Unicode categories in the basic plane, escaped for a character class."""
    found = (chr(code) for code in range(0x10000) if unicodedata.category(chr(code)).startswith(categories))
    return re.escape("".join(found))


# Scripts without blanks between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_SOLO = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_PUNCTUATION = _characters("P", "S")
_WORD = f"[^\\s{_SOLO}{_PUNCTUATION}]+"
# A solo character with its vowel and tone marks; or a word or number with its inner punctuation; or any character.
_TOKEN = re.compile(f"(?:[{_SOLO}][{_characters('M')}]*|{_WORD}(?:['’.,]{_WORD})*|\\S)")
_SENTENCE_ENDS = frozenset(".!?…。！？｡।॥؟۔።։")
_TYPOGRAPHY = str.maketrans("‘’‚“”„«»‐‑–—", '\'\'\'"""""----')


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text: as they are shown, each with the blanks after it, and as they are compared.

    Two lists of strings instead of an object per word: there may be 80,000, and the garbage collector ignores strings.
    """

    shown: list[str]
    keys: list[str]

    def ends_paragraph(self, at: int) -> bool:
        return "\n" in self.shown[at]

    def ends_sentence(self, at: int) -> bool:
        return self.keys[at] in _SENTENCE_ENDS or self.ends_paragraph(at)


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of the two texts to compare."""

    left: Words
    right: Words


def words_of(text: str) -> Words:
    """Return the words of a text."""
    found = _TOKEN.findall(text)
    starts = [match.start() for match in _TOKEN.finditer(text)]
    ends = [*starts[1:], len(text)]
    return Words(
        shown=[text[start:end] for start, end in zip(starts, ends, strict=True)] if starts else [],
        keys=[word if word.isascii() else unicodedata.normalize("NFC", word.translate(_TYPOGRAPHY)) for word in found],
    )
