"""Whether what runs derive from texts is what they would derive today: indexes, verdicts, shared words."""

import datetime
import json
import math
import random
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, LiteralString, NamedTuple

from django.db.models import QuerySet
from psycopg.sql import SQL, Identifier, Literal

from articles.models import Article
from articles.querysets import fetched
from dedup.detection.clustering.joins import joins_follow
from dedup.detection.comparison.differences import compare_texts
from dedup.detection.judging.judge import JudgedPair, JudgedRow, Terms
from dedup.detection.runs.judging import ArticleCache, judged_rows, terms_in_force
from dedup.detection.runs.outdated_verdicts import is_all_judged
from dedup.detection.runs.recurring_text import digests_around
from dedup.detection.runs.text_indexes import SENTENCE_INDEX, SHINGLE_INDEX
from dedup.detection.types import Phase
from dedup.models import ArticleSentences, ArticleShingles, DetectionRun, NewspaperMonth, Pair
from dedup.review.queries.articles import compared_texts
from dedup.rows.files import in_batches
from newsdedup_site.doctor.articles import sampled
from newsdedup_site.doctor.invariant import FULL_RUN, Found, Invariant, Sample, listed, options, rows, together

# To judge a pair takes about as long as to normalise so many articles.
_ARTICLES_PER_PAIR = 10
_AT_ONCE, _IN_A_ROW = 500, 10
# Two machines may differ in the last digits of a probability.
_SAME = 1e-9
_NUMBERS = (
    *("probability", "duplicate_probability", "left_matched", "right_matched"),
    *("relation_probability", "left_own", "right_own", "quoted"),
)
_WORDS = ("verdict", "joins", "relation", "new_text")
_FORGET = "Delete these rows and those of dedup_watermark; then run `manage.py find_duplicates`, which makes them."
_JUDGE = (
    "Set input_digest of these pairs to NULL with SQL; then run `manage.py find_duplicates`, which judges them again."
)
# The table of each index of the texts, by the name of its mark: up to there, every article has its row.
_INDEXES = {
    Phase.SHINGLES: "dedup_articleshingles",
    Phase.SENTENCES: "dedup_articlesentences",
    Phase.SERIES: "dedup_headlineform",
}
_MISSING_SQL = SQL("""
SELECT 'article ' || article.id || ' has no row of today in ' || {name}
FROM articles_article AS article
LEFT JOIN {index} AS known ON known.article_id = article.id
WHERE known.revision IS DISTINCT FROM article.revision
    AND article.revision <= (SELECT revision FROM dedup_watermark WHERE name = %(name)s)
""")
_HEADLINE_FORMS_SQL: LiteralString = """
SELECT format('the headline form of article %s has another day or newspaper', article.id)
FROM articles_article AS article
JOIN dedup_headlineform AS known ON known.article_id = article.id AND known.revision = article.revision
WHERE (known.date, known.newspaper_id) IS DISTINCT FROM (article.date, article.newspaper_id)
"""
_PAIRS_SQL: LiteralString = """
SELECT pair.id, pair.left_id, pair.right_id, coalesce((evidence.details ->> 'leftover')::bigint, 0),
    date_trunc('month', greatest(one.date, other.date))::date AS month, one.newspaper_id, other.newspaper_id
FROM dedup_pair AS pair
JOIN dedup_headlineform AS one ON one.article_id = pair.left_id
JOIN dedup_headlineform AS other ON other.article_id = pair.right_id
LEFT JOIN dedup_evidence AS evidence
    ON evidence.pair_id = pair.id AND evidence.pass_name = 'exact' AND NOT evidence.stale
    AND evidence.details ? 'leftover'
WHERE pair.best_score > 0 AND pair.input_digest IS NOT NULL AND pair.verdict <> ''
ORDER BY month, pair.id
"""


def _indexed(_sample: Sample) -> Found:
    missing = (
        rows(_MISSING_SQL.format(index=Identifier(table), name=Literal(table)), {"name": name})
        for name, table in _INDEXES.items()
    )
    return together(*missing, rows(_HEADLINE_FORMS_SQL))


def _contents(sample: Sample) -> Found:
    smaller = sample.smaller(_ARTICLES_PER_PAIR)
    forms = ("pk", "newspaper", "date", "revision", "normalized_text")
    shingles = ("article", "newspaper", "date", "revision", "shingles")
    texts, sentences = ("pk", "revision", "content"), ("article", "revision", "hashes", "marks")
    return together(
        listed(_differing(SHINGLE_INDEX, ArticleShingles, shingles, forms, smaller)),
        listed(_differing(SENTENCE_INDEX, ArticleSentences, sentences, texts, smaller)),
    )


def _differing(index: Any, model: Any, columns: Sequence[str], read: Sequence[str], sample: Sample) -> Iterator[str]:
    """Yield which rows of an index are not what it makes of their articles, as far as they have one of today."""
    revision = columns.index("revision")
    articles = sampled(Article.objects.values_list(*read), sample).iterator(_AT_ONCE)
    for batch in iter(lambda: list(islice(articles, _AT_ONCE)), []):
        known = model.objects.filter(pk__in=[row[0] for row in batch]).values_list(*columns)
        stored = {row[0]: [bytes(value) if isinstance(value, memoryview) else value for value in row] for row in known}
        for made in index.made(batch):
            row = stored.get(made[0])
            if row is not None and row[revision] == made[revision] and row != list(made):
                yield f"article {made[0]} has another row in {options(model).db_table} than its text gives"


