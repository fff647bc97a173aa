"""Normalises texts for comparison: removes case, punctuation and typography."""

import hashlib
import html
import re
import unicodedata
import uuid

# Letters, marks and numbers stay. Marks (M) are vowels in Sinhala, Tamil, Hindi and others.
_KEPT_CATEGORIES = frozenset("LMN")
# Format characters (soft hyphen, zero-width joiners, direction marks) and enclosing marks (the key of an
# emoji digit) vanish within a word.
_VANISHING_CATEGORIES = frozenset({"Cf", "Me"})
# Letters and marks by category that only modify others: the combining grapheme joiner, the Arabic tatweel,
# Hangul fillers, and the variation selectors that make an emoji of a sign. Two spellings are one text.
_VANISHING = re.compile("[\u034f\u0640\u115f\u1160\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")

# Spellings of one Arabic word: alef with hamza, madda or wasla; final yeh with and without dots; teh marbuta as heh;
# optional vowel marks.
_ARABIC = {
    **dict.fromkeys(map(ord, "أإآٱ"), "ا"),
    ord("ى"): "ي",
    ord("ة"): "ه",
    **dict.fromkeys([*range(0x064B, 0x0656), 0x0670]),
}

_NO_LETTERS = re.compile(r"[\W_]+")

# Only tags of running text, so that "for x<y and y>z" and a URL in angle brackets stay.
_TAG = re.compile(
    r"</?(?:(?P<block>blockquote|br|div|h[1-6]|hr|li|ol|p|table|td|th|tr|ul)"
    r"|a|abbr|b|big|cite|code|del|em|font|i|img|ins|mark|q|s|small|span|strike|strong|sub|sup|tt|u|wbr)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)


class _CharacterTable(dict[int, str | None]):
    """The table for str.translate, filled when a character first occurs."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        if code in _ARABIC:
            result: str | None = _ARABIC[code]
        elif _VANISHING.match(character) or category in _VANISHING_CATEGORIES:
            result = None
        elif category[0] in _KEPT_CATEGORIES:
            result = character
        else:
            result = " "
        self[code] = result
        return result


_TABLE = _CharacterTable()

# Most texts of Latin script are Latin-1 but for these marks, which only separate words. Such a text takes a shortcut
# through bytes, which is five times as fast.
_MARKS = "\u2019\u2018\u201c\u201d\u2013\u2014\u2026\u00a0"
_SHARP_S, _SOFT_HYPHEN = "ß", b"\xad"


def normalize_text(text: str) -> str:
    """Return the case-folded text in NFKC, as words of letters, marks and digits with single blanks.

    Idempotent. Empty for a text without letters and digits.
    Source: the "homogenised content" of the similarity join, whose first 1000 characters are compared.
    """
    if not text.isascii():
        for mark in _MARKS:
            text = text.replace(mark, " ")
        text = text.replace(_SHARP_S, "ss")
    try:
        data = text.encode("latin-1")
    except UnicodeEncodeError:
        return _normalized(text)
    if not data.isascii() and len(data.translate(None, _DECOMPOSED)) < len(data):
        return _normalized(text)
    words = data.translate(_LATIN_1, _SOFT_HYPHEN)
    # A text has few runs of blanks, so this takes half the time of splitting it into words.
    while b"  " in words:
        words = words.replace(b"  ", b" ")
    return words.strip().decode("latin-1")


def _normalized(text: str) -> str:
    """Return the same for any text."""
    # Folding makes STRASSE and Straße equal, and both small sigmas; lower() because folding makes Cherokee capitals.
    folded = unicodedata.normalize("NFKC", text).casefold().lower()
    return " ".join(unicodedata.normalize("NFKC", folded.translate(_TABLE)).split())


def _is_one_character(code: int) -> bool:
    """Return whether a character of Latin-1 is normalised to one of Latin-1, or to nothing."""
    return unicodedata.normalize("NFKC", chr(code)) == chr(code) and len(chr(code).casefold()) == 1


_DECOMPOSED = bytes(code for code in range(256) if not _is_one_character(code))
_LATIN_1 = bytes(ord(_TABLE[ord(chr(code).casefold())] or " ") if _is_one_character(code) else 0 for code in range(256))


def text_digest(normalized_text: str) -> uuid.UUID | None:
    """Return 128 bits of BLAKE2b over a normalised text; None for an empty one, which equals nothing."""
    if not normalized_text:
        return None
    return uuid.UUID(bytes=hashlib.blake2b(normalized_text.encode(), digest_size=16).digest())


# Thai, Lao, Burmese, Khmer, kana and Han have no blanks between words: two characters count as a word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_UNSPACED = re.compile(f"[{UNSPACED}]")
# A text of at most so many words may be a teaser: the description in a feed, cut anywhere.
TEASER_WORDS, TEASER_CHARACTERS = 60, 600


def teaser_of(normalized_text: str) -> str:
    """Return a normalised text that is no longer than a teaser; empty for a longer one."""
    if len(normalized_text) > TEASER_CHARACTERS:
        return ""
    words = len(normalized_text.split()) + len(_UNSPACED.findall(normalized_text)) // 2
    return normalized_text if words <= TEASER_WORDS else ""


def is_same_teaser(one: str, other: str) -> bool:
    """Return whether two teasers have the same numbers, in digits of any script, or one has all of the other."""
    if not one or not other:
        return False
    return one in other or other in one or _numbers(one) == _numbers(other)


def _numbers(text: str) -> list[str]:
    return sorted("".join(character if character.isnumeric() else " " for character in text).split())


def letters(text: str) -> int:
    """Return the number of letters and digits."""
    return len(_NO_LETTERS.sub("", text))


def plain_text(markup: str) -> str:
    """Return a headline or teaser as one line, without HTML tags and entities."""
    text = markup
    if "<" in text:
        text = _TAG.sub(lambda tag: " " if tag["block"] else "", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return " ".join(text.split())


def storable(text: str) -> str:
    """Return a text without characters that PostgreSQL does not store."""
    return text.replace("\0", "").encode(errors="replace").decode()
