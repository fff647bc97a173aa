"""Writes verdicts: compares every proposed pair in full, some pairs of one month at a time.

A verdict depends on the two articles and on what their newspapers published around that time: headlines of one form
within SERIES_DAYS, and what recurs in the texts of some months. The result does not depend on which pairs are judged
together, nor by which process.
"""

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from django.db import connection, transaction
from django.db.models import Max

from articles.boilerplate.mode import Mode
from articles.models import Article, Newspaper
from articles.normalization.times import Precision, PublicationTime
from articles.processes import Pool
from articles.querysets import TIME_COLUMNS
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.clustering.group_pairs import by_month
from dedup.detection.clustering.joins import same_as
from dedup.detection.clustering.rebuild import NOTE_JUDGED_SQL
from dedup.detection.comparison.recurring import HeadlineSeries, RecurringText
from dedup.detection.judging.judge import (
    JudgedArticle,
    JudgedPair,
    JudgedRow,
    MonthFacts,
    PreparedArticles,
    Rulings,
    StoredArticle,
    Terms,
    compared,
    judged,
    judgement_on,
    without_collector,
)
from dedup.detection.judging.months import month_of, series_days
from dedup.detection.kernels.tokens import distinct, keep_freed_memory
from dedup.detection.runs.outdated_verdicts import Outdated, PairsToJudge, note_judged
from dedup.detection.runs.phases import Progress
from dedup.detection.runs.recurring_text import learn_months, stored_texts, texts_around
from dedup.detection.types import Phase
from dedup.detection.verdicts.features import features_of
from dedup.detection.verdicts.model import VerdictModel, default_model, dump_model, load_model
from dedup.detection.verdicts.verdict import Judgement
from dedup.models import DetectionRun, FittedModel, GroupMember, HeadlineForm, NewspaperMonth, Series
from dedup.models.base import read_rows


def model_in_use() -> VerdictModel:
    """Return the model that gives the verdicts: the installation's own, or the one shipped with the program."""
    fitted = FittedModel.objects.filter(in_use=True).first()
    return load_model(fitted.content) if fitted else default_model()


def terms_in_force(boilerplate: Mode = Mode.KEEP) -> Terms:
    """Return the terms of a run that starts now."""
    return Terms(dump_model(model_in_use()), same_as(), boilerplate)


# The articles of so many pairs are in memory at a time.
_PAIRS_AT_ONCE = 500
# Starting another process costs a second of work; it pays off for this many pairs.
PAIRS_PER_WORKER = 2_000

_CREATE_SQL = """
CREATE TEMPORARY TABLE judged_pair ON COMMIT DROP AS
SELECT id, verdict, probability, duplicate_probability, reasons, joins, left_matched, right_matched, relation,
       relation_probability, left_own, right_own, new_text, quoted, input_digest
FROM dedup_pair
WITH NO DATA
"""
_COPY_SQL = "COPY judged_pair FROM STDIN"
_STORE_SQL = """
UPDATE dedup_pair AS pair
SET verdict = judged.verdict, probability = judged.probability, reasons = judged.reasons, joins = judged.joins,
    duplicate_probability = judged.duplicate_probability,
    left_matched = judged.left_matched, right_matched = judged.right_matched, relation = judged.relation,
    relation_probability = judged.relation_probability, left_own = judged.left_own, right_own = judged.right_own,
    new_text = judged.new_text, quoted = judged.quoted, input_digest = judged.input_digest
FROM judged_pair AS judged
WHERE judged.id = pair.id
"""
# Uses the index headline_form.
_FORMS_SQL = """
SELECT DISTINCT known.newspaper_id, known.date, known.form
FROM unnest(%(newspapers)s::bigint[], %(forms)s::text[]) AS asked (newspaper_id, form)
JOIN dedup_headlineform AS known
    ON known.newspaper_id = asked.newspaper_id AND md5(known.form) = md5(asked.form) AND known.form = asked.form
WHERE known.date BETWEEN %(first)s AND %(last)s
"""