def _judged(sample: Sample) -> Found:
    last = DetectionRun.objects.filter(state=DetectionRun.State.DONE).select_related("profile").first()
    if last is None:
        return Found()
    terms = terms_in_force(last.boilerplate)
    if not (is_all_judged(terms) and joins_follow(terms.same_as)):
        return Found(waiting="The next run judges pairs again: articles or settings have changed.")
    return listed(_judged_otherwise(_sampled_pairs(sample), terms))


class _Stored(NamedTuple):
    """A pair whose verdict is to be given again, and what that rests on."""

    pair: JudgedPair
    month: datetime.date
    newspapers: tuple[int, int]


def _sampled_pairs(sample: Sample) -> list[_Stored]:
    pairs = [_Stored(JudgedPair(*row[:4]), row[4], row[5:]) for row in fetched(_PAIRS_SQL)]
    wanted = sample.smaller(_ARTICLES_PER_PAIR).articles
    if wanted is None or len(pairs) <= wanted:
        return pairs
    # Those of a month are judged together, which takes less time.
    starts = random.Random(sample.seed).sample(range(len(pairs)), math.ceil(wanted / _IN_A_ROW))  # noqa: S311
    return [
        pairs[place]
        for place in sorted({at for start in starts for at in range(start, start + _IN_A_ROW)})
        if place < len(pairs)
    ]


def _judged_otherwise(pairs: Sequence[_Stored], terms: Terms) -> Iterator[str]:
    cache = ArticleCache()
    for month, of_month in groupby(pairs, key=lambda stored: stored.month):
        known = list(of_month)
        settled = _settled_newspapers(month, {number for stored in known for number in stored.newspapers}, terms)
        asked = [stored.pair for stored in known if settled.issuperset(stored.newspapers)]
        rows_of = Pair.objects.in_bulk([pair.id for pair in asked])
        for row in judged_rows(month, asked, terms, cache=cache):
            if difference := _difference(rows_of[row.id], row):
                yield difference


def _settled_newspapers(month: datetime.date, newspapers: Collection[int], terms: Terms) -> set[int]:
    """Return those whose articles around a month are still those that verdicts rest on."""
    months = NewspaperMonth.objects.filter(month=month, newspaper__in=newspapers)
    learnt = dict(months.values_list("newspaper", "digest"))
    now = digests_around(month, newspapers, terms.boilerplate)
    return {newspaper for newspaper in newspapers if learnt.get(newspaper) == now.get(newspaper)}


def _difference(pair: Pair, row: JudgedRow) -> str:
    """Return what differs between a stored verdict and the one given again; empty if nothing does."""
    said = [f"{one.verdict} {one.probability} (of duplicates {one.duplicate_probability})" for one in (pair, row)]
    if any(getattr(pair, name) != getattr(row, name) for name in _WORDS) or not all(
        math.isclose(getattr(pair, name) or 0.0, getattr(row, name), abs_tol=_SAME) for name in _NUMBERS
    ):
        return f"pair {pair.pk} is stored as {said[0]}, and its articles give {said[1]}"
    has_reasons = pair.reasons == json.loads(row.reasons)
    return "" if has_reasons else f"pair {pair.pk} has other reasons than its articles give"


_TEXTS = [f"{side}__{name}" for side in ("left", "right") for name in ("content", "boilerplate", "date")]


def _look(sample: Sample) -> Found:
    last = DetectionRun.objects.order_by("pk").last()
    if last is None or last.state != DetectionRun.State.DONE:
        return Found(waiting="The last run is not done; the next one judges what has changed.")
    # An article that has changed since waits for the next run.
    newest = last.counts.get("newest") or 0
    pairs = Pair.objects.filter(
        left_matched__isnull=False,
        input_digest__isnull=False,
        left__revision__lte=newest,
        right__revision__lte=newest,
        left__withheld=False,
        right__withheld=False,
    )
    shown = pairs.select_related("left", "right").only("left_matched", "right_matched", *_TEXTS)
    return listed(_shown_otherwise(sampled(shown, sample, of=Pair)))


def _shown_otherwise(pairs: QuerySet[Pair]) -> Iterator[str]:
    for batch in in_batches(pairs):
        texts = compared_texts([article for pair in batch for article in (pair.left, pair.right)])
        for pair, left, right in zip(batch, texts[::2], texts[1::2], strict=True):
            shown = compare_texts(left, right)
            counted = [pair.left_matched, pair.right_matched]
            words = (shown.left_words, shown.right_words)
            if not shown.too_long and counted != [shown.same / whole if whole else 1.0 for whole in words]:
                yield (
                    f"pair {pair.pk} shows {shown.same} words in both, of {words[0]} and {words[1]}; its verdict "
                    f"counted shares of {counted[0]} and {counted[1]}"
                )


INVARIANTS = (
    Invariant(
        "indexed", "The indexes of the texts have every article that a run has put into them.", _indexed, _FORGET
    ),
    Invariant("index-contents", "The indexes of the texts have what the texts give.", _contents, _FORGET),
    Invariant("judged", "The verdict on a pair is the one that its two articles give.", _judged, _JUDGE),
    Invariant(
        "shared-words", "The page of a pair shows as shared the words that its verdict counted.", _look, FULL_RUN
    ),
)
