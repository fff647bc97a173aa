"""Finds out why a text may not be the article of its page, or not all of it, and says so to people. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from articles.extraction.body import FoundText
from articles.extraction.relevance import coverage, relevance
from articles.normalization.text import letters

# A text with less than this share of the page's prose may be a piece of the article.
MIN_PROSE_SHARE = 0.5
# Shorter declared bodies are summaries.
MIN_DECLARED_LETTERS = 200
MIN_DECLARED_COVERAGE = 0.5
# If the page has another text, this one should have at least this share of the words of headline and description.
MIN_RELEVANCE = 0.35
# Longer texts are articles, even if they are about subscriptions or cookies.
MAX_NOTICE_LETTERS = 900
MIN_NOTICE_SHARE = 0.4
_SENTENCE = re.compile(r"[^.!?\n。！？।؟]+[.!?\n。！？।؟]*")
_NOTICE = re.compile(
    r"""subscri(?:be|ption|bers?)\b | \bsign(?:ed)?[ -]?(?:in|up)\b | \blog(?:ged)?[ -]?in\b | \bregist(?:er|ration)\b
    | free\ trial | cancel\ any ?time | unlimited\ (?:digital\ )?access | create\ an?\ (?:free\ )?account | \bad-?block
    | cookies? | consent\b | privacy\ (?:policy|settings) | enable\ javascript | verify\ (?:that\ )?you\ are | captcha
    | \babonn | \babo\b | probemonat | jederzeit\ kündbar | anmelden | registrier | einwillig | datenschutz
    | s.abonner | connectez-vous | identifi(?:ez|er) | sans\ engagement | suscr[ií]b | suscripci | inici(?:a|e|ar)\ sesi
    | assin(?:e|ante|atura)\b | abbonat | abbonament | accedi\b | inloggen | abonnee | prenumer | logga\ in | logg\ inn
    | tilaa | kirjaudu | prenumerat | zaloguj | předplat | přihlas | підпис | подпис | войдите | 登录 | 订阅
    | 會員 | ログイン | 購読 | 로그인 | 구독 | اشترك | تسجيل\ الدخول""",
    re.IGNORECASE | re.VERBOSE,
)


def text_doubt(found: FoundText, declared_body: str, subject: Collection[str]) -> str:
    """Return why the text may be wrong or not whole; empty if nothing speaks against it.

    `declared_body` is the text that the page declares in JSON-LD, `subject` the terms of its headline and description.
    """
    text = found.text
    if is_notice(text):
        return "The text looks like a subscription, login or cookie notice."
    if letters(declared_body) >= MIN_DECLARED_LETTERS and coverage(declared_body, text) < MIN_DECLARED_COVERAGE:
        return "The text differs from the one that the page declares in JSON-LD."
    if found.prose and not found.marked and (share := len(text) / found.prose) < MIN_PROSE_SHARE:
        return f"The text covers {share:.0%} of the page's prose."
    if found.rival and not found.marked and relevance(text, subject) < MIN_RELEVANCE:
        return "The page has another text, and this one has little in common with the headline."
    return ""


def is_notice(text: str) -> bool:
    """Return whether a short text mostly asks readers to subscribe, log in, or accept cookies."""
    if letters(text) > MAX_NOTICE_LETTERS:
        return False
    sentences = _SENTENCE.findall(text)
    asking = sum(letters(sentence) for sentence in sentences if _NOTICE.search(sentence))
    return asking >= MIN_NOTICE_SHARE * letters(text) > 0
