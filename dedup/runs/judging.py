"""The writer of verdicts: every pair that a pass proposed is compared in full, a month of them at a time.

A verdict rests on the two articles and on what is known of their newspapers around that time: headlines of one form
within SERIES_DAYS, and what the proposed articles of some weeks have in common. So the pairs of a month are judged
together, and again whenever any of that has changed: the result is that of judging all.
"""

from __future__ import annotations

import datetime
import gc
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, transaction

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.models import Article
from articles.normalization.titles import plain_title
from articles.storage.fingerprints import fingerprint
from dedup.clustering.constraints import lock_review
from dedup.comparison.compare import Comparison, compare
from dedup.comparison.prepared import ArticleText, PreparedArticle, Preparer
from dedup.comparison.recurring import NO_HABITS, SERIES_DAYS, HeadlineSeries, habits_of
from dedup.comparison.recurring import Series as KnownSeries
from dedup.models import DetectionRun, FittedModel, HeadlineForm, JudgedMonth, Series
from dedup.runs.headlines import AFFIX_COLUMNS, RULE_REASON
from dedup.types import Kind
from dedup.verdicts.features import features_of
from dedup.verdicts.model import VerdictModel, default_model, dump_model, load_model
from dedup.verdicts.verdict import Verdict, verdict_of

# Grows with every change of what the comparison of two articles says: all pairs are judged anew.
COMPARISON_VERSION = 1
NOTHING_LEFT = "One of the two has no text beside boilerplate: nothing is left to compare."
# How many days around a month its newspapers' habits are learnt from; from articles of pairs that are so near to each
# other, because what repeats after weeks is already rare; and from how many articles at most.
HABIT_DAYS = 21
_NEAR_DAYS = 3
_HABIT_ARTICLES = 3_000
# Prepared articles that a process keeps for their next pair and the next month, some 40 kB each, and words.
_KEPT_ARTICLES = 4_000
_KNOWN_WORDS = 400_000
_PAIRS_AT_ONCE = 500

_FACTS_SQL = """
SELECT 'articles', date, count(*), max(revision), 0 FROM articles_article GROUP BY date
UNION ALL
SELECT 'pairs', greatest(left_article.date, right_article.date), count(*), sum(pair.id)::bigint,
       count(*) FILTER (WHERE evidence.details ? 'leftover')
FROM dedup_pair AS pair
JOIN articles_article AS left_article ON left_article.id = pair.left_id
JOIN articles_article AS right_article ON right_article.id = pair.right_id
LEFT JOIN dedup_evidence AS evidence
    ON evidence.pair_id = pair.id AND evidence.pass_name = 'exact' AND NOT evidence.stale
WHERE pair.best_score > 0
GROUP BY 2
"""

_PAIRS_SQL = """
SELECT pair.id, pair.left_id, pair.right_id, coalesce((evidence.details ->> 'leftover')::int, 0)
FROM dedup_pair AS pair
JOIN articles_article AS left_article ON left_article.id = pair.left_id
JOIN articles_article AS right_article ON right_article.id = pair.right_id
LEFT JOIN dedup_evidence AS evidence
    ON evidence.pair_id = pair.id AND evidence.pass_name = 'exact' AND NOT evidence.stale
WHERE pair.best_score > 0
  AND greatest(left_article.date, right_article.date) BETWEEN %(first_day)s AND %(last_day)s
ORDER BY greatest(left_article.date, right_article.date), pair.left_id, pair.right_id
"""

# Of the articles that a pass proposed around the month, the same ones every time, whichever they are.
_HABITUAL_SQL = """
SELECT id FROM (
    SELECT DISTINCT article.id
    FROM dedup_pair AS pair JOIN articles_article AS article ON article.id IN (pair.left_id, pair.right_id)
    WHERE pair.best_score > 0 AND pair.days_apart <= %(near)s AND article.date BETWEEN %(first_day)s AND %(last_day)s
) AS proposed
ORDER BY md5(id::text)
LIMIT %(most)s
"""