# What recurs in these newspapers around a month, as far as these articles have it.
TextsAround = Callable[[datetime.date, Collection[JudgedArticle], Mode], Mapping[int, RecurringText]]


_ARTICLE_COLUMNS = (
    *("pk", "newspaper", "date", *TIME_COLUMNS, "headline", "content", "boilerplate"),
    *("headline_form__form", "shingles__revision", "shingles__shingles", "revision"),
)


class ArticleCache:
    """The prepared articles of a process, each at one revision.

    `texts`: what recurs in a newspaper around a month, by both and a digest of the articles it is learnt from.
    """

    def __init__(self) -> None:
        self.texts: dict[tuple[int, datetime.date, int], RecurringText] = {}
        self._prepared = PreparedArticles()

    def fetch(self, wanted: set[int], boilerplate: Mode) -> dict[int, JudgedArticle]:
        """Return these articles, with or without their boilerplate."""
        revisions = Article.objects.filter(pk__in=wanted).values_list("pk", "revision")
        known = {pk: self._prepared.find((pk, revision, boilerplate)) for pk, revision in revisions}
        found = {pk: article for pk, article in known.items() if article}
        # As plain rows: making objects of the models takes a third of the time.
        rows = list(Article.objects.filter(pk__in=wanted - found.keys()).values_list(*_ARTICLE_COLUMNS))
        newspapers = Newspaper.objects.in_bulk({row[1] for row in rows})
        affixes = {number: newspaper.affixes for number, newspaper in newspapers.items()}
        stored = [_stored_article(columns, affixes, revision) for *columns, revision in rows]
        keyed = [((article.id, row[-1], boilerplate), article) for article, row in zip(stored, rows, strict=True)]
        prepared = self._prepared.prepare(keyed, boilerplate)
        found.update(zip([article.id for article in stored], prepared, strict=True))
        return found

    def clear(self) -> None:
        """Forget all articles, and what recurs in newspapers."""
        self._prepared.clear()
        self.texts.clear()


def _stored_article(columns: Sequence[Any], affixes: Mapping[int, Sequence[str]], revision: int) -> StoredArticle:
    pk, newspaper, date, at, offset, precision, headline, content, marks, form, made_at, shingles = columns
    time = None if at is None else PublicationTime(at, offset, Precision(precision))
    # What is outdated is made again. The next run makes the form of an article that was stored since the last one.
    masked = np.frombuffer(shingles, dtype="<u4") if made_at == revision else None
    return StoredArticle(pk, newspaper, date, time, headline, affixes[newspaper], content, marks, masked, form)


ARTICLES = ArticleCache()


def learn_recurring(outdated: Outdated, progress: Progress, pool: Pool) -> None:
    """Learn what recurs in newspapers around the months of these pairs: of all, before any of them is judged."""
    progress.start(Phase.RECURRING, sum(len(task.months) for task in outdated.months))
    for place, _ in pool.results(
        outdated.months, learn_months, at_most=_processes_for(outdated), on_idle=progress.look
    ):
        progress.advance(Phase.RECURRING, len(outdated.months[place].months), 0)


def judge_outdated(outdated: Outdated, progress: Progress, pool: Pool) -> None:
    """Judge these pairs, for which something has changed that their verdicts rest on.

    A process that is killed loses the pairs it was at, and the next call judges the rest.
    """
    progress.start(Phase.VERDICTS, outdated.pairs)
    judged_parts = pool.results(
        outdated.parts,
        judge,
        at_most=_processes_for(outdated),
        on_progress=lambda _, pairs: progress.read(Phase.VERDICTS, pairs),
        on_idle=progress.look,
    )
    for _, pairs in judged_parts:
        progress.advance(Phase.VERDICTS, pairs, pairs)
    note_judged(outdated)


