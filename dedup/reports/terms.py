"""Report `terms`: the words whose share of all words changes most when duplicates are removed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Annotated, Any

from django.db import connection, transaction

from dedup.declarations import Settings, setting
from dedup.detection.article_sql import article_sql
from dedup.detection.kernels.masked_shingles import words_of
from dedup.detection.kernels.stopwords import language_of, stop_words
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, Report
from dedup.reports.columns import column, table
from dedup.reports.drawing import PALETTE, alt, drawn_name, stacked

SHOWN = 50
# Distinct words that are held in memory; then their counts go to the database. About 45 MB.
MOST_HELD = 300_000
_ARTICLES_AT_ONCE = 500
_PER = 100_000

_ARTICLES_SQL = article_sql(
    """
SELECT article.normalized_text, cluster.id IS NOT NULL
FROM {articles} AS article
LEFT JOIN dedup_membership AS member ON member.article_id = article.id
LEFT JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id
    AND coalesce(cluster.kept_text_id, cluster.kept_id) <> article.id
WHERE {article.in_scope}
""",
    "article",
)
_CREATE_SQL = "CREATE TEMPORARY TABLE counted_word (word text, all_times bigint, kept_times bigint) ON COMMIT DROP"
_COPY_SQL = "COPY counted_word (word, all_times, kept_times) FROM STDIN"
_MOVED_SQL = """
WITH word AS (
    SELECT word, sum(all_times)::bigint AS before, sum(kept_times)::bigint AS after FROM counted_word GROUP BY word
)
SELECT word, before, after FROM word
ORDER BY abs(after / greatest(%(after)s, 1)::float8 - before / greatest(%(before)s, 1)::float8) DESC, word COLLATE "C"
LIMIT %(shown)s
"""


@dataclass(frozen=True, slots=True)
class TermsOptions(Settings):
    """Which words are left out."""

    without_stop_words: bool = setting(
        False, help="Leave out the stop words of each article's language, such as “the”.", source="stopwords-iso"
    )


@dataclass(frozen=True, slots=True)
class Term:
    """How often a word occurs in all articles (`before`) and in those that are not duplicates (`after`).

    As times, and as times in 100,000 words, of which the difference is after minus before.
    """

    word: Annotated[str, column("Word")]
    before: Annotated[int, column("Times, with duplicates")]
    after: Annotated[int, column("Times, without")]
    rate_before: Annotated[float, column("Per 100,000 words, with", named="per_100000_before")]
    rate_after: Annotated[float, column("Per 100,000, without", named="per_100000_after")]
    difference: Annotated[float, column("Difference")]


@dataclass(frozen=True, slots=True)
class Terms:
    """The words that move most, the farthest first, and what they were counted in."""

    articles: int
    duplicates: int
    words_before: int
    words_after: int
    terms: Annotated[list[Term], table("Words whose share changes most")]


class TermsReport(Report, name="terms", label="Duplicates and words", options=TermsOptions, heavy_from=2_000):
    """Lists the 50 words whose share of all words changes most when duplicates are removed."""

    def result(self, scope: Scope, options: TermsOptions) -> Terms:
        """Count the words of all texts. Reads every text, but keeps few of them in memory at a time."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_CREATE_SQL)
            counter = _Counter(cursor, _without_stop_words if options.without_stop_words else words_of)
            # A cursor of the server: few texts are in memory.
            with connection.chunked_cursor() as texts:
                texts.execute(_ARTICLES_SQL, scope.bounds())
                batches = iter(partial(texts.fetchmany, _ARTICLES_AT_ONCE), [])
                for text, is_duplicate in chain.from_iterable(batches):
                    counter.add(text, is_duplicate=is_duplicate)
            terms = counter.moved()
            cursor.execute("DROP TABLE counted_word")
        return Terms(counter.articles, counter.duplicates, counter.words_before, counter.words_after, terms)

    def summary(self, result: Terms) -> str:
        """Return a sentence with the totals."""
        if not result.articles:
            return "There are no articles to count."
        removed = result.words_before - result.words_after
        share = removed / result.words_before if result.words_before else 0.0
        return (
            f"{result.duplicates:,} of {result.articles:,} articles are duplicates; without them, the archive has "
            f"{result.words_after:,} words instead of {result.words_before:,} ({share:.2%} less)."
        )

    def charts(self, result: Terms) -> list[Chart]:
        """Return the changes as bars; none if no word moves."""
        return [_chart(result)] if result.duplicates and result.terms else []


class _Counter:
    """Counts words, as many in memory as MOST_HELD."""

    def __init__(self, cursor: Any, words: Callable[[str], list[str]]) -> None:
        self.articles = self.duplicates = self.words_before = self.words_after = 0
        self._cursor, self._words = cursor, words
        self._before: Counter[str] = Counter()
        self._after: Counter[str] = Counter()

    def add(self, text: str, *, is_duplicate: bool) -> None:
        """Count the words of an article."""
        words = self._words(text)
        self.articles += 1
        self.duplicates += is_duplicate
        self.words_before += len(words)
        self._before.update(words)
        if not is_duplicate:
            self.words_after += len(words)
            self._after.update(words)
        if len(self._before) > MOST_HELD:
            self._store()

    def _store(self) -> None:
        """Move the counts to the temporary table."""
        with self._cursor.copy(_COPY_SQL) as copy:
            for word, times in self._before.items():
                copy.write_row((word, times, self._after[word]))
        self._before.clear()
        self._after.clear()

    def moved(self) -> list[Term]:
        """Return the words that move most."""
        self._store()
        self._cursor.execute(_MOVED_SQL, {"before": self.words_before, "after": self.words_after, "shown": SHOWN})
        terms = []
        for word, before, after in self._cursor:
            rate_before, rate_after = _PER * before / max(self.words_before, 1), _PER * after / max(self.words_after, 1)
            terms.append(Term(word, before, after, rate_before, rate_after, rate_after - rate_before))
        return terms


def _without_stop_words(text: str) -> list[str]:
    language = language_of(text)
    left_out = stop_words(language) if language else frozenset[str]()
    return [word for word in words_of(text) if word not in left_out]


def _chart(result: Terms) -> Chart:
    parts = [
        (term.word, {"less frequent": min(term.difference, 0.0), "more frequent": max(term.difference, 0.0)})
        for term in result.terms
    ]
    scale = alt.Scale(range=[PALETTE[1], PALETTE[0]])
    spec = stacked(parts, "Change in 100,000 words", height=18, room=180, title="Without duplicates", scale=scale)
    first = result.terms[0]
    return Chart(
        "terms",
        "Words whose share changes most",
        "How many times more or less often a word occurs in 100,000 words once duplicates are removed. "
        f"“{drawn_name(first.word)}” changes most, from {first.rate_before:,.1f} to {first.rate_after:,.1f}.",
        spec,
    )
