"""Normalises headlines for the title pass: removes markup, publisher and punctuation."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from articles.loading import words_for
from articles.normalization.text import UNSPACED, normalize_text
from articles.normalization.urls import registered_name

_WORDS = words_for(__file__)
KICKER = re.compile(_WORDS["kicker"])
_KINDS = _WORDS["kinds"]
_SECTIONS = _WORDS["sections"]
_MARK = _WORDS["mark"]
_MARK_BEFORE = re.compile(
    rf"\A\W*?(?:[(\[]{_MARK}[)\]]\W*|{_MARK}(?:\s*[:|—]+|\s+[-‐‑‒–]\s|(?P<tight>\s?[-‐‑‒–]))\s*)(?=\w)", re.IGNORECASE
)
_MARK_AFTER = re.compile(rf"\s*(?:[(\[]{_MARK}[)\]]|\s[-‐‑‒–—|]\s+{_MARK})\W*\Z", re.IGNORECASE)
# (NYSE: ABC), (TSX-V: ABC.A), [Nasdaq:ABC], ABC.L -
_TICKER = re.compile(
    r"\s*[(\[](?:[A-Z]{2,8}(?:-[A-Z]{1,2}| American)?|Nasdaq|Euronext)\s?:\s?[A-Z0-9]{1,6}(?:[.-][A-Z]{1,2})?[)\]]"
    r"|\A[A-Z0-9]{2,6}\.[A-Z]{1,2}\s+[-–—:]\s+(?=\w)"
)
_WITHOUT_STORY = re.compile(f"{_KINDS}|{_SECTIONS}")

_MOST_WORDS_OF_A_TOPIC = 2
_NUMBER = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
# A station with its channel: WDRB 41.
_STATION = re.compile(r"(?:live \d{1,2} news|(?:abc|cbs|fox|nbc|[kw][a-z]{2,3}) ?\d{1,2}(?: news)?)")
_ROMAN_NUMBER = r"(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3})"
_ROMAN = re.compile(rf"(?:.* )?{_ROMAN_NUMBER}")
_NUMBERED = _WORDS["numbered"]
_NUMERALS = dict(
    zip(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), range(1, 11), strict=True)
)
# Part II, PART TWO, Part 2.
_NUMBERED_PART = re.compile(
    rf"\b(?P<kind>{_NUMBERED})\b(?P<gap>[.\s:#]+)(?:(?P<roman>{_ROMAN_NUMBER})|(?P<word>{'|'.join(_NUMERALS)})|\d+)\b"
    r"(?![.'’]\w)",
    re.IGNORECASE,
)
_DIGITS = {"i": 1, "v": 5, "x": 10}

_PLUS = re.compile(r"(?<![\w+%)\]])[+＋]\s?(?=[.,]?\d)")
# A hyphen or dash is a minus before an amount, not between two numbers; the true minus always is one.
_AMOUNT = (
    r"[\d.,]+\s?(?:[%‰°٪％]|(?:percent|per cent|pct|prozent|pour cent|por ciento|per cento|procent|grad|degrees?"
    r"|points?|bps?)\b)"
)
_MINUS = re.compile(rf"(?<![\w%)\]])(?<!\d\s)(?:−\s?(?=[.,]?\d)|[-‐‑–－](?={_AMOUNT}|\d+[.,]\d))", re.IGNORECASE)
_PLUS_OR_MINUS = re.compile(r"±\s?(?=\d)|(?<!\w)\+/[-−–]\s?(?=\d)")
# A+, BBB-: grades of schools and of debtors.
_GRADE = re.compile(r"(?<![\w+-])(?P<grade>[A-D]{1,3})(?P<sign>[+＋]|[-−–](?![\w-]))(?=[\s,.;:!?)\]'’\"”]|\Z)")
_ANY_SIGN = re.compile("[+＋±−‐‑–－-]")


def is_without_story(part: str, *, last: bool) -> bool:
    """Return whether a normalised part of a headline names no story of its own; `last` if it comes after the longest.

    After the longest part only a number does: Part 2. Before it, one or two words do that are no section and no kind of
    article, as in "Asylum: statistics of …"; longer ones often are what one of two copies lacks.
    """
    if KICKER.fullmatch(part) or _WITHOUT_STORY.fullmatch(part) or _STATION.fullmatch(part):
        return True
    if last:
        return not (_NUMBER.search(part) or _ROMAN.fullmatch(part))
    return len(part.split()) > _MOST_WORDS_OF_A_TOPIC and not _NUMBERED_PART.search(part)


def with_signs(text: str) -> str:
    """Return a headline with the signs of numbers and grades as words, because punctuation is dropped."""
    if not _ANY_SIGN.search(text):
        return text
    text = _PLUS_OR_MINUS.sub(" plus minus ", text)
    text = _GRADE.sub(lambda found: f"{found['grade']} {'plus' if found['sign'] in '+＋' else 'minus'}", text)
    return _MINUS.sub(" minus ", _PLUS.sub(" plus ", text))


def _with_digits(found: re.Match[str]) -> str:
    """Return a numbered part with its number in digits: Part II and Part Two become Part 2."""
    roman, word = found["roman"], found["word"]
    if not roman and not word:
        return found[0]
    values = [_DIGITS[letter] for letter in (roman or "").lower()]
    number = sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))
    return f"{found['kind']}{found['gap']}{number if roman else _NUMERALS[word.lower()]}"


# A part at least this long replaces its title (stories.py of mediacloud/backend, get_normalized_title).
MIN_PART_CHARACTERS = 32
# Begins an affix that needs no separator before it: "… Example Times".
ELLIPSIS = "…"
# "News: Example | Radio" is one affix of three parts; longer ones do not occur.
MAX_AFFIX_PARTS = 3
PREFIX, SUFFIX = "prefix", "suffix"

_PLACEHOLDERS = frozenset({"no title", "untitled"})

# Tags that may be within words; any other tag ends a word.
_INLINE_TAG = re.compile(r"</?(?:a|abbr|b|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr)\b[^<>]*>", re.IGNORECASE)
_OTHER_TAG = re.compile(r"<!--.*?-->|</?[a-z][a-z0-9]*\b[^<>]*>", re.IGNORECASE | re.DOTALL)
# Marks of writing direction. They would come between a separator and its blanks.
_DIRECTION_MARKS = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF])

# A colon splits only before a blank, so that 10:30 is one word. A hyphen or en dash, which also joins words and years,
# splits only between blanks.
_PART_BREAK = re.compile(r"\s+[-‐‑‒–−－]\s+|\s*[—―|｜：]\s*|\s*:+(?:\s+|\Z)")
# Around a name more separators are accepted, because the name must match too. Chinese headlines have no blanks.
_AFFIX_BREAK = re.compile(
    _PART_BREAK.pattern
    + r"|\s+[·•«»‹›~/]+\s+|(?:\s*[()\[\]（）【】|｜])+\s*|\s*_+\s*|(?<=[\u3040-\u30ff\u3400-\u9fff])-+(?=\S)"
)
# Most titles have none of these and take a shortcut.
_ANY_BREAK = re.compile(r"[-‐‑‒–−－—―|｜：:·•«»‹›~/()\[\]（）【】_]")
# Dropped between two letters, a full stop only between single ones: Mayor's is Mayors, and U.S. is US. All other
# punctuation separates words. Some write Mayor' s.
_WITHIN_WORD = re.compile(
    r"""['’‘`´′"“”„!@#*$^~](?<=[^\W\d_].)['’‘`´′"“”„!@#*$^~]*(?=[^\W\d_])"""
    r"""|['’](?<=[^\W\d_].)\s+(?=[sS](?![^\W_]))"""
    r"""|\.(?:(?<=\A[^\W\d_].)|(?<=[\W_][^\W\d_].))(?=[^\W\d_](?:[\W_]|\Z))"""
)
# Each of them begins with one of these.
_ANY_WITHIN_WORD = re.compile(r"""['’‘`´′"“”„!@#*$^~.]""")
_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)+")


