"""How far an editor is: answers in this sitting and today, their pace, and what the model still needs."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from django.db import connection
from django.utils import timezone

from dedup.answers import Answer
from dedup.models import Decision
from dedup.research.lessons import answers_missing

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
ANSWERS = (*Answer, *ON_CLUSTERS)
# Every question asks it, and a statement of Django's own takes longer to make than to run. The undo of each decision is
# looked up; from the index decision_of_editor.
_TIMES_SQL: LiteralString = """
(
    SELECT decided_at FROM dedup_decision AS decision
    WHERE decided_by_id = %(user)s AND decided_at >= %(since)s AND kind = ANY (%(kinds)s)
        AND (SELECT id FROM dedup_decision AS undo WHERE undo.undoes_id = decision.id LIMIT 1) IS NULL
    ORDER BY decided_at DESC LIMIT %(most)s
)
UNION ALL
SELECT read_at FROM dedup_secondreading WHERE user_id = %(user)s AND blind AND read_at >= %(since)s
"""


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
    values = {"user": user.pk, "since": since, "kinds": list(ANSWERS), "most": MOST_READ}
    with connection.cursor() as cursor:
        cursor.execute(_TIMES_SQL, values)
        times = sorted((each for (each,) in cursor), reverse=True)
    in_sitting = sitting(times, now)
    return Progress(
        sitting=len(in_sitting),
        today=sum(time >= midnight for time in times),
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
