"""An article's words as the full comparison needs them, prepared once per article and used for all its pairs.

A word is a run of letters, a number, or a single character of a script without blanks between words. Each has a
kind (number, date, name, other): forms replace numbers and dates, and reasons say what is replaced.
"""

import datetime
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress, pairwise
from typing import Any, Final

import regex

from articles.normalization.sentences import sentences_of
from articles.normalization.text import normalize_text
from articles.normalization.times import PublicationTime
from dedup.detection.comparison.language_words import MONTHS, WEEKDAYS
from dedup.detection.comparison.recurring import is_rare
from dedup.detection.kernels.masked_shingles import Hashes, masked_shingle_sets

# Characters or words from the first to before the last.
Span = tuple[int, int]

# A bound, so that a page of 2 MB cannot delay a run; 999 of 1000 articles are shorter.
MAX_CHARACTERS = 60_000

OTHER: Final = 0
NAME: Final = 1
NUMBER: Final = 2
DATE: Final = 3
MONTH: Final = 4  # a month in lower case, which may also be another word: may, mars

_IS_NUMBER: Final = bytes(kind == NUMBER for kind in range(256))

# Contents whose words are remembered; and words, after which it starts over.
_KEPT_TEXTS = 64
_KNOWN_WORDS = 400_000

# Characters that are words by themselves, and marks, which Python's \w does not match; a slower pattern handles them.
_SOLO = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNUSUAL = regex.compile(rf"[\p{{M}}{_SOLO}]")
# All of them, and many others, but none of the Latin letters and usual punctuation: a quick test.
_MAYBE_UNUSUAL = re.compile("[\u0300-\u1fff\u20d0-\u20ff\u2c00-\U0010ffff]")
_NUMBER = r"\d+(?:[.,:/]\d+)*"
_USUAL_WORD = re.compile(rf"{_NUMBER}|[^\W_]+(?:'[^\W_]+)*")
_ANY_WORD = regex.compile(
    rf"{_NUMBER}|[{_SOLO}]\p{{M}}*|[\p{{L}}\p{{M}}\p{{N}}--[{_SOLO}]]+(?:'[\p{{L}}\p{{M}}\p{{N}}--[{_SOLO}]]+)*",
    regex.VERSION1,
)
# The blocks of the scripts of _SOLO, and all above the basic plane but emoji; and the underscore.
_MAYBE_SOLO = re.compile(
    "[_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\ua9ff\uaa60-\uaa7f\uf900-\ufdff\ufe10-\uffff\U00010000-\U0001efff\U00020000-\U0010ffff]"
)
_MARK = regex.compile(r"\p{M}")
# Characters that are not seen and belong to no word: the soft hyphen, joiners, direction marks.
_VANISHING = re.compile("[\xad\u200b-\u200f\u2060\ufeff]")
# Which marks close a quotation, by the mark that opens it. Many writers open with „ and close with a typewriter's mark.
_CLOSING = {"“": '”"', '"': '"', "„": '“”"', "«": "»", "»": "«", "「": "」"}
_QUOTATION_MARKS = re.compile('[“”„"«»「」]')
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# The end of a line with a number at its end, before another such line: two rows of a table. Each is a sentence.
_ROW_END = re.compile(r"\n(?:(?<=\d\n)|(?<=\d[%)]\n))(?=[^\n]*\d[%)]?(?:\n|\Z))")


