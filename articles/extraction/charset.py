"""Decodes the bytes of a page. Pure.

What a page says of its charset is often wrong, but bytes that are valid UTF-8 are hardly ever anything else: a text of
another charset becomes valid UTF-8 by chance only if it is a few characters long.
"""

from __future__ import annotations

import re

import charset_normalizer
from w3lib.encoding import html_to_unicode

from articles.normalization.language import detect_language

# How much of a page is used to guess its charset, from shortly before its first byte that is not ASCII.
_GUESSED_BYTES = 50_000
_BEFORE = 200
# A page with this many good characters for each bad one is UTF-8 with a few bad bytes.
_GOOD_FOR_EACH_BAD = 20
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")
_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
_TAG = re.compile(rb"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
# In Latin script, at most this share of the letters of words with accents has one.
_MAX_ACCENTS = 0.55
# Signs that windows-1252 has where the charsets of other languages have letters.
_SIGN_IN_WORD = re.compile("[a-z][¹²³¼¾¿ªº±£¥§¶µ\x80-\x9f][a-z]", re.IGNORECASE)
# The charsets of languages in Latin script with letters that windows-1252 does not have.
_CHARSETS = dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sr"), "cp1250") | {
    "lt": "cp1257", "lv": "cp1257", "tr": "cp1254", "vi": "cp1258",
}  # fmt: skip


def decode_page(body: bytes, content_type: str = "") -> str:
    """Return the page's text.

    Its charset is that of a byte order mark, UTF-8 if the bytes are valid UTF-8, else that of the HTTP header or a meta
    element. It is guessed if none is declared, or if the declared one does not fit.
    """
    if encoding := _wide_encoding(body):
        return body.decode(encoding, "replace")
    if _is_utf_8(body):
        return body.decode("utf-8-sig", "replace")
    if body.isascii() and _ISO_2022_JP.search(body):
        return body.decode("iso2022_jp", "replace")
    text = html_to_unicode(content_type or None, body, auto_detect_fun=_guess_charset)[1]
    if "\ufffd" in text and b"\xef\xbf\xbd" not in body and (guess := _better_guess(text, body)):
        return body.decode(guess, "replace")
    return text


def _is_utf_8(body: bytes) -> bool:
    """Return whether the bytes beyond ASCII are UTF-8, but for a few. ASCII alone may be of any charset."""
    if body.isascii():
        return False
    text = body.decode("utf-8", "replace")
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    bad = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return beyond > bad * (_GOOD_FOR_EACH_BAD + 1)


def _wide_encoding(body: bytes) -> str:
    """Return which UTF-16 without a byte order mark this is, because every other byte is zero; '' if it is not."""
    start = body[:400]
    if len(start) < 4 or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ""
    shares = [start[offset::2].count(0) / len(start[offset::2]) for offset in (0, 1)]
    if max(shares) < 0.7 or min(shares) > 0.1:
        return ""
    return "utf-16-be" if shares[0] > shares[1] else "utf-16-le"


def _guess_charset(body: bytes) -> str | None:
    if body.isascii():
        return "utf-8"
    sample = _sample(body)
    if latin := _latin_charset(sample):
        return latin
    guess = charset_normalizer.from_bytes(sample).best()
    return guess.encoding if guess else _japanese_charset(sample)


def _latin_charset(sample: bytes) -> str | None:
    """Return the charset of a text in Latin script; windows-1252 unless it cannot be. Others mistake short texts."""
    plain = _TAG.sub(b" ", sample)
    # A single byte is a dash or a quotation mark, or a short word of a text in another script, which has longer ones.
    words = [word for word in _WORD.findall(plain) if not word.isascii() and len(word) > 1]
    if not words:
        return "cp1252"
    accents = sum(byte > 0x7F for word in words for byte in word)
    if accents > _MAX_ACCENTS * sum(map(len, words)):
        return None
    text = plain.decode("cp1252", "replace")
    if charset := _CHARSETS.get(detect_language(text)):
        fits = not _SIGN_IN_WORD.search(plain.decode(charset, "replace"))
        return charset if fits or charset != "cp1250" else "iso8859_2"
    return None if "\ufffd" in text or _SIGN_IN_WORD.search(text) else "cp1252"


def _japanese_charset(sample: bytes) -> str | None:
    """Return the Japanese charset in which a tenth of the text is kana; charset_normalizer misses short texts."""
    for encoding in ("cp932", "euc_jp"):
        text = sample.decode(encoding, "ignore")
        if len(_KANA.findall(text)) * 10 > sum(character > "\x7f" for character in text):
            return encoding
    return None


def _sample(body: bytes) -> bytes:
    """Return the part of the body from which its charset is guessed."""
    found = re.search(rb"[\x80-\xff]", body)
    start = found.start() if found else 0
    start = max(0, start - _BEFORE)
    return body[start : start + _GUESSED_BYTES]


def _better_guess(text: str, body: bytes) -> str | None:
    """Return another charset if the declared one decodes less than half of the characters beyond ASCII."""
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return _guess_charset(body) if text.count("\ufffd") > beyond / 2 else None
