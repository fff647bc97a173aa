"""Recognises what a page shows instead of an article: that it is missing, a login, an offer, a cookie notice. Pure."""

import re

from articles.loading import words_for
from articles.normalization.text import letters, normalize_text

# A longer text is more than a notice.
_MOST_WORDS = 120
_WORDS = words_for(__file__)
_THING = _WORDS["thing"]
_GONE = _WORDS["gone"]
_ARTICLE = "(?:(?:the|this|that|die|diese|der|dieser|la|cette|le|cet|esta|este|a|il|lo|de|deze|den) )?"
_MISSING = re.compile(
    "(?:(?:error|erreur|fehler|http) )?(?:40[34]|410)(?: (?:error|erreur|fehler))?"
    f"(?: (?:{_THING} )?(?:{_GONE}|forbidden))?"
    f"|(?:oops |sorry |ups |hoppla )?{_ARTICLE}(?:requested |gesuchte |angeforderte |demandée? )?{_THING}"
    f"(?: you (?:requested|are looking for))? {_GONE}(?: .{{0,30}})?"
    "|not found|nicht gefunden|introuvable|no encontrad[ao]|não encontrad[ao]|non trovat[ao]|niet gevonden"
    "|hittades inte|ikke funnet|nie znalezion[ao]|страница не найдена|материал не найден"
)
_PURPOSE = "(?: (?:to|for|or|and|here|now|um|oder|und|hier|pour|ou|ici|para|o|per|om|of|för|aby) ?.{0,40})?"
_WALL = re.compile(
    "(?:please |bitte )?(?:log ?in|sign ?in|log ?on|register|subscribe|anmelden|einloggen|registrieren|se connecter"
    "|connectez vous|connexion|iniciar sesi[oó]n|inicia sesi[oó]n|entrar|accedi|inloggen|logga in|zaloguj się|войти"
    f"|вход){_PURPOSE}|access denied|forbidden|just a moment|are you (?:a robot|human)|verify you are human"
    f"|enable javascript{_PURPOSE}|javascript (?:is )?(?:required|disabled)"
)


def is_notice(headline: str, text: str) -> bool:
    """Return whether a page says in short that there is no article, or that it shows none without a login."""
    title = normalize_text(headline)
    if len(normalize_text(text).split()) > _MOST_WORDS:
        return False
    return _MISSING.fullmatch(title) is not None or _WALL.fullmatch(title) is not None


# Longer texts are articles. Of 256 articles, none asks its reader for such things in more than 0.18 of its letters.
MAX_NOTICE_LETTERS = 3_000
MIN_NOTICE_SHARE = 0.4
_SENTENCE = re.compile(r"[^.!?\n。！？।؟]+")
# A text of few letters may have millions of signs. No notice has three in a row, so their first and last one will do.
_SIGNS = re.compile(r"([^\w.!?\n。！？।؟]|_)(?:[^\w.!?\n。！？।؟]|_)+([^\w.!?\n。！？।؟]|_)")
_WORD = re.compile(r"[^\W_]")
_NOTICE = re.compile(_WORDS["offer"], re.IGNORECASE | re.VERBOSE)


def is_offer(text: str) -> bool:
    """Return whether a text mostly asks readers to subscribe, log in, or accept cookies."""
    if not 0 < (length := letters(text)) <= MAX_NOTICE_LETTERS:
        return False
    sentences = _SENTENCE.findall(_SIGNS.sub(r"\1\2", text))
    asking = sum(letters(sentence) for sentence in sentences if _WORD.search(sentence) and _NOTICE.search(sentence))
    return asking >= MIN_NOTICE_SHARE * length