@dataclass(frozen=True, slots=True)
class ArticleText:
    """An article to compare. `headline` is without the newspaper's name, case unchanged.

    `masked`: the content's masked word shingles (kernels/masked_shingles.py) if they are known; else they are made.
    """

    newspaper: int
    date: datetime.date
    headline: str
    content: str
    masked: Hashes | None = None
    time: PublicationTime | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PreparedArticle:
    """An article ready to be compared with others. Its hashes are valid only within one process.

    Sentence i is words[starts[i]:starts[i + 1]]. Equal sentences have equal keys. `quoted`: whether each is a
    quotation. There is no object per sentence, because the garbage collector would have to visit each. `masked`: see
    ArticleText. `near_equal`: of words that were looked for, and that it lacks, whether it has a near-equal one.
    """

    newspaper: int
    date: datetime.date
    time: PublicationTime | None
    shown: list[str]
    words: list[str]
    kinds: bytearray
    starts: list[int]
    sentence_keys: list[int]
    quoted: bytearray
    masked: Hashes
    numbers: Counter[str]
    vocabulary: frozenset[str]
    headline: list[str]
    headline_kinds: bytearray
    _word_pairs: dict[int, set[int]] = field(default_factory=dict)
    _spoken: dict[str, list[str]] = field(default_factory=dict)
    near_equal: dict[str, bool] = field(default_factory=dict)
    _rare: list[frozenset[str]] = field(default_factory=list)

    def sentence(self, place: int) -> list[str]:
        """Return the words of a sentence as they are compared."""
        return self.words[self.starts[place] : self.starts[place + 1]]

    def length(self, place: int) -> int:
        """Return the number of words of a sentence."""
        return self.starts[place + 1] - self.starts[place]

    def word_pairs(self, place: int) -> set[int]:
        """Return the hashes of every two neighbouring words of a sentence: the garbage collector ignores numbers."""
        known = self._word_pairs.get(place)
        if known is None:
            known = self._word_pairs[place] = set(map(hash, pairwise(self.sentence(place))))
        return known

    def rare_words(self, common: frozenset[str]) -> frozenset[str]:
        """Return the words of the text that are not among the common ones of its newspaper."""
        if not self._rare or self._rare[0] is not common:
            rare = self.vocabulary - common
            self._rare[:] = common, frozenset(word for word in rare if "'" not in word or is_rare(word, common))
        return self._rare[1]

    def words_like(self, first: str) -> Sequence[str]:
        """Return the words of the text and the headline with this first character, to look for near-equal ones."""
        if not self._spoken:
            grouped: defaultdict[str, list[str]] = defaultdict(list)
            for word in self.vocabulary.union(self.headline):
                grouped[word[0]].append(word)
            self._spoken.update(grouped)
        return self._spoken.get(first, ())


class _Known(dict[str, Any]):
    """What a function makes of words, remembered: they are looked up in a third of the time of functools.cache."""

    def __init__(self, of: Callable[[str], Any]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, word: str) -> Any:
        found = self[word] = self._of(word)
        return found


class Preparer:
    """Prepares articles. It remembers words, of which articles have many in common."""

    def __init__(self) -> None:
        # A word is compared case-folded, and 1,200 as 1200.
        self._keys = _Known(lambda word: _GROUPED.sub("", word.casefold()))
        self._kinds = _Known(word_kind)
        self._texts: dict[str, dict[str, Any]] = {}  # the least recently used first

    def prepare(self, article: ArticleText) -> PreparedArticle:
        """Return the article ready to be compared."""
        text, masked = self._text_of(article.content), article.masked
        headline, headline_kinds = self._words_of(_words_in(article.headline))
        return PreparedArticle(
            newspaper=article.newspaper,
            date=article.date,
            time=article.time,
            **text,
            masked=masked_shingle_sets([normalize_text(article.content)]).values if masked is None else masked,
            headline=headline,
            headline_kinds=headline_kinds,
        )

    def _text_of(self, content: str) -> dict[str, Any]:
        """Return the fields that a content alone decides; copies of it are often prepared one after the other."""
        text = self._texts.pop(content, None) or self._made(content)
        self._texts[content] = text
        if len(self._texts) > _KEPT_TEXTS:
            del self._texts[next(iter(self._texts))]
        return text

    def _made(self, content: str) -> dict[str, Any]:
        shown: list[str] = []
        starts = [0]
        sentences: list[str] = []
        for sentence, found in _sentences(content):
            sentences.append(sentence)
            shown += found
            starts.append(len(shown))
        words, kinds = self._words_of(shown, starts)
        return {
            "shown": shown,
            "words": words,
            "kinds": kinds,
            "starts": starts,
            "quoted": _quoted(sentences),
            "sentence_keys": [hash(tuple(words[start:end])) for start, end in pairwise(starts)],
            "numbers": Counter(compress(words, kinds.translate(_IS_NUMBER))),
            "vocabulary": frozenset(words),
        }

    def headline_form(self, headline: str) -> str:
        """Return a headline with each number, month and weekday as "#": the form that headlines of a series share."""
        return masked_form(*self._words_of(_words_in(headline)))

    def _words_of(self, found: Sequence[str], starts: Sequence[int] = ()) -> tuple[list[str], bytearray]:
        """Return the words of some sentences as they are compared, and their kinds; `starts` as in PreparedArticle.

        Without `starts`, it is one sentence. A number begins with a digit. A date is the name of a weekday, or of a
        month if capitalised or next to a number. A name is capitalised and does not begin the sentence; scripts without
        capitals have no names.
        """
        if len(self._keys) > _KNOWN_WORDS:
            self._keys.clear()
            self._kinds.clear()
        keys, kinds = list(map(self._keys.__getitem__, found)), bytearray(map(self._kinds.__getitem__, found))
        starts = starts or [0, len(found)]
        for start in starts[:-1] if found else ():
            if kinds[start] == NAME:
                kinds[start] = OTHER
        if MONTH in kinds:
            for start, end in pairwise(starts):
                for place in [place for place in range(start, end) if kinds[place] == MONTH]:
                    kinds[place] = DATE if NUMBER in kinds[max(place - 1, start) : min(place + 2, end)] else OTHER
        return keys, kinds


