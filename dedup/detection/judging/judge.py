"""Stored articles prepared for comparison, and the verdict on two: by the rules of editors, or by the model. Pure."""

import datetime
import gc
import json
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.normalization.times import PublicationTime
from articles.normalization.titles import plain_title
from dedup.detection.comparison.alignment import Sharing, in_order, sharing_sentences
from dedup.detection.comparison.compare import Comparison, compare
from dedup.detection.comparison.prepared import ArticleText, PreparedArticle, Preparer
from dedup.detection.comparison.recurring import NO_RECURRING_TEXT, HeadlineSeries, Recurrence, RecurringText
from dedup.detection.kernels.masked_shingles import Hashes
from dedup.detection.types import SameAs, VerdictKind
from dedup.detection.verdicts.model import VerdictModel, load_model
from dedup.detection.verdicts.reasons import GROUP_RULE_REASON, NOTHING_LEFT, RULE_REASON, leftover
from dedup.detection.verdicts.same_as import is_same
from dedup.detection.verdicts.verdict import Judgement, judgement_of

# Few enough for the word pairs of their articles to stay in the processor's cache.
_COMPARED_AT_ONCE = 40
# An article takes about 40 kB.
_KEPT_ARTICLES = 1_000


class StoredArticle(NamedTuple):
    """The columns of an article that its verdicts rest on.

    `affixes` are the names that its newspaper adds to headlines (Newspaper.affixes). `boilerplate`: the marks of the
    content. `masked`: the masked word shingles of the whole content; None: they are not known, or outdated. `form`: the
    form of its headline (Preparer.headline_forms); None: it is not known.
    """

    id: int
    newspaper: int
    date: datetime.date
    time: PublicationTime | None
    headline: str
    affixes: Sequence[str]
    content: str
    boilerplate: Sequence[Sequence[int]]
    masked: Hashes | None = None
    form: str | None = None


class JudgedArticle(NamedTuple):
    """An article prepared for comparison, with the form of its headline."""

    article: PreparedArticle
    form: str


class PreparedArticles:
    """Prepared articles, each under a key of the caller's choice, because an article is in many pairs.

    The least recently used are dropped first.
    """

    def __init__(self) -> None:
        self._preparer = Preparer()
        self._articles: OrderedDict[Hashable, JudgedArticle] = OrderedDict()

    def find(self, key: Hashable) -> JudgedArticle | None:
        """Return the article that was prepared under a key; None if there is none any more."""
        article = self._articles.get(key)
        if article is not None:
            self._articles.move_to_end(key)
        return article

    def prepare(self, stored: Sequence[tuple[Hashable, StoredArticle]], boilerplate: Mode) -> list[JudgedArticle]:
        """Return articles prepared for comparison, with or without their boilerplate, and keep each under its key."""
        texts: list[ArticleText] = []
        forms: list[str] = []
        for _, article in stored:
            headline = plain_title(article.headline, article.affixes)
            content = without_boilerplate(article.content, article.boilerplate, boilerplate)
            masked = article.masked if content == article.content else None
            texts.append(ArticleText(article.newspaper, article.date, headline, content, masked, article.time))
            forms.append(self._preparer.headline_forms([headline])[0] if article.form is None else article.form)
        found = list(map(JudgedArticle, self._preparer.prepare_all(texts), forms))
        self._articles.update(zip([key for key, _ in stored], found, strict=True))
        while len(self._articles) > _KEPT_ARTICLES:
            self._articles.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all articles."""
        self._articles.clear()


@contextmanager
def without_collector() -> Iterator[None]:
    """Disable the garbage collector: it would traverse thousands of prepared articles, which have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class JudgedPair(NamedTuple):
    """A pair of article ids to judge."""

    id: int
    left: int
    right: int
    leftover: int  # the number of headlines over the text of both, if too many; else 0


class JudgedRow(NamedTuple):
    """The verdict of a pair, and what its articles are to each other, as its columns."""

    id: int
    verdict: str
    probability: float
    duplicate_probability: float
    reasons: str  # JSON
    joins: bool
    left_matched: float
    right_matched: float
    relation: str = ""
    relation_probability: float = 0.0
    left_own: int = 0
    right_own: int = 0
    new_text: str = ""
    quoted: float = 0.0


