"""Measures how much two texts of a page have in common. Pure."""

import re
from collections.abc import Collection, Iterable

# Words are compared by their beginnings, because many languages inflect them.
STEM_CHARACTERS = 5
MIN_WORD_CHARACTERS = 4
SHINGLE_WORDS = 4
# Scripts that are written without blanks between words: Thai to Khmer, kana, Chinese characters.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Vowel signs and accents that are characters of their own.
_MARKS = "\u0300-\u036f\u064b-\u065f\u0900-\u0dff"
_RUN = re.compile(f"[{UNSPACED}]+|[^\\W{UNSPACED}][^\\W{UNSPACED}{_MARKS}]*(?:[{_MARKS}]+[^\\W{UNSPACED}{_MARKS}]*)*")
_WORD = re.compile(f"[{UNSPACED}]|[^\\W{UNSPACED}]+")


def terms(texts: Iterable[str]) -> set[str]:
    """Return the beginnings of the longer words; pairs of characters in scripts without blanks."""
    found: set[str] = set()
    for run in _RUN.findall(" ".join(texts).casefold()):
        if re.match(f"[{UNSPACED}]", run):
            found.update(run[start : start + 2] for start in range(len(run) - 1))
        elif len(run) >= MIN_WORD_CHARACTERS:
            found.add(run[:STEM_CHARACTERS])
    return found


def relevance(text: str, wanted: Collection[str]) -> float:
    """Return the share of the wanted terms that the text has; 0 if none are wanted."""
    return len(terms([text]).intersection(wanted)) / len(wanted) if wanted else 0.0


def coverage(part: str, whole: str) -> float:
    """Return the share of the sequences of four words of `part` that `whole` has; 0 if `part` is shorter."""
    wanted, found = set(shingles(part.casefold())), set(shingles(whole.casefold()))
    return len(wanted & found) / len(wanted) if wanted else 0.0


def shingles(text: str, *, least: int = SHINGLE_WORDS) -> list[tuple[str, ...]]:
    """Return the sequences of four words; of a shorter text with `least` words or more, one sequence of all of them.

    In scripts without blanks, each character is a word.
    """
    words = _WORD.findall(text)
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1)) if len(words) >= least else ()
    return [tuple(words[start : start + SHINGLE_WORDS]) for start in starts]
