"""Finds the boilerplate sentences of a newspaper's week, and removes them from texts. Pure.

This is Media Cloud's rule, applied within a newspaper and a week from Monday to Sunday, with an exception for
quotations: a sentence that occurs word for word in several different articles is boilerplate. Copies of one article
share all their sentences, and the detection is there to find them; so two articles that share more than half of the
shorter one count as one. Boilerplate found so far does not count in that comparison, so the rule is repeated until it
finds no more.
"""

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from articles.boilerplate.mode import Mode
from articles.normalization.sentences import Sentence, located_sentences, sentences_of
from articles.normalization.text import normalize_text, text_digest

# Increase it when the rules change: all weeks are then processed again.
RULE_VERSION = 1
# A sentence in at least this many different articles of a week is boilerplate, unless the newspaper is configured
# otherwise. Two articles sometimes retell one event.
LEAST_ARTICLES = 3
# Shorter sentences ("He said.", "Read more"), in normalised characters, are boilerplate only if they are whole
# paragraphs. In the South African corpus, sentences of fewer than 20 characters carry no information.
LEAST_CHARACTERS = 20
# A sentence is a quotation if at least this many of its characters, or most of them, are between quotation marks;
# fewer are a name or a title.
LEAST_QUOTED = 20
# A sentence that is a whole paragraph in at least this many articles, and in most of the week's, is not a quotation,
# even with quotation marks.
MANY_ARTICLES = 10

# The end of a sentence in any script, before closing quotation marks and brackets.
_SENTENCE_END = re.compile(r"[.!?…。！？｡।॥؟۔።։]\W*\Z")
_PARAGRAPH_BREAK = re.compile(r"(\n\s*\n)")


class SentenceKind(StrEnum):
    """What a repeated sentence is: boilerplate, or why it is not."""

    BOILERPLATE = "boilerplate"
    QUOTATION = "quotation"
    WHITELISTED = "whitelisted"


class Mark(NamedTuple):
    """A stretch of an article's content, content[start:end], that is boilerplate. `first`: story mode keeps it here."""

    start: int
    end: int
    first: bool


@dataclass(frozen=True, slots=True)
class FoundSentence:
    """A repeated sentence, as the first article has it; `articles` are ascending indexes."""

    digest: UUID
    text: str
    kind: SentenceKind
    articles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FoundBoilerplate:
    """The sentences that a newspaper repeated in a week, and the marks of each of its articles."""

    sentences: list[FoundSentence]
    marks: list[list[Mark]]


@dataclass(slots=True)
class _Candidate:
    """A sentence of several articles, and its positions by article."""

    characters: int
    places: dict[int, list[Sentence]] = field(default_factory=lambda: defaultdict(list))

    def is_mostly(self, kind: Callable[[Sentence], bool]) -> bool:
        """Return whether its first sentence in most of the articles is of a kind."""
        return 2 * sum(kind(sentences[0]) for sentences in self.places.values()) > len(self.places)


def monday_of(day: datetime.date) -> datetime.date:
    return day - datetime.timedelta(days=day.weekday())


def find_boilerplate(
    texts: Sequence[str], whitelisted: Collection[UUID] = (), *, least_articles: int = LEAST_ARTICLES
) -> FoundBoilerplate:
    """Return what the articles of one newspaper and week repeat. `texts` are ordered by day and id.

    A sentence in `least_articles` (2 or more) different articles is repeated. `whitelisted` are digests of sentences
    that an editor has declared not to be boilerplate. Memory: the sentences of the week. Time: proportional to the
    number of sentences, even if thousands of articles share some.
    """
    week = _Week(texts, least_articles)
    kinds = {digest: week.kind_of(digest, whitelisted) for digest in week.candidates}
    wanted = [digest for digest, kind in kinds.items() if kind is SentenceKind.BOILERPLATE]
    while found := [digest for digest in wanted if week.is_in_different_articles(digest)]:
        week.set_aside(found)
        wanted = [digest for digest in wanted if digest not in week.boilerplate]
    sentences = [
        week.result(digest, kind)
        for digest, kind in kinds.items()
        if digest in week.boilerplate
        or (kind is not SentenceKind.BOILERPLATE and week.is_in_different_articles(digest))
    ]
    return FoundBoilerplate(sentences, week.marks())