@dataclass(frozen=True, slots=True)
class Terms:
    """What all verdicts of a run rest on, as any process can read it: the model as dump_model writes it.

    `same_as` says which pairs join, and nothing else: no verdict rests on it.
    """

    dumped_model: str
    same_as: SameAs = SameAs.CROPPED
    boilerplate: Mode = Mode.KEEP

    @property
    def model(self) -> VerdictModel:
        """The model, ready for use."""
        return _loaded(self.dumped_model)


_loaded = lru_cache(maxsize=2)(load_model)


@dataclass(frozen=True, slots=True)
class Rulings:
    """The rules of editors: the series (newspaper and form) and, by article, the dense groups that have one."""

    series: AbstractSet[tuple[int, str]] = frozenset()
    groups: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MonthFacts:
    """What is printed repeatedly around a month: headlines, by newspaper and form, and texts, by newspaper.

    Only what the pairs to judge have matters: their newspapers, and the phrases of their articles.
    """

    series: HeadlineSeries
    texts: Mapping[int, RecurringText]

    def recurrence_of(self, judged: JudgedArticle) -> Recurrence:
        """Return the series of an article, and what recurs in its newspaper."""
        article = judged.article
        text = self.texts.get(article.newspaper, NO_RECURRING_TEXT)
        return self.series.recurrence_of(article.newspaper, article.date, judged.form, text)


def compared(
    left: JudgedArticle, right: JudgedArticle, facts: MonthFacts, sharing: Sharing | None = None
) -> Comparison:
    """Return the full comparison of two articles. `facts` are of the month of the later one."""
    return compare(left.article, right.article, facts.recurrence_of(left), facts.recurrence_of(right), sharing)


def judgement_on(
    pair: JudgedPair, left: JudgedArticle, right: JudgedArticle, comparison: Comparison, terms: Terms, rulings: Rulings
) -> Judgement:
    """Return the judgement on a pair that was compared."""
    judgement = judgement_of(comparison, terms.model)
    series = (left.article.newspaper, left.form)
    if series == (right.article.newspaper, right.form) and series in rulings.series:
        return judgement.overruled(VerdictKind.TEMPLATE, RULE_REASON)
    if pair.left in rulings.groups and rulings.groups[pair.left] == rulings.groups.get(pair.right):
        return judgement.overruled(VerdictKind.TEMPLATE, GROUP_RULE_REASON)
    if terms.boilerplate is not Mode.KEEP and not (left.article.size and right.article.size):
        return judgement.overruled(VerdictKind.SIMILAR, NOTHING_LEFT)
    if pair.leftover:
        return judgement.overruled(VerdictKind.SIMILAR, leftover(pair.leftover))
    return judgement


def judged(
    pairs: Sequence[JudgedPair],
    articles: Mapping[int, JudgedArticle],
    facts: MonthFacts,
    terms: Terms,
    rulings: Rulings,
) -> Iterator[JudgedRow]:
    """Yield the verdicts on pairs as rows to store. `facts` are of the month of the later article of each."""
    for start in range(0, len(pairs), _COMPARED_AT_ONCE):
        some = [(pair, articles[pair.left], articles[pair.right]) for pair in pairs[start : start + _COMPARED_AT_ONCE]]
        sharing = sharing_sentences([in_order(left.article, right.article) for _, left, right in some])
        for (pair, left, right), shared in zip(some, sharing, strict=True):
            comparison = compared(left, right, facts, shared)
            judgement = judgement_on(pair, left, right, comparison, terms, rulings)
            left_longer = left.article.size > right.article.size
            yield _row(pair, comparison, judgement, terms.same_as, left_longer=left_longer)


def _row(
    pair: JudgedPair, comparison: Comparison, judgement: Judgement, same_as: SameAs, *, left_longer: bool
) -> JudgedRow:
    found = judgement.measured
    matched, own = (comparison.matched_share, comparison.matched_longer), (found.shorter_own, found.longer_own)
    if left_longer:
        matched, own = matched[::-1], own[::-1]
    chances, relation = (judgement.probability, judgement.duplicate_probability), found.relation.value
    reasons = json.dumps(judgement.reasons, ensure_ascii=False)
    joins = is_same(same_as, relation, judgement.duplicate_probability, matched)
    row = (judgement.kind, *chances, reasons, joins, *matched, relation, found.probability, *own)
    return JudgedRow(pair.id, *row, found.new_text, found.quoted)
