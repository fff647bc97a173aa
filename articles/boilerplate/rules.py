"""Which sentences of a newspaper's week are boilerplate, and what is left of a text without them. Pure.

Media Cloud's rule, within a newspaper and a week from Monday to Sunday, without its weakness for quotations: a sentence
that stands word for word in several articles is boilerplate where these are different articles. Copies of one article
share all their sentences, and finding them is what the detection is for; so two articles that have more than half of
the shorter one in common count as one. What is boilerplate already says nothing about that, which is why the rule is
applied again until it finds nothing more.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from articles.boilerplate.mode import Mode
from articles.normalization.sentences import Sentence, located_sentences, sentences_of
from articles.normalization.text import normalize_text, text_digest

# Grows with every change of what is boilerplate: all weeks are looked at again.
RULE_VERSION = 1
# In so many different articles of its week a sentence is boilerplate, unless the newspaper says otherwise. Two retell
# one event now and then.
LEAST_ARTICLES = 3
# Shorter sentences ("He said.", "Read more"), counted in normalised characters, are boilerplate only as paragraphs of
# their own. South African corpus: sentences of fewer than 20 characters say nothing.
LEAST_CHARACTERS = 20
# A sentence is a quotation if so much of it, or most of it, stands between quotation marks; less is a name or a title.
LEAST_QUOTED = 20
# What is a paragraph of its own in so many articles, and in most of the week's, is no quotation, whatever its marks.
MANY_ARTICLES = 10

# What ends a sentence, in any script, before quotation marks and brackets are closed.
_SENTENCE_END = re.compile(r"[.!?…。！？｡।॥؟۔።։]\W*\Z")
_PARAGRAPH_BREAK = re.compile(r"(\n\s*\n)")


class SentenceKind(StrEnum):
    """What a sentence of several articles is: boilerplate, or why it is none."""

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
    """A sentence of several articles, as the first one has it; the articles by their places, in order."""

    digest: UUID
    text: str
    kind: SentenceKind
    articles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FoundBoilerplate:
    """What a newspaper repeated in a week, and the marks of each of its articles."""

    sentences: list[FoundSentence]
    marks: list[list[Mark]]


@dataclass(slots=True)
class _Candidate:
    """A sentence of several articles, and where it stands."""

    characters: int
    places: dict[int, list[Sentence]] = field(default_factory=lambda: defaultdict(list))

    @property
    def articles(self) -> list[int]:
        return list(self.places)

    @property
    def mostly_alone(self) -> bool:
        return 2 * sum(sentences[0].alone for sentences in self.places.values()) > len(self.places)

    @property
    def mostly_quoted(self) -> bool:
        return 2 * sum(_is_quoted(sentences[0]) for sentences in self.places.values()) > len(self.places)


def monday_of(day: datetime.date) -> datetime.date:
    """Return the first day of the week that a day belongs to."""
    return day - datetime.timedelta(days=day.weekday())


def find_boilerplate(
    texts: Sequence[str], whitelisted: Collection[UUID] = (), *, least_articles: int = LEAST_ARTICLES
) -> FoundBoilerplate:
    """Return what the articles of one newspaper and week repeat. `texts` stand in the order of day and id.

    What `least_articles` different articles have, 2 or more, is repeated. `whitelisted` are digests of sentences that
    an editor has said are none. Memory: the sentences of the week. Time: in proportion to the number of sentences, also
    where thousands of articles share some.
    """
    week = _Week(texts, least_articles)
    kinds = {digest: week.kind_of(digest, whitelisted) for digest in week.candidates}
    wanted = [digest for digest, kind in kinds.items() if kind is SentenceKind.BOILERPLATE]
    while found := [digest for digest in wanted if week.is_in_different_articles(digest)]:
        week.set_aside(found)
        wanted = [digest for digest in wanted if digest not in week.boilerplate]
    sentences = [
        week.described(digest, kind)
        for digest, kind in kinds.items()
        if digest in week.boilerplate
        or (kind is not SentenceKind.BOILERPLATE and week.is_in_different_articles(digest))
    ]
    return FoundBoilerplate(sentences, week.marks())


class _Week:
    """The articles of a week as sets of sentences, and what of them is known to be boilerplate."""

    def __init__(self, texts: Sequence[str], least_articles: int) -> None:
        self._least = least_articles
        self.candidates: dict[UUID, _Candidate] = {}
        self.boilerplate: set[UUID] = set()
        self._commons: dict[tuple[int, int], int] = {}
        sentences = [_sentences(text) for text in texts]
        holders = Counter(digest for each in sentences for digest in dict(each))
        # Of each article: how long its sentences are together, and each one that another article has too.
        self._characters = [sum(dict(each).values()) for each in sentences]
        self._shared = [{digest: size for digest, size in each if holders[digest] > 1} for each in sentences]
        for place, text in enumerate(texts):
            if any(holders[digest] >= self._least for digest in self._shared[place]):
                self._locate(place, text, sentences[place], holders)

    def _locate(
        self, place: int, text: str, sentences: Sequence[tuple[UUID, int]], holders: Mapping[UUID, int]
    ) -> None:
        located = (each for each in located_sentences(text) if normalize_text(each.text))
        for (digest, size), sentence in zip(sentences, located, strict=True):
            if holders[digest] >= self._least and (size >= LEAST_CHARACTERS or sentence.alone):
                self.candidates.setdefault(digest, _Candidate(size)).places[place].append(sentence)

    def kind_of(self, digest: UUID, whitelisted: Collection[UUID]) -> SentenceKind:
        """Return what a candidate is if its articles are different."""
        candidate = self.candidates[digest]
        if digest in whitelisted:
            return SentenceKind.WHITELISTED
        everywhere = len(candidate.places) >= max(MANY_ARTICLES, len(self._shared) // 2 + 1) and candidate.mostly_alone
        return SentenceKind.QUOTATION if candidate.mostly_quoted and not everywhere else SentenceKind.BOILERPLATE

    def is_in_different_articles(self, digest: UUID) -> bool:
        """Tell whether enough of the articles with this sentence are no copies of each other.

        The longest come first. What has nothing else left, because only boilerplate was extracted, counts for nothing.
        """
        different: list[int] = []
        for article in sorted(self.candidates[digest].articles, key=lambda place: -self._characters[place]):
            if self._left(article, digest) and not any(self._are_copies(article, each, digest) for each in different):
                different.append(article)
                if len(different) == self._least:
                    return True
        return False

    def set_aside(self, digests: Iterable[UUID]) -> None:
        """Note that these sentences are boilerplate."""
        self._commons.clear()
        for digest in digests:
            self.boilerplate.add(digest)
            for article in self.candidates[digest].articles:
                self._characters[article] -= self.candidates[digest].characters

    def described(self, digest: UUID, kind: SentenceKind) -> FoundSentence:
        """Return a candidate as it is told of."""
        candidate = self.candidates[digest]
        text = candidate.places[candidate.articles[0]][0].text
        return FoundSentence(digest, text, kind, tuple(candidate.articles))

    def marks(self) -> list[list[Mark]]:
        """Return the marks of each article, in order. Copies of the first article that has a sentence keep it too."""
        marks: list[list[Mark]] = [[] for _ in self._shared]
        for digest in self.boilerplate:
            candidate = self.candidates[digest]
            first = candidate.articles[0]
            for article, sentences in candidate.places.items():
                kept = article == first or self._are_copies(first, article, digest)
                marks[article] += [Mark(each.start, each.end, kept) for each in sentences]
        return [sorted(each) for each in marks]

    def _left(self, article: int, digest: UUID) -> int:
        """Return how many characters an article has beside boilerplate and this sentence."""
        aside = 0 if digest in self.boilerplate else self._shared[article][digest]
        return self._characters[article] - aside

    def _are_copies(self, one: int, other: int, digest: UUID) -> bool:
        """Tell whether two articles have more than half of what is left of the shorter one in common."""
        aside = 0 if digest in self.boilerplate else self._shared[one][digest]
        common = self._common(one, other) - aside
        return 2 * common > min(self._left(one, digest), self._left(other, digest))

    def _common(self, one: int, other: int) -> int:
        """Return how many characters two articles have in common beside boilerplate; counted once for all sentences."""
        pair = (one, other) if one < other else (other, one)
        if pair not in self._commons:
            fewer, more = sorted((self._shared[one], self._shared[other]), key=len)
            shared = ((each, length) for each, length in fewer.items() if each in more)
            self._commons[pair] = sum(length for each, length in shared if each not in self.boilerplate)
        return self._commons[pair]


def _sentences(text: str) -> list[tuple[UUID, int]]:
    """Return the digest and the length of each sentence that has letters or digits, as it is compared."""
    normalized = map(normalize_text, sentences_of(text))
    return [(digest, len(each)) for each in normalized if (digest := text_digest(each))]


def _is_quoted(sentence: Sentence) -> bool:
    if sentence.alone and not _SENTENCE_END.search(sentence.text):
        return False  # a headline, which links to another article, or a button
    return sentence.quoted >= LEAST_QUOTED or (2 * sentence.quoted >= len(sentence.text) and not sentence.alone)


def without_boilerplate(content: str, marks: Iterable[Sequence[int]], mode: Mode) -> str:
    """Return the content without what its marks remove in this mode; without marks, the content itself.

    The paragraphs stay; one of which nothing is left goes with the blank line behind it.
    """
    removed = [] if mode is Mode.KEEP else [mark for mark in marks if mode is Mode.TOPIC or not mark[2]]
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