class Piece(NamedTuple):
    """A piece at one end of a headline, outside a separator, and the rest of the headline."""

    side: str
    name: str
    rest: str


def normalize_title(title: str, affixes: Sequence[str] = ()) -> str:
    """Return the headline in lower case without markup, publisher and punctuation; '' matches nothing.

    `affixes` are the newspaper's names, dropped at either end of the title; "The" before them and the form of
    a domain make no difference, and one that begins with "…" needs no separator before it. A kicker ("Watch:") is
    dropped too. If the longest part between separators has 32 characters or more, the others are dropped that name no
    story of their own: a section, a source or a kicker that one of two copies lacks must not separate them. "Asylum:
    <long part>" and "Migration: <long part>" differ, and so do "<long part> – Part I" and "Part II". Signs of numbers
    are words: +3% and -3% differ. '' for "(no title)" and "untitled". Idempotent.
    """
    names = _names(tuple(affixes))
    text = _without_kickers(_without_names(without_markup(title), names))
    parts = [part for part in map(_normalize, _PART_BREAK.split(text)) if part]
    longest = max(parts, key=len, default="")
    if len(longest) < MIN_PART_CHARACTERS or name_key(longest) in names.keys:
        form = _normalize(text)
    else:
        place = parts.index(longest)
        before = (part.removeprefix("the ") for part in parts[:place])
        kept = [part for part in before if not is_without_story(part, last=False)]
        kept += [longest, *(part for part in parts[place + 1 :] if not is_without_story(part, last=True))]
        form = " ".join(kept)
    return "" if form in _PLACEHOLDERS else form


_LEAST_WORDS = 3
_UNSPACED_WORDS = re.compile(f"[{UNSPACED}]{{{2 * _LEAST_WORDS}}}")


def is_telling(normalized_title: str) -> bool:
    """Return whether a headline has the words that the title pass asks for by default."""
    return len(normalized_title.split()) >= _LEAST_WORDS or bool(_UNSPACED_WORDS.search(normalized_title))


# Words that differ only by a slip are more alike than this (difflib's ratio).
_A_SLIP = 0.8


