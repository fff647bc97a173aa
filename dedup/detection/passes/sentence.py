"""The sentence pass: articles that share many of their sentences, in any order.

Sentences that many articles have, such as “subscribe to our newsletter”, are ignored. They are counted over the whole
scope: once a run, of all articles, before the blocks of days.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from articles.numbers import counted
from dedup.declarations import setting
from dedup.detection.article_sql import article_sql, scope_parameters
from dedup.detection.kernels.inverted_index import ScoredPairs
from dedup.detection.kernels.masked_shingles import SHINGLE_WORDS, masked_shingle_sets, words_of
from dedup.detection.kernels.parity_join import DayRange
from dedup.detection.kernels.sentences import (
    RepeatedSentences,
    SentenceSets,
    chosen_sentences,
    least_counted,
    repeated_sentences,
    sentence_forms,
    sentence_sets,
    shared_sentences,
)
from dedup.detection.kernels.tokens import IntArray, Ragged, concatenated, distinct
from dedup.detection.passes.base import (
    Connection,
    Explanation,
    PassConfig,
    days_compared,
    included,
    lowest_score,
    too_far,
)
from dedup.detection.passes.members import ArticleMembers, MadeMemberPass, scored
from dedup.detection.passes.reading import (
    ArticleRow,
    ArticleSentences,
    first_day_read,
    read_contents_of,
    read_holders,
    read_sentences,
)
from dedup.detection.types import Mark, Phase, Tally, Window

# Each part reads all articles and counts the sentences of one range of hashes.
_ARTICLES_PER_PART = 2_000_000
# Texts read at a time to see whether they have a sentence.
_READ_AT_ONCE = 50
# For sentences that are too short for a shingle. Reads the texts of all articles.
_SAYING_SQL = article_sql(
    """
