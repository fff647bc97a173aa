"""An article's words as the full comparison needs them, prepared once per article and used for all its pairs."""

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from articles.normalization.sentences import sentences_of
from articles.normalization.text import normalize_text
from articles.normalization.times import PublicationTime
from dedup.detection.comparison.lexicon import DATE, NUMBER, Lexicon, Numbers, typography, words_in
from dedup.detection.comparison.recurring import is_rare
from dedup.detection.kernels.masked_shingles import Hashes, masked_shingle_sets
from dedup.detection.kernels.tokens import ODD, IntArray, Ragged, as_sets, distinct

# Characters or words from the first to before the last.
Span = tuple[int, int]

# A bound, so that a page of 2 MB cannot delay a run; 999 of 1000 articles are shorter.
MAX_CHARACTERS = 60_000

_IS_NUMBER = bytes(kind == NUMBER for kind in range(256))

# Texts per step: few enough for their words and arrays to stay in the processor's cache.
_TEXTS_AT_ONCE = 40
# Below the hash of two neighbouring words stand a bit for the side of a pair, and these bits for their sentence.
SENTENCE_BITS = 16
LAST_SENTENCE = np.uint64((1 << SENTENCE_BITS) - 1)
_HASHED = ~np.uint64((2 << SENTENCE_BITS) - 1)

# Which marks close a quotation, by the mark that opens it. Many writers open with „ and close with a typewriter's mark.
_CLOSING = {"“": '”"', '"': '"', "„": '“”"', "«": "»", "»": "«", "「": "」"}
_QUOTATION_MARKS = re.compile('[“”„"«»「」]')
# The end of a line with a number at its end, before another such line: two rows of a table. Each is a sentence.
_ROW_END = re.compile(r"\n(?:(?<=\d\n)|(?<=\d[%)]\n))(?=[^\n]*\d[%)]?(?:\n|\Z))")


# Hashes of two neighbouring words of a sentence, and below them the sentence: ascending and distinct.
WordPairs = npt.NDArray[np.uint64]


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

    Sentence i has the words from starts[i] to before starts[i + 1]. Equal sentences have equal keys. `quoted`: whether
    each is a quotation. There is no object per sentence, because the garbage collector would have to visit each.
    `masked`: see ArticleText. `near_equal`: of words that were looked for, and that it lacks, whether it has a
    near-equal one.
    """

    newspaper: int
    date: datetime.date
    time: PublicationTime | None
    lexicon: Lexicon
    word_numbers: Numbers  # in the lexicon
    word_hashes: npt.NDArray[np.int64]  # of words as they are compared
    word_pairs: WordPairs
    pair_counts: list[int]  # how many of them each sentence has
    kinds: bytes
    starts: list[int]
    sentence_keys: list[int]
    quoted: bytearray
    masked: Hashes
    numbers: Counter[str]
    vocabulary: frozenset[str]
    headline: list[str]
    headline_kinds: bytes
    _spoken: dict[str, list[str]] = field(default_factory=dict)
    near_equal: dict[str, bool] = field(default_factory=dict)
    _rare: list[frozenset[str]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of words."""
        return self.starts[-1]

    @property
    def words(self) -> list[str]:
        """The words as they are compared."""
        return self.words_at(slice(None))

    @property
    def shown(self) -> list[str]:
        """The words as they are shown."""
        return self.shown_at(slice(None))

    def words_at(self, places: slice) -> list[str]:
        """Return some of its words as they are compared."""
        return self.lexicon.compared_of(self.word_numbers[places])

    def shown_at(self, places: slice) -> list[str]:
        """Return some of its words as they are shown."""
        return self.lexicon.shown_of(self.word_numbers[places])

    def sentence(self, place: int) -> list[int]:
        """Return the hashes of the words of a sentence."""
        return self.word_hashes[self.starts[place] : self.starts[place + 1]].tolist()

    def length(self, place: int) -> int:
        """Return the number of words of a sentence."""
        return self.starts[place + 1] - self.starts[place]

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


