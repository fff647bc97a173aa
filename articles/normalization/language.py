"""Detects the language of a text by letter sequences (langid: Lui, Baldwin 2011), offline. Pure."""

from __future__ import annotations

from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from articles.normalization.text import letters

# In ten languages, each sentence of this length was recognised or left open, and none was mistaken.
MIN_LETTERS = 40
# The beginning is enough for most texts; more is read of the others.
SAMPLES = (120, 240, 1_000)
MIN_PROBABILITY = 0.8
# The language that the page declares is believed if the text makes it this likely.
MIN_DECLARED_PROBABILITY = 0.3
# The languages of newspapers, out of those in the model, which would take some for dialects or dead languages.
LANGUAGES = frozenset({
    "af", "am", "ar", "as", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "dv", "el", "en", "eo", "es",
    "et", "eu", "fa", "fi", "fr", "fy", "ga", "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu", "hy", "id", "ig", "is",
    "it", "ja", "ka", "kk", "km", "kn", "ko", "ku", "ky", "lb", "lo", "lt", "lv", "mg", "mk", "ml", "mn", "mr", "ms",
    "mt", "my", "ne", "nl", "no", "or", "pa", "pl", "ps", "pt", "ro", "ru", "rw", "sd", "si", "sk", "sl", "so", "sq",
    "sr", "sv", "sw", "ta", "te", "tg", "th", "tk", "tl", "tr", "ug", "uk", "ur", "uz", "vi", "xh", "yo", "zh", "zu",
})  # fmt: skip
# Codes that a page or the model may give for languages that letters do not distinguish.
_SAME = {"nb": "no", "nn": "no", "fil": "tl", "iw": "he", "in": "id", "cmn": "zh"}


def detect_language(text: str, declared: str = "") -> str:
    """Return the ISO 639 code of the text's language; empty if the text is too short or the language uncertain.

    `declared` is the language that the page declares; it decides if the text alone leaves doubt.
    """
    declared = _SAME.get(declared, declared)
    beginning = " ".join(text[: 2 * SAMPLES[-1]].split())
    if letters(beginning[: SAMPLES[1]]) < MIN_LETTERS and letters(beginning) < MIN_LETTERS:
        return ""
    for length in SAMPLES:
        language, probability = _identifier().classify(beginning[:length])
        if probability >= MIN_PROBABILITY:
            return language
        if len(beginning) <= length:
            break
    likely = dict(_identifier().rank(beginning[:length])) if declared else {}
    return declared if likely.get(declared, 0) >= MIN_DECLARED_PROBABILITY else ""


@cache
def _identifier() -> LanguageIdentifier:
    """Return the model, which takes a second to load."""
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES & set(identifier.labels))
    return identifier
