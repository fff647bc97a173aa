"""Recognises what a page shows instead of the article: offers of subscriptions, login forms, cookie notices. Pure."""

from __future__ import annotations

import re

from articles.normalization.text import letters

# Longer texts are articles. Of 256 articles, none asks its reader for such things in more than 0.18 of its letters.
MAX_NOTICE_LETTERS = 3_000
MIN_NOTICE_SHARE = 0.4
_SENTENCE = re.compile(r"[^.!?\n。！？।؟]+")
# A text of few letters may have millions of signs. No notice has three in a row, so their first and last one will do.
_SIGNS = re.compile(r"([^\w.!?\n。！？।؟]|_)(?:[^\w.!?\n。！？।؟]|_)+([^\w.!?\n。！？।؟]|_)")
_WORD = re.compile(r"[^\W_]")
_NOTICE = re.compile(
    r"""subscri(?:be|ption|bers?)\b | \bsign(?:ed)?[ -]?(?:in|up)\b | \blog(?:ged)?[ -]?in\b | \bregist(?:er|ration)\b
    | free\ trial | cancel\ any ?time | unlimited\ (?:digital\ )?access | create\ an?\ (?:free\ )?account | \bad-?block
    | cookies? | consent\b | privacy\ (?:policy|settings) | enable\ javascript | verify\ (?:that\ )?you\ are | captcha
    | \babonn | \babo\b | probemonat | kostenlos\ testen | \bkündbar | anmelden | registrier | einwillig | datenschutz
    | s.abonner | connectez-vous | identifi(?:ez|er) | sans\ engagement | suscr[ií]b | suscripci | inici(?:a|e|ar)\ sesi
    | assin(?:e|ante|atura)\b | abbonat | abbonament | accedi\b | inloggen | abonnee | prenumer | logga\ in | logg\ inn
    | tilaa | kirjaudu | prenumerat | zaloguj | předplat | přihlas | підпис | подпис | войдите | 登录 | 订阅
    | 會員 | ログイン | 購読 | 로그인 | 구독 | اشترك | تسجيل\ الدخول""",
    re.IGNORECASE | re.VERBOSE,
)


def is_offer(text: str) -> bool:
    """Return whether a text mostly asks readers to subscribe, log in, or accept cookies."""
    if not 0 < (length := letters(text)) <= MAX_NOTICE_LETTERS:
        return False
    sentences = _SENTENCE.findall(_SIGNS.sub(r"\1\2", text))
    asking = sum(letters(sentence) for sentence in sentences if _WORD.search(sentence) and _NOTICE.search(sentence))
    return asking >= MIN_NOTICE_SHARE * length