class Preparer:
    """Prepares articles. It remembers words, of which articles have many in common."""

    def __init__(self) -> None:
        self._lexicon = Lexicon()

    def prepare(self, article: ArticleText) -> PreparedArticle:
        """Return an article ready to be compared."""
        [prepared] = self.prepare_all([article])
        return prepared

    def prepare_all(self, articles: Sequence[ArticleText]) -> list[PreparedArticle]:
        """Return articles ready to be compared: a few dozen at once take half of the time of one after the other."""
        contents = list(dict.fromkeys(article.content for article in articles))
        texts: dict[str, dict[str, Any]] = {}
        for start in range(0, len(contents), _TEXTS_AT_ONCE):
            some = contents[start : start + _TEXTS_AT_ONCE]
            texts.update(zip(some, self._made(some), strict=True))
        headlines = self._headlines([article.headline for article in articles])
        return [
            PreparedArticle(
                newspaper=article.newspaper,
                date=article.date,
                time=article.time,
                **texts[article.content],
                masked=masked_shingle_sets([normalize_text(article.content)]).values
                if article.masked is None
                else article.masked,
                headline=headline,
                headline_kinds=kinds,
            )
            for article, (headline, kinds) in zip(articles, headlines, strict=True)
        ]

    def _made(self, contents: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the fields that a content alone decides."""
        lexicon = self._roomy()
        divided = [_compared_sentences(content) for content in contents]
        words = lexicon.words_of(list(chain.from_iterable(divided)))
        hashes, kinds, numbers = lexicon.hashes_of(words.values), lexicon.kinds_of(words).tobytes(), words.values
        # Sentences without words are left out.
        kept, bounds = words.sizes > 0, distinct(words.offsets)
        ends = np.cumsum([0, *map(len, divided)])
        firsts = np.append(0, np.cumsum(kept))[ends]
        pairs, counts = _word_pairs(hashes, bounds, firsts)
        for sentences, own_pairs, (first, last), (one, end) in zip(
            divided, pairs.split(), pairwise(firsts.tolist()), pairwise(ends.tolist()), strict=True
        ):
            own = slice(*bounds[[first, last]].tolist())
            starts = (bounds[first : last + 1] - own.start).tolist()
            data, size = hashes[own].tobytes(), hashes.itemsize
            compared = lexicon.compared_of(numbers[own])
            yield {
                "lexicon": lexicon,
                "word_numbers": numbers[own].copy(),
                "word_hashes": hashes[own].copy(),
                "word_pairs": own_pairs.copy(),
                "pair_counts": counts[first:last].tolist(),
                "kinds": kinds[own],
                "starts": starts,
                "quoted": _quoted(list(compress(sentences, kept[one:end].tolist()))),
                "sentence_keys": [hash(data[size * start : size * stop]) for start, stop in pairwise(starts)],
                "numbers": Counter(compress(compared, kinds[own].translate(_IS_NUMBER))),
                "vocabulary": frozenset(compared),
            }

    def _roomy(self) -> Lexicon:
        if self._lexicon.is_full:
            self._lexicon = Lexicon()
        return self._lexicon

    def headline_forms(self, headlines: Sequence[str]) -> list[str]:
        """Return headlines with each number, month and weekday as "#": the forms that headlines of a series share."""
        return [masked_form(words, kinds) for words, kinds in self._headlines(headlines)]

    def _headlines(self, headlines: Sequence[str]) -> Iterator[tuple[list[str], bytes]]:
        """Yield the words of each headline, which is one sentence, and their kinds."""
        lexicon = self._roomy()
        words = lexicon.words_of(list(map(typography, headlines)))
        compared, kinds = lexicon.compared_of(words.values), lexicon.kinds_of(words).tobytes()
        for start, end in pairwise(words.offsets.tolist()):
            yield compared[start:end], kinds[start:end]


def _word_pairs(hashes: npt.NDArray[np.int64], bounds: IntArray, firsts: IntArray) -> tuple[Ragged, IntArray]:
    """Return the word pairs of texts, and how many each sentence has, from the hashes of their words.

    Sentence i has the words from bounds[i] on, and text i the sentences from firsts[i] on.
    """
    words, sentences = hashes.view(np.uint64), np.arange(len(bounds) - 1)
    owners = sentences - np.repeat(firsts[:-1], np.diff(firsts))
    below = np.repeat(np.minimum(owners.astype(np.uint64), LAST_SENTENCE), np.diff(bounds))
    found = ((words[:-1] * ODD + words[1:]) * ODD) & _HASHED | below[:-1]
    inside = np.ones(len(found), dtype=np.bool_)
    inside[bounds[1:-1] - 1] = False
    pairs = as_sets(Ragged(found.compress(inside), bounds[firsts] - firsts))
    own = (pairs.values & LAST_SENTENCE).astype(np.int64) + np.repeat(firsts[:-1], pairs.sizes)
    return pairs, np.bincount(own, minlength=len(sentences))


def shown_sentences(content: str) -> list[str]:
    """Return the sentences of a content as they are shown; sentence i is sentence i of the prepared article."""
    return list(filter(words_in, _compared_sentences(content)))


def count_words(content: str) -> int:
    """Return the length of a content in words, as every comparison counts it."""
    return sum(len(words_in(sentence)) for sentence in _compared_sentences(content))


def _compared_sentences(content: str) -> list[str]:
    """Return the sentences of what is compared of a content, with and without words."""
    return sentences_of(_ROW_END.sub("\n\n", typography(content[:MAX_CHARACTERS])))


def _quoted(sentences: Sequence[str]) -> bytearray:
    """Return of each sentence whether it stands between quotation marks, at least from its first quarter on."""
    quoted = bytearray(len(sentences))
    if not any(mark in sentence for mark in _CLOSING for sentence in sentences):
        return quoted
    opened = ""
    for place, sentence in enumerate(sentences):
        marks = _QUOTATION_MARKS.findall(sentence)
        quoted[place] = bool(opened) or (bool(marks) and sentence.find(marks[0]) < len(sentence) / 4)
        for mark in marks:
            opened = "" if opened and mark in _CLOSING[opened] else mark if mark in _CLOSING else opened
    return quoted


def masked_form(words: Sequence[str], kinds: Sequence[int]) -> str:
    """Return the words of a headline with each number, month and weekday as "#"."""
    return " ".join("#" if kind in {NUMBER, DATE} else word for word, kind in zip(words, kinds, strict=True))