def tells_apart(one: str, other: str) -> bool:
    """Return whether each of two headlines has words that the other lacks: "at UCLA" and "vs. Charlotte".

    Kickers, kinds of articles, sections and marks such as "Corrected" do not count, nor does what looks like a slip.
    """
    first, second = _told(one), _told(other)
    own, others = (" ".join(words) for words in (first - second, second - first))
    if not own or not others:
        return False
    return bool(_NUMBER.search(own + others)) or SequenceMatcher(None, own, others).ratio() <= _A_SLIP


def _told(title: str) -> Counter[str]:
    """Return the words of a headline in order, without the parts that are kinds of articles and sections."""
    parts = [part for part in map(_normalize, _PART_BREAK.split(_without_marks(without_markup(title)))) if part]
    telling = [part for part in parts if not (KICKER.fullmatch(part) or _WITHOUT_STORY.fullmatch(part))]
    return Counter(" ".join(telling or parts).split())


def plain_title(title: str, affixes: Sequence[str] = ()) -> str:
    """Return the headline as people read it, without markup and without the newspaper's names at either end."""
    return _without_names(without_markup(title), _names(tuple(affixes)))


def without_markup(title: str) -> str:
    """Drop tags and direction marks and decode entities; feeds may have escaped all of them twice."""
    title = _without_tags(title)
    if "&" in title:
        title = _without_tags(html.unescape(html.unescape(title)))
    return title.translate(_DIRECTION_MARKS).strip()


def name_key(name: str) -> str:
    """Return what the spellings of a newspaper's name share: The Example Times, exampletimes.com."""
    name = name.strip().lower()
    if _DOMAIN.fullmatch(name):
        name = registered_name(name) or name
    return normalize_text(name).replace(" ", "").removeprefix("the")


def end_pieces(title: str) -> Iterator[Piece]:
    """Yield the pieces after the last separators of a title without markup, then before the first; long ones first.

    A piece, or the rest, may have no letters.
    """
    breaks = [found.span() for found in _AFFIX_BREAK.finditer(title)] if _ANY_BREAK.search(title) else []
    for begin, end in breaks[-MAX_AFFIX_PARTS:]:
        yield Piece(SUFFIX, title[end:].strip(), title[:begin].strip())
    for begin, end in reversed(breaks[:MAX_AFFIX_PARTS]):
        yield Piece(PREFIX, title[:begin].strip(), title[end:].strip())


class _Names(NamedTuple):
    """A newspaper's names: the keys of all, and a pattern of those that need no separator before them."""

    keys: frozenset[str]
    ending: re.Pattern[str] | None


@lru_cache(maxsize=1024)
def _names(names: tuple[str, ...]) -> _Names:
    keys = frozenset(key for key in map(name_key, names) if key)
    endings = [words for name in names if name.strip().startswith(ELLIPSIS) and (words := normalize_text(name).split())]
    if not endings:
        return _Names(keys, None)
    either = "|".join(r"[\W_]+".join(map(re.escape, words)) for words in sorted(endings, key=len, reverse=True))
    return _Names(keys, re.compile(rf"[\W_]+(?:{either})[\W_]*\Z", re.IGNORECASE))


def _without_names(title: str, names: _Names) -> str:
    """Drop the newspaper's names from both ends of a title unless nothing would be left."""
    rest: str | None = title
    while names.keys and rest is not None:
        title = rest
        rest = next((rest for rest in _rests(title, names) if normalize_text(rest)), None)
    return title


def _rests(title: str, names: _Names) -> Iterator[str]:
    """Yield what is left of a title without one of the names, the longest name first."""
    yield from (piece.rest for piece in end_pieces(title) if name_key(piece.name) in names.keys)
    if names.ending is not None and (found := names.ending.search(title)):
        yield title[: found.start()].strip()


def _without_marks(title: str) -> str:
    """Drop tickers, and marks of what is published again, unless nothing would be left.

    A hyphen without a blank joins words, "Update-proof", unless the mark before it is in capitals.
    """
    rest = _TICKER.sub("", title)
    while found := _MARK_BEFORE.match(rest):
        if found["tight"] and not found[0].isupper():
            break
        rest = rest[found.end() :]
    rest = _MARK_AFTER.sub("", rest)
    return rest if _LETTER.search(rest) else title


def _without_kickers(title: str) -> str:
    """Drop tickers, marks and the one-word prefixes of a title unless nothing would be left."""
    title = _without_marks(title)
    while found := _PART_BREAK.search(title):
        rest = _without_marks(title[found.end() :])
        if not KICKER.fullmatch(normalize_text(title[: found.start()])) or not normalize_text(rest):
            break
        title = rest
    return title


def _without_tags(title: str) -> str:
    return _OTHER_TAG.sub(" ", _INLINE_TAG.sub("", title)) if "<" in title else title


def _normalize(part: str) -> str:
    part = _NUMBERED_PART.sub(_with_digits, with_signs(part))
    return normalize_text(_WITHIN_WORD.sub("", part) if _ANY_WITHIN_WORD.search(part) else part)
