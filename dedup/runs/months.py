"""Finds the months to judge: those where something that their verdicts depend on has changed."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from django.db import connection

from articles.boilerplate.mode import Mode
from articles.storage.fingerprints import fingerprint
from dedup.article_sql import article_sql
from dedup.comparison.recurring import RECURRING_TEXT_DAYS, SERIES_DAYS
from dedup.judging.months import days_of, month_of
from dedup.models import DenseGroup, FittedModel, JudgedMonth, Series
from dedup.verdicts.model import VerdictModel, default_model, dump_model, load_model

# Increase this when the comparison of two articles or the wording of its reasons changes: all pairs are judged again.
COMPARISON_VERSION = 5
# The articles of this many days before and after a month have a say in its verdicts.
_DAYS_AROUND = max(SERIES_DAYS, RECURRING_TEXT_DAYS)

_FACTS_SQL = article_sql(
    """
SELECT 'articles', date, count(*), max(revision), 0 FROM {articles} GROUP BY date
UNION ALL
SELECT 'pairs', {pair.later_day}, count(*), bit_xor(hashint8extended(pair.left_id, pair.right_id)),
       count(*) FILTER (WHERE evidence.details ? 'leftover')
FROM dedup_pair AS pair
{pair.both_articles}
LEFT JOIN dedup_evidence AS evidence
    ON evidence.pair_id = pair.id AND evidence.pass_name = 'exact' AND NOT evidence.stale
WHERE pair.best_score > 0
GROUP BY 2
"""
)


@dataclass(frozen=True, slots=True)
class MonthTask:
    """The pairs whose later article is from one month, as a task for any process."""

    first_day: datetime.date
    last_day: datetime.date
    pairs: int
    model: str  # as dump_model writes it
    versions_join: bool
    fingerprint: str
    boilerplate: Mode = Mode.KEEP


def model_in_use() -> VerdictModel:
    """Return the model that gives the verdicts: the installation's own, or the one shipped with the program."""
    fitted = FittedModel.objects.filter(in_use=True).first()
    return load_model(fitted.content) if fitted else default_model()


def months_to_judge(*, versions_join: bool, boilerplate: Mode = Mode.KEEP) -> list[MonthTask]:
    """Return, in order, the months where something that their verdicts depend on has changed."""
    articles, pairs = _facts()
    if not pairs:
        return []
    model = dump_model(model_in_use())
    rules = _rules()
    known = dict(JudgedMonth.objects.values_list("month", "fingerprint"))
    tasks = []
    for first_day in sorted(set(map(month_of, pairs))):
        last_day = days_of(first_day).last
        rests_on = fingerprint(
            COMPARISON_VERSION,
            model,
            versions_join,
            boilerplate,
            [about for about, *days in rules if days[0] <= last_day and days[1] >= first_day],
            _between(articles, first_day, last_day, _DAYS_AROUND),
            _between(pairs, first_day, last_day, 0),
        )
        if known.get(first_day) != rests_on:
            count = sum(facts[0] for day, facts in pairs.items() if first_day <= day <= last_day)
            tasks.append(MonthTask(first_day, last_day, count, model, versions_join, rests_on, boilerplate))
    return tasks


def _rules() -> list[tuple[Any, datetime.date, datetime.date]]:
    """Return what every rule of an editor is about, with its first and last day."""
    series = Series.objects.filter(ruled_at__isnull=False).order_by("newspaper_id", "form")
    groups = DenseGroup.objects.filter(ruled_at__isnull=False).order_by("fingerprint")
    return [
        *(((each.newspaper_id, each.form), each.first_day, each.last_day) for each in series),
        *((each.fingerprint, each.first_day, each.last_day) for each in groups),
    ]


Facts = dict[datetime.date, tuple[int, int, int]]


def _facts() -> tuple[Facts, Facts]:
    """Return, by day, numbers that change whenever articles or proposed pairs do.

    A pair counts by its articles: its own number depends on which of several workers stored its block first.
    """
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
