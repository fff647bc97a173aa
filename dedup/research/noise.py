"""Damages texts as scanning and editing do: letters misread, words broken, ends cut off, paragraphs moved. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

from articles.normalization.sentences import sentences_of

# What is misread for what, by shape. The kinds are those that Kukich names, "Techniques for automatically correcting
# words in text", ACM Computing Surveys 24 (1992), 1.2: one letter for another, two for one, one for two, and blanks
# lost or added. The table itself is made up for these measurements.
_MISREAD = {
    "rn": ("m",), "m": ("rn", "in"), "cl": ("d",), "d": ("cl", "a"), "li": ("h",), "h": ("b", "li"), "ii": ("u",),
    "vv": ("w",), "w": ("vv",), "fi": ("f",), "ri": ("n",), "nn": ("m",),
    "a": ("o", "u", "s"), "b": ("h", "6"), "c": ("e", "o"), "e": ("c", "o"), "f": ("t",), "g": ("q", "9"),
    "i": ("l", "1", "j"),
    "j": ("i",), "k": ("h", "lc"), "l": ("1", "i", "I"), "n": ("u", "ri"), "o": ("c", "0", "a"), "q": ("g",),
    "r": ("t",), "s": ("5", "a"), "t": ("f", "l"), "u": ("n", "ii"), "v": ("y",), "x": ("z",), "y": ("v",), "z": ("x",),
    "B": ("8", "R"), "C": ("G",), "D": ("O",), "E": ("F", "B"), "G": ("6", "C"), "I": ("l", "1"), "O": ("0", "Q"),
    "S": ("5", "8"), "T": ("I",), "Z": ("2",), "0": ("O",), "1": ("l", "I"), "5": ("S",), "6": ("b",), "8": ("B",),
    ".": (",", ""), ",": (".", ""), "-": ("",), " ": ("",),
}  # fmt: skip
# A letter of another script, or one that is not misread for a similar one: lost, doubled, or followed by a blank.
_ELSE: tuple[Callable[[str], str], ...] = (lambda _letter: "", lambda letter: letter * 2, lambda letter: f"{letter} ")
# As often as other letters are lost or broken in two.
_OTHERWISE = 0.2
_COLUMN = 42  # characters of a line of a newspaper column
_BLOCKS = 5
_LEAST_BLOCKS = 3
_PARAGRAPHS = re.compile(r"\n+")


@dataclass(frozen=True, slots=True)
class Noise:
    """A kind of damage: what it does to a text with some dice, and whether it hits headlines too."""

    name: str
    label: str
    damage: Callable[[str, Random], str]
    headlines: bool = False


def misread(text: str, dice: Random, *, share: float) -> str:
    """Return the text with about this share of its characters misread."""
    read: list[str] = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter == "\n" or dice.random() >= share:
            read.append(letter)
            place += 1
            continue
        two = text[place : place + 2]
        seen = two if two in _MISREAD else letter
        known = _MISREAD.get(seen)
        if known is None or dice.random() < _OTHERWISE:
            read.append(dice.choice(_ELSE)(letter))
            place += 1
        else:
            read.append(dice.choice(known))
            place += len(seen)
    return "".join(read)


def hyphenated(text: str, dice: Random) -> str:
    """Return the text in lines of a narrow column; words at their ends are broken with a hyphen."""
    return "\n\n".join("\n".join(_lines(paragraph, dice)) for paragraph in _PARAGRAPHS.split(text))


def _lines(paragraph: str, dice: Random) -> list[str]:
    lines = [""]
    for word in paragraph.split():
        blank = " " if lines[-1] else ""
        if len(lines[-1]) + len(blank) + len(word) <= _COLUMN:
            lines[-1] += blank + word
        elif len(word) > 3 and len(lines[-1]) + 4 <= _COLUMN:
            at = dice.randrange(2, min(len(word) - 1, _COLUMN - len(lines[-1]) - 1))
            lines[-1] += f"{blank}{word[:at]}-"
            lines.append(word[at:])
        else:
            lines.append(word)
    return lines


def cropped(text: str, _dice: Random, *, share: float) -> str:
    """Return the first words of the text, this share of them, and at least one."""
    words = list(re.finditer(r"\S+", text))
    return text[: words[max(round(share * len(words)), 1) - 1].end()] if words else text


def moved(text: str, dice: Random) -> str:
    """Return the text with its paragraphs in another order; one of few paragraphs is cut between sentences."""
    blocks = [block for block in _PARAGRAPHS.split(text) if block.strip()]
    if len(blocks) < _LEAST_BLOCKS:
        said = sentences_of(text)
        size = max(-(-len(said) // _BLOCKS), 1)
        blocks = [" ".join(said[start : start + size]) for start in range(0, len(said), size)]
    order = blocks[:]
    while len(set(blocks)) > 1 and order == blocks:
        dice.shuffle(order)
    return "\n\n".join(order)


def _scanned(text: str, dice: Random) -> str:
    return misread(hyphenated(text, dice), dice, share=0.05)


def _noises() -> Iterator[Noise]:
    yield Noise("none", "unchanged", lambda text, _dice: text)
    for percent in (1, 3, 5, 10):
        damage = partial(misread, share=percent / 100)
        yield Noise(f"ocr_{percent}", f"{percent}% of characters misread", damage, headlines=True)
    yield Noise("hyphens", "lines of a column, words hyphenated", hyphenated)
    yield Noise("scan", "hyphenated, and 5% misread", _scanned, headlines=True)
    for percent in (80, 50, 30):
        yield Noise(f"crop_{percent}", f"cropped to the first {percent}%", partial(cropped, share=percent / 100))
    yield Noise("moved", "paragraphs moved", moved)


NOISES = tuple(_noises())