class _Week:
    """The articles of a week as sets of sentences, and the boilerplate found so far."""

    def __init__(self, texts: Sequence[str], least_articles: int) -> None:
        self._least = least_articles
        self.candidates: dict[UUID, _Candidate] = {}
        self.boilerplate: set[UUID] = set()
        self._commons: dict[tuple[int, int], int] = {}
        sentences = [_sentences(text) for text in texts]
        holders = Counter(digest for sentence in sentences for digest in dict(sentence))
        # For each article: the total length of its sentences, and those that another article has too.
        self._characters = [sum(dict(sentence).values()) for sentence in sentences]
        self._shared = [{digest: size for digest, size in sentence if holders[digest] > 1} for sentence in sentences]
        for place, text in enumerate(texts):
            if not any(holders[digest] >= self._least for digest in self._shared[place]):
                continue  # its sentences need no positions
            located = (sentence for sentence in located_sentences(text) if normalize_text(sentence.text))
            for (digest, size), sentence in zip(sentences[place], located, strict=True):
                if holders[digest] >= self._least and (size >= LEAST_CHARACTERS or sentence.alone):
                    self.candidates.setdefault(digest, _Candidate(size)).places[place].append(sentence)

    def kind_of(self, digest: UUID, whitelisted: Collection[UUID]) -> SentenceKind:
        """Return what a candidate is, provided its articles are different."""
        candidate = self.candidates[digest]
        if digest in whitelisted:
            return SentenceKind.WHITELISTED
        is_frequent = len(candidate.places) >= max(MANY_ARTICLES, len(self._shared) // 2 + 1)
        if candidate.is_mostly(_is_quoted) and not (is_frequent and candidate.is_mostly(attrgetter("alone"))):
            return SentenceKind.QUOTATION
        return SentenceKind.BOILERPLATE

    def is_in_different_articles(self, digest: UUID) -> bool:
        """Return whether enough articles with this sentence are not copies of each other.

        The longest are tried first. An article with nothing else left, because only boilerplate was extracted, does
        not count.
        """
        different: list[int] = []
        for article in sorted(self.candidates[digest].places, key=lambda place: -self._characters[place]):
            if self._left(article, digest) and not any(self._are_copies(article, other, digest) for other in different):
                different.append(article)
                if len(different) == self._least:
                    return True
        return False

    def set_aside(self, digests: Iterable[UUID]) -> None:
        """Note that these sentences are boilerplate."""
        self._commons.clear()
        for digest in digests:
            self.boilerplate.add(digest)
            for article in self.candidates[digest].places:
                self._characters[article] -= self.candidates[digest].characters

    def result(self, digest: UUID, kind: SentenceKind) -> FoundSentence:
        places = self.candidates[digest].places
        return FoundSentence(digest, next(iter(places.values()))[0].text, kind, tuple(places))

    def marks(self) -> list[list[Mark]]:
        """Return the marks of each article, in order. Copies of the first article that has a sentence keep it too."""
        marks: list[list[Mark]] = [[] for _ in self._shared]
        for digest in self.boilerplate:
            places = self.candidates[digest].places
            first = next(iter(places))
            for article, sentences in places.items():
                kept = article == first or self._are_copies(first, article, digest)
                marks[article] += [Mark(sentence.start, sentence.end, kept) for sentence in sentences]
        return [sorted(mark) for mark in marks]

    def _left(self, article: int, digest: UUID) -> int:
        """Return how many characters an article has apart from boilerplate and this sentence."""
        aside = 0 if digest in self.boilerplate else self._shared[article][digest]
        return self._characters[article] - aside

    def _are_copies(self, one: int, other: int, digest: UUID) -> bool:
        """Return whether two articles share more than half of what is left of the shorter one."""
        aside = 0 if digest in self.boilerplate else self._shared[one][digest]
        common = self._common(one, other) - aside
        return 2 * common > min(self._left(one, digest), self._left(other, digest))

    def _common(self, one: int, other: int) -> int:
        """Return how many characters two articles share apart from boilerplate; cached, as all sentences ask for it."""
        pair = (one, other) if one < other else (other, one)
        if pair not in self._commons:
            fewer, more = sorted((self._shared[one], self._shared[other]), key=len)
            shared = ((sentence, length) for sentence, length in fewer.items() if sentence in more)
            self._commons[pair] = sum(length for sentence, length in shared if sentence not in self.boilerplate)
        return self._commons[pair]


def _sentences(text: str) -> list[tuple[UUID, int]]:
    """Return the digest and the length of each normalised sentence that has letters or digits."""
    normalized = map(normalize_text, sentences_of(text))
    return [(digest, len(sentence)) for sentence in normalized if (digest := text_digest(sentence))]


def _is_quoted(sentence: Sentence) -> bool:
    if sentence.alone and not _SENTENCE_END.search(sentence.text):
        return False  # a headline, which links to another article, or a button
    return sentence.quoted >= LEAST_QUOTED or (2 * sentence.quoted >= len(sentence.text) and not sentence.alone)


def removed_by(marks: Iterable[Sequence[int]], mode: Mode) -> list[Sequence[int]]:
    return [] if mode is Mode.KEEP else [mark for mark in marks if mode is Mode.TOPIC or not mark[2]]


def without_boilerplate(content: str, marks: Iterable[Sequence[int]], mode: Mode) -> str:
    """Return the content without what its marks remove in this mode; unchanged if it has no marks.

    Paragraph breaks are kept, but a paragraph that becomes empty goes with the blank line after it.
    """
    removed = removed_by(marks, mode)
    if not removed:
        return content
    return "".join(_paragraphs_left(content, removed)).rstrip()


def _paragraphs_left(content: str, removed: Sequence[Sequence[int]]) -> Iterator[str]:
    start = 0
    parts = _PARAGRAPH_BREAK.split(content)
    for paragraph, gap in zip(parts[::2], [*parts[1::2], ""], strict=True):
        end = start + len(paragraph)
        cuts = [mark for mark in removed if start <= mark[0] < end]
        left = _without(paragraph, [(mark[0] - start, mark[1] - start) for mark in cuts])
        if left or not cuts:
            yield left + gap
        start = end + len(gap)


def _without(paragraph: str, cuts: Sequence[tuple[int, int]]) -> str:
    if not cuts:
        return paragraph
    begins, ends = [0, *(end for _, end in cuts)], [*(begin for begin, _ in cuts), len(paragraph)]
    kept = (paragraph[begin:end].strip() for begin, end in zip(begins, ends, strict=True))
    return " ".join(part for part in kept if part)
