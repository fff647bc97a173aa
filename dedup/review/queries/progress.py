"""How far an editor is: answers in this sitting and today, their pace, and what the model still needs."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from dedup.evaluation.lessons import answers_missing
from dedup.models import Answer, Decision, SecondReading

# A longer pause begins a new sitting.
PAUSE = datetime.timedelta(minutes=30)
# A pace over fewer answers, or a shorter time, says nothing.
LEAST_ANSWERS = 5
LEAST_TIME = datetime.timedelta(minutes=1)
# Answers of one day that are read; more are not counted.
MOST_READ = 5_000
ON_CLUSTERS = (
    Decision.Kind.CONFIRM_CLUSTER,
    Decision.Kind.REJECT_CLUSTER,
    Decision.Kind.SPLIT_CLUSTER,
    Decision.Kind.MERGE_CLUSTERS,
    Decision.Kind.TAKE_OUT,
)
ANSWERS = (*Answer.values, *ON_CLUSTERS)


@dataclass(frozen=True, slots=True)
class Progress:
    """An editor's answers, without those that were undone, and what is left."""

    sitting: int
    today: int
    an_hour: int | None  # the pace of this sitting; None if it has just begun
    open: int  # questions that wait
    missing: int  # answers until the model can learn

    @property
    def of(self) -> int:
        """The questions answered today and those that wait."""
        return self.today + self.open


def progress_of(user: Any, open_questions: int) -> Progress:
    """Return how far an editor is, with this many questions open."""
    now = timezone.now()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    since = min(midnight, now - datetime.timedelta(hours=12))
    made = Decision.objects.in_force().filter(decided_by=user, decided_at__gte=since, kind__in=ANSWERS)
    read = SecondReading.objects.filter(user=user, blind=True, read_at__gte=since).order_by().values_list("read_at")
    both = made.order_by("-decided_at").values_list("decided_at")[:MOST_READ].union(read, all=True)
    times = sorted((each for (each,) in both), reverse=True)
    in_sitting = sitting(times, now)
    return Progress(
        sitting=len(in_sitting),
        today=sum(each >= midnight for each in times),
        an_hour=pace(in_sitting),
        open=open_questions,
        missing=answers_missing(),
    )


def sitting(times: Sequence[datetime.datetime], now: datetime.datetime) -> Sequence[datetime.datetime]:
    """Return the times of this sitting, of times from the latest to the earliest: no pause is longer than PAUSE."""
    last = now
    for place, each in enumerate(times):
        if last - each > PAUSE:
            return times[:place]
        last = each
    return times


def pace(times: Sequence[datetime.datetime]) -> int | None:
    """Return the answers an hour between the first and the last of these times; None if they are too few."""
    if len(times) < LEAST_ANSWERS or times[0] - times[-1] < LEAST_TIME:
        return None
    return round((len(times) - 1) * datetime.timedelta(hours=1) / (times[0] - times[-1]))
