"""The writer of lessons: people ask for them on a page, and a worker learns. And what one needs to begin."""

from __future__ import annotations

from typing import Any, LiteralString

from django.db import connection, transaction
from django.utils import timezone

from articles.storage.locks import Lock, lock_transaction
from dedup.evaluation.adjusting import LEAST_OF_EACH
from dedup.models import FittedModel, Lesson

# Pairs whose verdict would change, of which a lesson stores the largest changes.
SHOWN_CHANGES = 20
_UNDER_WAY = (Lesson.State.WAITING, Lesson.State.RUNNING)


# Pairs that are not duplicates only because other decisions imply it teach nothing. Every question asks it: a statement
# of Django's own takes longer to make than to run.
_KNOWN_SQL: LiteralString = """
SELECT
    (SELECT count(*) FROM (SELECT FROM dedup_pair WHERE state = 'confirmed' LIMIT %(enough)s) AS confirmed)
    + (SELECT count(*) FROM (
        SELECT FROM dedup_pair WHERE state IN ('rejected', 'template') AND NOT implied LIMIT %(enough)s
    ) AS others)
"""


def answers_missing() -> int:
    """Return how many more answers a model needs to learn from: duplicates, and pairs that are not, five of each."""
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_SQL, {"enough": LEAST_OF_EACH})
        known: int = cursor.fetchone()[0]
    return 2 * LEAST_OF_EACH - known


def ask_for_lesson(user: Any) -> tuple[Lesson, bool]:
    """Queue a lesson for a worker and return it with True, or the one that waits or goes on already, with False."""
    from dedup.evaluation.tasks import learn_task  # noqa: PLC0415 - the task imports the comparison and its kernels

    with transaction.atomic():
        # Two clicks at the same moment queue one after the other.
        lock_transaction(Lock.REVIEW)
        under_way = Lesson.objects.filter(state__in=_UNDER_WAY).first()
        if under_way:
            return under_way, False
        lesson = Lesson.objects.create(asked_by=user)
        learn_task.enqueue(lesson_id=lesson.pk)
    return lesson, True


def fail(lesson: Lesson, reason: str) -> None:
    """Store why a lesson brought nothing."""
    _end(lesson, Lesson.State.FAILED, error=reason)


def finish(lesson: Lesson, model: FittedModel, result: dict[str, Any]) -> None:
    """Store what a lesson brought."""
    _end(lesson, Lesson.State.DONE, model=model, result=result)


def give_up(lesson_id: int) -> bool:
    """End a lesson that still waits, or whose worker is gone; return whether there was one."""
    gone = Lesson.objects.filter(pk=lesson_id, state__in=_UNDER_WAY)
    return bool(gone.update(state=Lesson.State.FAILED, error="Given up.", finished_at=timezone.now()))


def _end(lesson: Lesson, state: Lesson.State, **values: Any) -> None:
    # Not one that somebody has given up.
    open_ones = Lesson.objects.filter(pk=lesson.pk, state__in=_UNDER_WAY)
    open_ones.update(state=state, finished_at=timezone.now(), **values)