_CREATE_SQL = """
CREATE TEMPORARY TABLE judged_pair (
    id bigint, verdict text, probability double precision, duplicate_probability double precision, reasons jsonb,
    joins boolean
) ON COMMIT DROP
"""
_COPY_SQL = "COPY judged_pair (id, verdict, probability, duplicate_probability, reasons, joins) FROM STDIN"
_STORE_SQL = """
UPDATE dedup_pair AS pair
SET verdict = judged.verdict, probability = judged.probability, reasons = judged.reasons, joins = judged.joins,
    duplicate_probability = judged.duplicate_probability
FROM judged_pair AS judged
WHERE judged.id = pair.id
"""


@dataclass(frozen=True, slots=True)
class MonthTask:
    """The pairs whose later article is of one month, for whichever process takes them."""

    first_day: datetime.date
    last_day: datetime.date
    pairs: int
    model: str  # as dump_model writes it
    versions_join: bool
    fingerprint: str
    boilerplate: Mode = Mode.KEEP


class _Pair(NamedTuple):
    id: int
    left: int
    right: int
    leftover: int  # under how many headlines a newspaper has the text of both, if that is too many; else 0


def model_in_use() -> VerdictModel:
    """Return the model that verdicts are given by: the installation's own, or the one that comes with the program."""
    fitted = FittedModel.objects.filter(in_use=True).first()
    return load_model(fitted.content) if fitted else default_model()


def months_to_judge(*, versions_join: bool, boilerplate: Mode = Mode.KEEP) -> list[MonthTask]:
    """Return the months of which something has changed that their verdicts rest on, in order."""
    articles, pairs = _facts()
    model = dump_model(model_in_use())
    rules = list(Series.objects.filter(ruled_at__isnull=False).order_by("pk"))
    known = dict(JudgedMonth.objects.values_list("month", "fingerprint"))
    tasks = []
    for first_day in sorted({day.replace(day=1) for day in pairs}):
        last_day = _next_month(first_day) - datetime.timedelta(days=1)
        rests_on = fingerprint(
            COMPARISON_VERSION,
            model,
            versions_join,
            boilerplate,
            [
                (rule.newspaper_id, rule.form)
                for rule in rules
                if rule.first_day <= last_day and rule.last_day >= first_day
            ],
            _between(articles, first_day, last_day, SERIES_DAYS),
            _between(pairs, first_day, last_day, HABIT_DAYS),
        )
        if known.get(first_day) != rests_on:
            count = sum(facts[0] for day, facts in pairs.items() if first_day <= day <= last_day)
            tasks.append(MonthTask(first_day, last_day, count, model, versions_join, rests_on, boilerplate))
    return tasks


def judge_month(task: MonthTask, on_judged: Callable[[int], None]) -> int:
    """Compare the pairs of a month in full and store their verdicts with the month's mark; return how many.

    The pairs are written in one transaction. Memory: the pairs' numbers, and _KEPT_ARTICLES prepared articles.
    """
    with _without_collector(), transaction.atomic():
        court = _Court(task)
        with connection.cursor() as cursor:
            cursor.execute(_PAIRS_SQL, {"first_day": task.first_day, "last_day": task.last_day})
            pairs = [_Pair(*row) for row in cursor]
            cursor.execute(_CREATE_SQL)
            for start in range(0, len(pairs), _PAIRS_AT_ONCE):
                batch = pairs[start : start + _PAIRS_AT_ONCE]
                rows = list(court.rows(batch))
                with cursor.copy(_COPY_SQL) as copy:
                    for row in rows:
                        copy.write_row(row)
                on_judged(len(batch))
            lock_review()
            cursor.execute(_STORE_SQL)
            cursor.execute("DROP TABLE judged_pair")
        JudgedMonth.objects.update_or_create(month=task.first_day, defaults={"fingerprint": task.fingerprint})
    return len(pairs)


