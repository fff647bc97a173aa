"""Writes verdicts: compares every proposed pair in full, one month at a time.

A verdict depends on the two articles and on what their newspapers published around that time: headlines of one form
within SERIES_DAYS, and what recurs in the texts of some months. So the pairs of a month are judged together, and again
whenever any of this changes. The result is the same as judging all pairs.
"""

from __future__ import annotations

import datetime
import gc
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Max

from articles.boilerplate.mode import Mode
from articles.models import Article
from dedup.article_sql import article_sql
from dedup.clustering.changes import NOTE_JUDGED_SQL
from dedup.clustering.constraints import lock_review
from dedup.comparison.compare import Comparison
from dedup.comparison.recurring import HeadlineSeries
from dedup.judging.articles import JudgedArticle
from dedup.judging.judge import JudgedPair, JudgedRow, MonthFacts, Rulings, Terms, compared, judged, judgement_on
from dedup.judging.months import days_of, month_of, series_days
from dedup.models import DetectionRun, GroupMember, HeadlineForm, JudgedMonth, Series
from dedup.runs.article_cache import ARTICLES, ArticleCache
from dedup.runs.months import MonthTask, model_in_use
from dedup.runs.recurring_text import recurring_texts
from dedup.verdicts.features import features_of
from dedup.verdicts.model import VerdictModel, dump_model, load_model
from dedup.verdicts.verdict import Judgement

_PAIRS_AT_ONCE = 500

_PAIRS_SQL = article_sql(
    """
SELECT pair.id, pair.left_id, pair.right_id, coalesce((evidence.details ->> 'leftover')::int, 0)
FROM dedup_pair AS pair
{pair.both_articles}
LEFT JOIN dedup_evidence AS evidence
    ON evidence.pair_id = pair.id AND evidence.pass_name = 'exact' AND NOT evidence.stale
WHERE pair.best_score > 0
  AND {pair.later_day} BETWEEN %(first_day)s AND %(last_day)s
ORDER BY {pair.later_day}, pair.left_id, pair.right_id
"""
)

_CREATE_SQL = """
CREATE TEMPORARY TABLE judged_pair (
    id bigint, verdict text, probability double precision, duplicate_probability double precision, reasons jsonb,
    joins boolean, left_matched double precision, right_matched double precision
) ON COMMIT DROP
"""
_COPY_SQL = """
COPY judged_pair (id, verdict, probability, duplicate_probability, reasons, joins, left_matched, right_matched)
FROM STDIN
"""
_STORE_SQL = """
UPDATE dedup_pair AS pair
SET verdict = judged.verdict, probability = judged.probability, reasons = judged.reasons, joins = judged.joins,
    duplicate_probability = judged.duplicate_probability,
    left_matched = judged.left_matched, right_matched = judged.right_matched
FROM judged_pair AS judged
WHERE judged.id = pair.id
"""


def judge_month(task: MonthTask, on_judged: Callable[[int], None]) -> int:
    """Compare the pairs of a month in full; store their verdicts and the month's mark; return the number of pairs.

    All of it is one transaction. Memory holds the ids of the pairs and the cached articles.
    """
    with _without_collector(), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_PAIRS_SQL, {"first_day": task.first_day, "last_day": task.last_day})
            pairs = [JudgedPair(*row) for row in cursor]
        store_rows(judged_rows(task, pairs, on_judged))
        JudgedMonth.objects.update_or_create(month=task.first_day, defaults={"fingerprint": task.fingerprint})
    return len(pairs)


def judged_rows(
    task: MonthTask, pairs: Sequence[JudgedPair], on_judged: Callable[[int], None] = lambda _pairs: None
) -> Iterator[JudgedRow]:
    """Yield the verdicts of pairs of a month."""
    judge = MonthJudge(task, pairs)
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        batch = pairs[start : start + _PAIRS_AT_ONCE]
        yield from judge.rows(batch)
        on_judged(len(batch))


def store_rows(rows: Iterable[JudgedRow]) -> None:
    """Store verdicts. Call it in a transaction."""
    judged = iter(rows)
    with connection.cursor() as cursor:
        cursor.execute(_CREATE_SQL)
        # In batches, because pairs are read between them.
        while batch := list(islice(judged, _PAIRS_AT_ONCE)):
            with cursor.copy(_COPY_SQL) as copy:
                for row in batch:
                    copy.write_row(row)
        lock_review()
        cursor.execute(NOTE_JUDGED_SQL)
        cursor.execute(_STORE_SQL)
        cursor.execute("DROP TABLE judged_pair")


def features_of_pairs(ends: Collection[tuple[int, int]]) -> dict[tuple[int, int], tuple[float, ...]]:
    """Return the features of pairs of stored articles, whether or not a pass proposes them.

    Each pair is compared in the month of its later article, as judge_month did in the last run. Pairs with an article
    stored since then are left out.
    """
    seen = HeadlineForm.objects.filter(pk__in={end for pair in ends for end in pair})
    days = dict(seen.values_list("pk", "date"))
    months: defaultdict[datetime.date, list[JudgedPair]] = defaultdict(list)
    for left, right in sorted(each for each in ends if days.keys() >= set(each)):
        months[month_of(max(days[left], days[right]))].append(JudgedPair(0, left, right, 0))
    boilerplate = _boilerplate_of_last_run()
    found: dict[tuple[int, int], tuple[float, ...]] = {}
    with _without_collector():
        for first_day, pairs in sorted(months.items()):
            # Nothing is judged, so no model is needed.
            judge = MonthJudge(_task_of(first_day, boilerplate), pairs)
            for start in range(0, len(pairs), _PAIRS_AT_ONCE):
                compared = judge.comparisons(pairs[start : start + _PAIRS_AT_ONCE])
                found.update(((pair.left, pair.right), features_of(each)) for pair, _, _, each in compared)
    return found