SELECT id
FROM {articles} AS article
WHERE date <= %(last_day)s AND {article.in_newspapers} AND normalized_text LIKE '%%' || %(words)s || '%%'
ORDER BY date, id
""",
    "article",
)


@dataclass(frozen=True, slots=True)
class SentenceConfig(PassConfig):
    """Settings of the sentence pass."""

    enabled: bool = included(
        False, "a choice: it reads whole articles, and its pairs are similar more often than duplicate"
    )
    day_window: int = days_compared(30, "a choice: a story is retold within a month")
    threshold: float = lowest_score(
        0.3,
        "shared sentences / all sentences, 0..1",
        "the South African corpus: articles above 30% are marked as similar",
        least=0.05,
    )
    minimum_characters: int = setting(
        20,
        range=(1, 1000),
        unit="characters of the normalised sentence",
        help="Shorter sentences, such as “more to follow”, are ignored.",
        source="the South African corpus: sentences of fewer than 20 characters",
        label="Shortest sentence",
    )
    most_articles: int = setting(
        10,
        range=(2, 1000),
        unit="articles",
        help="Sentences in more articles than this, such as “subscribe to our newsletter”, are ignored.",
        source="the South African corpus: sentences that match more than 10 articles",
        label="Most articles that share a sentence",
    )
    weighted: bool = setting(
        False,
        help="Whether long sentences, rare sentences and sentences with names count more than others.",
        source="the South African corpus, which suggests it",
        label="Weigh sentences",
    )


class SentencePass(MadeMemberPass):
    """Pairs whose shared sentences make up at least the threshold's share of all their sentences."""

    name: ClassVar[str] = "sentence"
    label: ClassVar[str] = "Shared sentences"
    proposes: ClassVar[str] = "shared sentences, at most 30 days apart"
    config_class: ClassVar[type[PassConfig]] = SentenceConfig
    mark: ClassVar[Mark] = Mark.SENTENCES
    marked_note: ClassVar[str] = "sentences of at least {minimum_characters} characters that both have."
    index: ClassVar[str] = Phase.SENTENCES
    seconds_an_article: ClassVar[float] = 0.0006
    members: ClassVar[str] = "sentences"
    stored_as: ClassVar[str] = "<i8"
    members_an_article: ClassVar[int] = 20

    def preparations(self, blocks: int, articles: int) -> int:
        """Return in how many parts to count sentences, so that each fits into memory."""
        return -(-articles // _ARTICLES_PER_PART) if blocks > 1 else 0

    def prepare(
        self, window: Window, config: SentenceConfig, connection: Connection, part: int, parts: int, tally: Tally
    ) -> RepeatedSentences:
        """Return the sentences of one of several ranges of hashes, as far as their number counts."""
        kept = [np.empty(0, dtype=np.int64)]
        for articles in read_sentences(window, connection, tally):
            hashes = _chosen(articles, config).sets.values
            kept.append(hashes[hashes.view(np.uint64) % np.uint64(parts) == part])
        return repeated_sentences(np.concatenate(kept), self.counted_from(config))

    def prepared(self, parts: Sequence[RepeatedSentences]) -> RepeatedSentences:
        """Return all sentences whose number counts, ascending."""
        hashes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(hashes)
        return RepeatedSentences(hashes[order], counts[order])

    def read(self, window: Window, config: SentenceConfig, connection: Connection, tally: Tally) -> ArticleMembers:
        """Return the sentences of the articles of a window and of the days before it."""
        none = np.empty(0, dtype=np.int64)
        parts = [ArticleMembers(none, none, sentence_sets([], minimum_characters=0, weighted=False))]
        begin = first_day_read(window, config.day_window)
        batches = read_sentences(window, connection, tally, first_day=begin)
        parts += (ArticleMembers(batch.ids, batch.days, _chosen(batch, config)) for batch in batches)
        return concatenated(parts)

    def made(self, texts: Sequence[str], config: SentenceConfig) -> SentenceSets:
        """Return the sentences of texts and their weights."""
        return sentence_sets(texts, minimum_characters=config.minimum_characters, weighted=config.weighted)

    def sets(self, values: IntArray, offsets: IntArray, weights: npt.NDArray[np.float32]) -> SentenceSets:
        """Return sets of sentences."""
        return SentenceSets(Ragged(values, offsets), weights)

    def counted_from(self, config: SentenceConfig) -> int:
        """Return the number of articles with a sentence from which on that number counts."""
        return least_counted(config.most_articles, weighted=config.weighted)

    def counted(self, members: npt.NDArray[np.uint64], counts: IntArray) -> RepeatedSentences:
        """Return repeated sentences."""
        return RepeatedSentences(members.view(np.int64), counts)

    def shared(
        self,
        sets: SentenceSets,
        asked: DayRange,
        prepared: RepeatedSentences,
        config: SentenceConfig,
        sides: IntArray | None = None,
    ) -> Iterator[ScoredPairs]:
        """Yield the pairs that share enough; `prepared` are the sentences whose number counts."""
        yield from shared_sentences(
            sets._replace(repeated=prepared),
            asked,
            most_texts=config.most_articles,
            threshold=config.threshold,
            weighted=config.weighted,
            sides=sides,
        )

    def explain(
        self, left: int, right: int, window: Window, config: SentenceConfig, connection: Connection
    ) -> Explanation:
        """Return why the two articles are proposed or not. Reads the shingles of all articles if they share any."""
        two = read_contents_of([left, right], window, connection)
        days = abs((two[0][1] - two[1][1]).days)
        one, other = (sentence_forms(text, minimum_characters=config.minimum_characters) for _, _, text in two)
        common = len(one.keys() & other.keys())
        if days > config.day_window:
            why = f"{too_far(days, config.day_window)} They share {counted(common, 'sentence')}."
            return Explanation(False, why, None, config.threshold)
        if not common:
            why = f"They share no sentence of at least {config.minimum_characters:,} characters."
            return Explanation(False, why, 0.0, config.threshold)
        articles = _holders(two, one | other, window, config, connection)
        ids = np.array([row[0] for row in articles])
        parts = shared_sentences(
            self.made([row[2] for row in articles], config),
            DayRange(np.zeros(len(articles), dtype=np.int64), 0, 0),
            most_texts=config.most_articles,
            threshold=0.0,
            weighted=config.weighted,
        )
        found = scored(left, right, ids, parts)
        said = f"They share {counted(found[1], 'sentence')} of {found[2]:,} in both."
        return self.explained(said, found, common, config)


def _chosen(articles: ArticleSentences, config: SentenceConfig) -> SentenceSets:
    return chosen_sentences(articles.marked, minimum_characters=config.minimum_characters, weighted=config.weighted)


def _holders(
    two: Sequence[ArticleRow], forms: Mapping[int, str], window: Window, config: SentenceConfig, connection: Connection
) -> list[ArticleRow]:
    """Return the two articles and, for each sentence, all others that have it, or enough for it to be ignored."""
    known = {row[0]: row for row in two}
    said = {row[0]: sentence_forms(row[2], minimum_characters=config.minimum_characters).keys() for row in two}
    for sentence, articles in _candidates(forms, window, connection).items():
        having = 0
        for start in range(0, len(articles), _READ_AT_ONCE):
            some = articles[start : start + _READ_AT_ONCE]
            for row in read_contents_of([article for article in some if article not in known], window, connection):
                known[row[0]] = row
                said[row[0]] = sentence_forms(row[2], minimum_characters=config.minimum_characters).keys()
            having += sum(sentence in said[article] for article in some)
            if having > config.most_articles:
                break
    return sorted(known.values(), key=lambda row: (row[1], row[0]))


def _candidates(forms: Mapping[int, str], window: Window, connection: Connection) -> dict[int, list[int]]:
    """Return the articles that may have each sentence: those that have all of its shingles, or else its words."""
    long = {sentence: form for sentence, form in forms.items() if len(words_of(form)) >= SHINGLE_WORDS}
    sets = masked_shingle_sets(list(long.values()))
    found = read_holders(distinct(sets.values), window, connection)
    candidates: dict[int, list[int]] = {}
    for sentence, shingles in zip(long, sets.split(), strict=True):
        ids, counts = np.unique(found.ids[np.isin(found.hashes, shingles)], return_counts=True)
        candidates[sentence] = ids[counts == len(shingles)].tolist()
    for sentence in forms.keys() - long.keys():
        with connection.cursor() as cursor:
            cursor.execute(_SAYING_SQL, {**scope_parameters(window), "words": forms[sentence]})
            candidates[sentence] = [article for (article,) in cursor]
    return candidates