def features_of_pairs(ends: Collection[tuple[int, int]]) -> dict[tuple[int, int], tuple[float, ...]]:
    """Return the features of pairs of stored articles, whether or not a pass proposes them.

    Each is compared with what is known of the month of its later article, as judge_month did it in the last run. Pairs
    of articles that have been stored since then are left out.
    """
    seen = HeadlineForm.objects.filter(pk__in={end for pair in ends for end in pair})
    days = dict(seen.values_list("pk", "date"))
    months: defaultdict[datetime.date, list[_Pair]] = defaultdict(list)
    for left, right in sorted(each for each in ends if days.keys() >= set(each)):
        months[max(days[left], days[right]).replace(day=1)].append(_Pair(0, left, right, 0))
    model = dump_model(default_model())
    last = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    boilerplate = last.boilerplate if last else Mode.KEEP
    found: dict[tuple[int, int], tuple[float, ...]] = {}
    with _without_collector():
        for first_day, pairs in sorted(months.items()):
            last_day = _next_month(first_day) - datetime.timedelta(days=1)
            task = MonthTask(
                first_day, last_day, len(pairs), model, versions_join=False, fingerprint="", boilerplate=boilerplate
            )
            court = _Court(task)
            for start in range(0, len(pairs), _PAIRS_AT_ONCE):
                compared = court.comparisons(pairs[start : start + _PAIRS_AT_ONCE])
                found.update(((pair.left, pair.right), features_of(each)) for pair, _, _, each in compared)
    return found


def forget_articles() -> None:
    """Forget the articles that are ready to be compared: in another schema, others have their numbers."""
    _SHELF.clear()


class _Prepared(NamedTuple):
    """An article ready to be compared, as it was at a revision, and the form of its headline."""

    article: PreparedArticle
    form: str
    revision: int