def shown_sentences(content: str) -> list[str]:
    """Return the sentences of a content as they are shown; sentence i is sentence i of the prepared article."""
    return [sentence for sentence, _ in _sentences(content)]


def count_words(content: str) -> int:
    """Return the length of a content in words, as every comparison counts it."""
    return sum(len(words) for _, words in _sentences(content))


def _sentences(content: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the sentences with words of what is compared of a content, each with its words."""
    compared = _ROW_END.sub("\n\n", typography(content[:MAX_CHARACTERS]))
    words_of = _pattern(compared).findall
    for sentence in sentences_of(compared):
        if words := words_of(sentence):
            yield sentence, words


def _quoted(sentences: Sequence[str]) -> bytearray:
    """Return of each sentence whether it stands between quotation marks, at least from its first quarter on."""
    quoted = bytearray(len(sentences))
    opened = ""
    for place, sentence in enumerate(sentences):
        marks = _QUOTATION_MARKS.findall(sentence)
        quoted[place] = bool(opened) or (bool(marks) and sentence.find(marks[0]) < len(sentence) / 4)
        for mark in marks:
            opened = "" if opened and mark in _CLOSING[opened] else mark if mark in _CLOSING else opened
    return quoted


def word_kind(word: str) -> int:
    """Return the kind of a word as far as the word alone shows it."""
    if word[0].isnumeric():
        return NUMBER
    if (key := word.casefold()) in WEEKDAYS:
        return DATE
    capital = word[0].isupper()
    if key in MONTHS:
        return DATE if capital else MONTH
    return NAME if capital else OTHER


def typography(text: str) -> str:
    """Return a text in the form whose words are compared: without what is not seen, and with one kind of apostrophe."""
    if text.isascii():
        return text
    return _VANISHING.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))


def _words_in(text: str) -> list[str]:
    text = typography(text)
    return _pattern(text).findall(text)


def masked_form(words: Sequence[str], kinds: Sequence[int]) -> str:
    """Return the words of a headline with each number, month and weekday as "#"."""
    return " ".join("#" if kind in {NUMBER, DATE} else word for word, kind in zip(words, kinds, strict=True))


def _pattern(text: str) -> re.Pattern[str] | regex.Pattern[str]:
    if text.isascii():
        return _USUAL_WORD
    characters = "".join(set(text))
    if not (_MAYBE_UNUSUAL.search(characters) and _UNUSUAL.search(characters)):
        return _USUAL_WORD
    return _ANY_WORD if _MAYBE_SOLO.search(characters) else _marked_word()


@cache
def _marked_word() -> re.Pattern[str]:
    """Return the pattern of words of letters and marks, for texts without what _MAYBE_SOLO finds.

    The same words as by _ANY_WORD, five times faster. (Here an underscore is a letter.)
    """
    marks = "".join(_MARK.findall("".join(map(chr, range(0x300, 0xFFFF)))))
    letter = rf"[\w{marks}]"
    return re.compile(rf"{_NUMBER}|{letter}+(?:'{letter}+)*")
