"""Normalises headlines for the title pass: removes markup, publisher and punctuation."""

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from articles.normalization.headline_parts import KICKER, is_without_story, with_numbered_parts, with_signs
from articles.normalization.text import normalize_text
from articles.normalization.urls import registered_name

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
    for piece in end_pieces(title):
        if name_key(piece.name) in names.keys:
            yield piece.rest
    if names.ending is not None and (found := names.ending.search(title)):
        yield title[: found.start()].strip()


def _without_kickers(title: str) -> str:
    """Drop the one-word prefixes of a title unless nothing would be left."""
    while found := _PART_BREAK.search(title):
        rest = title[found.end() :]
        if not KICKER.fullmatch(normalize_text(title[: found.start()])) or not normalize_text(rest):
            break
        title = rest
    return title


def _without_tags(title: str) -> str:
    return _OTHER_TAG.sub(" ", _INLINE_TAG.sub("", title)) if "<" in title else title


def _normalize(part: str) -> str:
    part = with_numbered_parts(with_signs(part))
    return normalize_text(_WITHIN_WORD.sub("", part) if _ANY_WITHIN_WORD.search(part) else part)
