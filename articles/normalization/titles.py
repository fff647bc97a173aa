"""The form of a headline that the title pass compares: without markup, publisher and punctuation."""

import html
import re
from collections.abc import Sequence
from functools import lru_cache

from articles.normalization.text import normalize_text
from articles.normalization.urls import registered_name

# A part at least this long stands for its title (stories.py of mediacloud/backend, get_normalized_title).
MIN_PART_CHARACTERS = 32

# Their tags stand within words; any other tag ends one.
_INLINE_TAG = re.compile(r"</?(?:a|abbr|b|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr)\b[^<>]*>", re.IGNORECASE)
_OTHER_TAG = re.compile(r"<!--.*?-->|</?[a-z][a-z0-9]*\b[^<>]*>", re.IGNORECASE | re.DOTALL)

# A colon splits only before a blank, so that 10:30 is one word; a hyphen and an en dash, which also join
# words and years, only between blanks.
_PART_BREAK = re.compile(r"\s+[-‐‑–]\s+|\s*[—―|｜：]\s*|\s*:+(?:\s+|\Z)")
_AFFIX_BREAK = re.compile(_PART_BREAK.pattern + r"|\s+[·•«»‹›]\s+")
# "News: Example | Radio" is one affix of three parts; longer ones are not met.
_MAX_AFFIX_PARTS = 3

_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_PLACEHOLDERS = frozenset({"no title", "untitled"})


def normalize_title(title: str, affixes: Sequence[str] = ()) -> str:
    """Return the headline in lower case without markup, publisher and punctuation; '' matches nothing.

    `affixes` are the newspaper's names, dropped at either end of the title; "The" before them and the form of
    a domain make no difference. Of what is left, the longest part between separators stands for the whole
    if it has 32 characters or more: a section or a kicker that one of two copies lacks must not part them.
    So "Budget: <long part>" and "Analysis: <long part>" are one form, which is why a match is evidence only.
    '' for "(no title)" and "untitled". The result of a result is that result.
    """
    names = _name_keys(tuple(affixes))
    text = _without_names(_without_markup(title), names)
    longest = max(map(normalize_text, _PART_BREAK.split(text)), key=len)
    if len(longest) < MIN_PART_CHARACTERS or _name_key(longest) in names:
        longest = normalize_text(text)
    return "" if longest in _PLACEHOLDERS else longest


def plain_title(title: str, affixes: Sequence[str] = ()) -> str:
    """Return the headline as it is read, without markup and the newspaper's names at either end."""
    return _without_names(_without_markup(title), _name_keys(tuple(affixes))).strip()


def _without_markup(title: str) -> str:
    """Drop tags and decode entities, both of which feeds may have escaped once more."""
    title = _without_tags(title)
    if "&" in title:
        title = _without_tags(html.unescape(html.unescape(title)))
    return title.strip()


def _without_tags(title: str) -> str:
    return _OTHER_TAG.sub(" ", _INLINE_TAG.sub("", title)) if "<" in title else title


def _without_names(title: str, names: frozenset[str]) -> str:
    """Drop the newspaper's names from both ends of a title, as long as something is left."""
    breaks = [found.span() for found in _AFFIX_BREAK.finditer(title)] if names else []
    begin, end = 0, len(title)
    while breaks:
        last, first = breaks[: -_MAX_AFFIX_PARTS - 1 : -1], breaks[:_MAX_AFFIX_PARTS]
        if suffix := next((cut for cut in last if _name_key(title[cut[1] : end]) in names), None):
            end = suffix[0]
        elif prefix := next((cut for cut in first if _name_key(title[begin : cut[0]]) in names), None):
            begin = prefix[1]
        else:
            break
        breaks = [cut for cut in breaks if begin < cut[0] and cut[1] < end]
    return title[begin:end]


@lru_cache(maxsize=1024)
def _name_keys(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(key for key in map(_name_key, names) if key)


def _name_key(name: str) -> str:
    """Return what the spellings of a newspaper's name share: The Example Times, exampletimes.com."""
    name = name.strip().lower()
    if _DOMAIN.fullmatch(name):
        name = registered_name(name) or name
    return normalize_text(name).replace(" ", "").removeprefix("the")