def judged_now(left: int, right: int, *, versions_join: bool, boilerplate: Mode, leftover: int = 0) -> JudgedRow:
    """Return the verdict that a run would give two stored articles now, whether or not a pass proposes them.

    `leftover` as in JudgedPair. Nothing is stored, and the articles are not kept in memory.
    """
    later: datetime.date = Article.objects.filter(pk__in=[left, right]).aggregate(day=Max("date"))["day"]
    pair = JudgedPair(0, left, right, leftover)
    task = _task_of(month_of(later), boilerplate, dump_model(model_in_use()), versions_join=versions_join)
    [row] = MonthJudge(task, [pair], ArticleCache()).rows([pair])
    return row


class JudgedNow(NamedTuple):
    """A pair as it is judged now, and what that rests on."""

    judgement: Judgement
    features: tuple[float, ...]
    model: VerdictModel


def judge_now(left: int, right: int, *, leftover: int = 0) -> JudgedNow | None:
    """Return how the next run would judge two stored articles, given in order of id; store nothing.

    None if an article is new since the last run. Takes a few tenths of a second: it reads what recurs in both
    newspapers around that month. The articles are not kept in memory.
    """
    days = dict(HeadlineForm.objects.filter(pk__in=(left, right)).values_list("pk", "date"))
    if len(days) < 2:
        return None
    pair = JudgedPair(0, left, right, leftover)
    model = model_in_use()
    task = _task_of(month_of(max(days.values())), _boilerplate_of_last_run(), dump_model(model))
    judge = MonthJudge(task, [pair], ArticleCache())
    [(_, one, other, comparison)] = judge.comparisons([pair])
    return JudgedNow(judge.judgement(pair, one, other, comparison), features_of(comparison), model)


def _boilerplate_of_last_run() -> Mode:
    last = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    return last.boilerplate if last else Mode.KEEP


def _task_of(first_day: datetime.date, boilerplate: Mode, model: str = "", *, versions_join: bool = False) -> MonthTask:
    """Return a task for some pairs of a month, of which nothing is stored."""
    return MonthTask(*days_of(first_day), 0, model, versions_join, fingerprint="", boilerplate=boilerplate)


class MonthJudge:
    """Judges the pairs of a month."""

    def __init__(self, task: MonthTask, pairs: Collection[JudgedPair], cache: ArticleCache = ARTICLES) -> None:
        self._task = task
        self._cache = cache
        articles = {article for pair in pairs for article in (pair.left, pair.right)}
        newspapers = list(
            Article.objects.filter(pk__in=articles).order_by().values_list("newspaper", flat=True).distinct()
        )
        self._facts = MonthFacts(
            HeadlineSeries(_forms_around(task, newspapers)), recurring_texts(task, articles, newspapers)
        )
        self._rulings = _rulings()

    @cached_property
    def _terms(self) -> Terms:
        return Terms(load_model(self._task.model), self._task.versions_join, self._task.boilerplate)

    def rows(self, pairs: Sequence[JudgedPair]) -> Iterator[JudgedRow]:
        """Yield the verdict of each pair as a row to store."""
        for pair, left, right in self._fetched(pairs):
            yield judged(pair, left, right, self._facts, self._terms, self._rulings)

    def comparisons(
        self, pairs: Sequence[JudgedPair]
    ) -> Iterator[tuple[JudgedPair, JudgedArticle, JudgedArticle, Comparison]]:
        """Yield each pair with its two articles and their full comparison."""
        for pair, left, right in self._fetched(pairs):
            yield pair, left, right, compared(left, right, self._facts)

    def judgement(
        self, pair: JudgedPair, left: JudgedArticle, right: JudgedArticle, comparison: Comparison
    ) -> Judgement:
        """Return the judgement on a pair that was compared."""
        return judgement_on(pair, left, right, comparison, self._terms, self._rulings)

    def _fetched(self, pairs: Sequence[JudgedPair]) -> Iterator[tuple[JudgedPair, JudgedArticle, JudgedArticle]]:
        wanted = {article for pair in pairs for article in (pair.left, pair.right)}
        articles = self._cache.fetch(wanted, self._task.boilerplate)
        for pair in pairs:
            yield pair, articles[pair.left], articles[pair.right]


def _rulings() -> Rulings:
    series = Series.objects.filter(ruled_at__isnull=False).values_list("newspaper", "form")
    groups = GroupMember.objects.filter(group__ruled_at__isnull=False).values_list("article", "group")
    return Rulings(set(series), dict(groups))


def _forms_around(task: MonthTask, newspapers: Collection[int]) -> Iterator[tuple[int, datetime.date, str]]:
    forms = HeadlineForm.objects.filter(date__range=series_days(task.first_day), newspaper__in=newspapers)
    yield from forms.order_by().values_list("newspaper", "date", "form").iterator(5_000)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the garbage collector: it would traverse thousands of prepared articles, which have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