def _processes_for(outdated: Outdated) -> int:
    return max(1, outdated.pairs // PAIRS_PER_WORKER)


def judge(task: PairsToJudge, on_judged: Callable[[int], None]) -> int:
    """Judge some pairs, and store their verdicts; return how many they are."""
    keep_freed_memory()
    with without_collector(), transaction.atomic():
        # All months are stored at once: the lock for it is held until the transaction ends, and others wait for it.
        verdicts = (judged_rows(month, pairs, task.terms, on_judged, texts=_stored) for month, pairs in task.by_month())
        store_rows(chain.from_iterable(verdicts), {row[0]: row[4] for row in task.rows.tolist()})
    return len(task.rows)


def judged_rows(
    month: datetime.date,
    pairs: Sequence[JudgedPair],
    terms: Terms,
    on_judged: Callable[[int], None] = lambda _pairs: None,
    *,
    texts: TextsAround | None = None,
    cache: ArticleCache = ARTICLES,
) -> Iterator[JudgedRow]:
    """Yield the verdicts of pairs of a month."""
    rulings = _rulings(pairs)
    for batch in _batches(month, pairs, terms.boilerplate, texts, cache):
        yield from judged(batch.pairs, batch.articles, batch.facts, terms, rulings)
        on_judged(len(batch.pairs))


def store_rows(rows: Iterable[JudgedRow], input_digest: Mapping[int, int]) -> list[int]:
    """Store verdicts, with a digest of what each rests on, by the number of the pair. Call it in a transaction.

    Return the numbers of the pairs.
    """
    verdicts, stored = iter(rows), []
    with connection.cursor() as cursor:
        cursor.execute(_CREATE_SQL)
        # In batches, because pairs are read between them.
        while batch := list(islice(verdicts, _PAIRS_AT_ONCE)):
            with cursor.copy(_COPY_SQL) as copy:
                for row in batch:
                    copy.write_row((*row, input_digest.get(row.id)))
            stored += [row.id for row in batch]
        lock_review()
        cursor.execute(NOTE_JUDGED_SQL)
        cursor.execute(_STORE_SQL)
        cursor.execute("DROP TABLE judged_pair")
    return stored


def features_of_pairs(ends: Collection[tuple[int, int]]) -> dict[tuple[int, int], tuple[float, ...]]:
    """Return the features of pairs of stored articles, whether or not a pass proposes them.

    Each pair is compared in the month of its later article, as in the last run. Pairs with an article stored since
    then are left out.
    """
    seen = HeadlineForm.objects.filter(pk__in={end for pair in ends for end in pair})
    days = dict(seen.values_list("pk", "date"))
    boilerplate = boilerplate_of_last_run()
    found: dict[tuple[int, int], tuple[float, ...]] = {}
    with without_collector():
        for month, known in by_month(sorted(pair for pair in ends if days.keys() >= set(pair)), days):
            for batch in _batches(month, [JudgedPair(0, *pair, leftover=0) for pair in known], boilerplate):
                for pair in batch.pairs:
                    found[pair.left, pair.right] = features_of(compared(*batch.articles_of(pair), batch.facts))
    return found


def judged_now(left: int, right: int, *, boilerplate: Mode, leftover: int = 0) -> JudgedRow:
    """Return the verdict that a run would give two stored articles now, whether or not a pass proposes them.

    `leftover` as in JudgedPair. Nothing is stored, and the articles are not kept in memory.
    """
    later: datetime.date = Article.objects.filter(pk__in=[left, right]).aggregate(day=Max("date"))["day"]
    terms = terms_in_force(boilerplate)
    [row] = judged_rows(month_of(later), [JudgedPair(0, left, right, leftover)], terms, cache=ArticleCache())
    return row


class JudgedNow(NamedTuple):
    """A pair as it is judged now, and what that rests on."""

    judgement: Judgement
    features: tuple[float, ...]
    model: VerdictModel


def judge_now(left: int, right: int, *, leftover: int = 0) -> JudgedNow | None:
    """Return how the next run would judge two stored articles, given in order of id; store nothing.

    None if an article is new since the last run. It may take some tenths of a second: it reads what recurs in both
    newspapers around that month. The articles are not kept in memory.
    """
    days = dict(HeadlineForm.objects.filter(pk__in=(left, right)).values_list("pk", "date"))
    if len(days) < 2:
        return None
    pair = JudgedPair(0, left, right, leftover)
    terms = Terms(dump_model(model_in_use()), boilerplate=boilerplate_of_last_run())
    [batch] = _batches(month_of(max(days.values())), [pair], terms.boilerplate, cache=ArticleCache())
    articles = batch.articles_of(pair)
    comparison = compared(*articles, batch.facts)
    judgement = judgement_on(pair, *articles, comparison, terms, _rulings([pair]))
    return JudgedNow(judgement, features_of(comparison), terms.model)


def boilerplate_of_last_run() -> Mode:
    """Return what the verdicts leave out of the texts."""
    last = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    return last.boilerplate if last else Mode.KEEP


class _Batch(NamedTuple):
    """Some pairs of a month, with their articles and what recurs in the newspapers of these."""

    pairs: Sequence[JudgedPair]
    articles: Mapping[int, JudgedArticle]
    facts: MonthFacts

    def articles_of(self, pair: JudgedPair) -> tuple[JudgedArticle, JudgedArticle]:
        """Return the two articles of a pair."""
        return self.articles[pair.left], self.articles[pair.right]


def _batches(
    month: datetime.date,
    pairs: Sequence[JudgedPair],
    boilerplate: Mode,
    texts: TextsAround | None = None,
    cache: ArticleCache = ARTICLES,
) -> Iterator[_Batch]:
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        some = pairs[start : start + _PAIRS_AT_ONCE]
        articles = cache.fetch({article for pair in some for article in (pair.left, pair.right)}, boilerplate)
        found = articles.values()
        facts = MonthFacts(HeadlineSeries(_forms_around(month, found)), (texts or _learnt)(month, found, boilerplate))
        yield _Batch(some, articles, facts)


def _forms_around(month: datetime.date, articles: Iterable[JudgedArticle]) -> list[tuple[int, datetime.date, str]]:
    """Return on which days the newspapers of these articles printed headlines of their forms."""
    asked = sorted({(known.article.newspaper, known.form) for known in articles if known.form})
    newspapers, forms = [newspaper for newspaper, _ in asked], [form for _, form in asked]
    return read_rows(_FORMS_SQL, newspapers=newspapers, forms=forms, **series_days(month)._asdict())


def _learnt(
    month: datetime.date, articles: Collection[JudgedArticle], boilerplate: Mode
) -> Mapping[int, RecurringText]:
    asked = distinct(np.concatenate([known.article.masked for known in articles]))
    return texts_around(month, {known.article.newspaper for known in articles}, asked, boilerplate)


def _stored(
    month: datetime.date, articles: Collection[JudgedArticle], _boilerplate: Mode
) -> Mapping[int, RecurringText]:
    """Return what recurs around a month, which this run has brought up to date. It is kept in memory for that month."""
    asked = {known.article.newspaper for known in articles}
    digests = NewspaperMonth.objects.filter(month=month, newspaper__in=asked).values_list("newspaper", "digest")
    keys = {newspaper: (newspaper, month, digest) for newspaper, digest in digests}
    known = ARTICLES.texts
    for other in [key for key in known if key[1] != month]:
        del known[other]
    missing = [newspaper for newspaper, key in keys.items() if key not in known]
    known.update((keys[newspaper], text) for newspaper, text in stored_texts(month, missing).items())
    return {newspaper: known[key] for newspaper, key in keys.items()}


def _rulings(pairs: Sequence[JudgedPair]) -> Rulings:
    series = Series.objects.filter(ruled_at__isnull=False).values_list("newspaper", "form")
    articles = {article for pair in pairs for article in (pair.left, pair.right)}
    groups = GroupMember.objects.filter(group__ruled_at__isnull=False, article__in=articles)
    return Rulings(set(series), dict(groups.values_list("article", "group")))