class _Shelf:
    """The prepared articles of a process: made once, forgotten when others were asked for since."""

    def __init__(self) -> None:
        self._preparer = Preparer()
        self._articles: OrderedDict[int, _Prepared] = OrderedDict()
        self._boilerplate = Mode.KEEP

    def fetch(self, wanted: set[int], boilerplate: Mode) -> dict[int, _Prepared]:
        """Return these articles, with their boilerplate or without."""
        if self._boilerplate is not boilerplate:
            self.clear()
            self._boilerplate = boilerplate
        current = dict(Article.objects.filter(pk__in=wanted & self._articles.keys()).values_list("pk", "revision"))
        fresh = {pk for pk, revision in current.items() if self._articles[pk].revision == revision}
        for known in fresh:
            self._articles.move_to_end(known)
        missing = Article.objects.filter(pk__in=wanted - fresh).select_related("newspaper", "headline_form")
        columns = ("date", "headline", "content", "boilerplate", "revision", *AFFIX_COLUMNS)
        for article in missing.only(*columns, "headline_form__form"):
            self._articles[article.pk] = self._prepared(article)
            self._articles.move_to_end(article.pk)
        found = {each: self._articles[each] for each in wanted}
        while len(self._articles) > _KEPT_ARTICLES:
            self._articles.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all articles."""
        self._articles.clear()

    def _prepared(self, article: Article) -> _Prepared:
        if self._preparer.known_words > _KNOWN_WORDS:
            self._preparer = Preparer()
        headline = plain_title(article.headline, article.newspaper.affixes)
        content = without_boilerplate(article.content, article.boilerplate, self._boilerplate)
        text = ArticleText(article.newspaper_id, article.date, headline, content)
        return _Prepared(self._preparer.prepare(text), article.headline_form.form, article.revision)


_SHELF = _Shelf()


class _Court:
    """Gives the verdicts of a month."""

    def __init__(self, task: MonthTask) -> None:
        self._task = task
        self._model = load_model(task.model)
        self._series = HeadlineSeries(_forms_around(task))
        self._rules = set(Series.objects.filter(ruled_at__isnull=False).values_list("newspaper", "form"))
        self._habits = habits_of(self._habitual())

    def rows(self, pairs: Sequence[_Pair]) -> Iterator[tuple[Any, ...]]:
        """Yield the verdict of each pair as it is stored."""
        for pair, left, right, comparison in self.comparisons(pairs):
            verdict = self._verdict(left, right, comparison, pair.leftover)
            joins = verdict.kind is Kind.DUPLICATE or (self._task.versions_join and verdict.kind is Kind.VERSION)
            reasons = json.dumps(verdict.reasons, ensure_ascii=False)
            yield (pair.id, verdict.kind, verdict.probability, verdict.duplicate_probability, reasons, joins)

    def comparisons(self, pairs: Sequence[_Pair]) -> Iterator[tuple[_Pair, _Prepared, _Prepared, Comparison]]:
        """Yield each pair with its two articles and their full comparison."""
        articles = self._fetch({article for pair in pairs for article in (pair.left, pair.right)})
        for pair in pairs:
            left, right = articles[pair.left], articles[pair.right]
            yield pair, left, right, compare(left.article, right.article, self._series_of(left), self._series_of(right))

    def _verdict(self, left: _Prepared, right: _Prepared, comparison: Comparison, leftover: int) -> Verdict:
        verdict = verdict_of(comparison, self._model)
        series = (left.article.newspaper, left.form)
        if series == (right.article.newspaper, right.form) and series in self._rules:
            return Verdict(Kind.TEMPLATE, 1.0, 0.0, (RULE_REASON, *verdict.reasons))
        if self._task.boilerplate is not Mode.KEEP and not (left.article.words and right.article.words):
            return Verdict(Kind.SIMILAR, 1.0, 0.0, (NOTHING_LEFT, *verdict.reasons))
        if leftover:
            found = f"One newspaper has this text under {leftover} headlines: it is what was left of unlike articles."
            return Verdict(Kind.SIMILAR, 1.0, 0.0, (found, *verdict.reasons))
        return verdict

    def _series_of(self, each: _Prepared) -> KnownSeries:
        habits = self._habits.get(each.article.newspaper, NO_HABITS)
        return self._series.series_of(each.article.newspaper, each.article.date, each.form, habits)

    def _habitual(self) -> Iterator[PreparedArticle]:
        """Yield the articles that the habits of the month's newspapers are learnt from."""
        around = datetime.timedelta(days=HABIT_DAYS)
        bounds = {"first_day": self._task.first_day - around, "last_day": self._task.last_day + around}
        with connection.cursor() as cursor:
            cursor.execute(_HABITUAL_SQL, {**bounds, "most": _HABIT_ARTICLES, "near": _NEAR_DAYS})
            ids = [row[0] for row in cursor]
        for start in range(0, len(ids), _PAIRS_AT_ONCE):
            yield from (each.article for each in self._fetch(set(ids[start : start + _PAIRS_AT_ONCE])).values())

    def _fetch(self, wanted: set[int]) -> dict[int, _Prepared]:
        return _SHELF.fetch(wanted, self._task.boilerplate)


def _forms_around(task: MonthTask) -> Iterator[tuple[int, datetime.date, str]]:
    around = datetime.timedelta(days=SERIES_DAYS)
    forms = HeadlineForm.objects.filter(date__range=(task.first_day - around, task.last_day + around))
    yield from forms.order_by().values_list("newspaper", "date", "form").iterator(5_000)


Facts = dict[datetime.date, tuple[int, int, int]]


def _facts() -> tuple[Facts, Facts]:
    """Return, by day, what changes when articles or proposed pairs do."""
    facts: dict[str, Facts] = {"articles": {}, "pairs": {}}
    with connection.cursor() as cursor:
        cursor.execute(_FACTS_SQL)
        for what, day, *numbers in cursor:
            facts[what][day] = tuple(numbers)
    return facts["articles"], facts["pairs"]


def _between(facts: Facts, first_day: datetime.date, last_day: datetime.date, around: int) -> list[tuple[str, Any]]:
    margin = datetime.timedelta(days=around)
    days = sorted(day for day in facts if first_day - margin <= day <= last_day + margin)
    return [(day.isoformat(), facts[day]) for day in days]


def _next_month(day: datetime.date) -> datetime.date:
    return (day.replace(day=1) + datetime.timedelta(days=32)).replace(day=1)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector from passing over thousands of prepared articles, which have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
