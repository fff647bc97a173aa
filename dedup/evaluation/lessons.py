"""The writer of lessons: people ask for them on a page, and a worker learns. And what one needs to begin."""

from __future__ import annotations

from typing import Any, LiteralString

from django.db import connection, transaction
from django.db.models import QuerySet
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


def wait_again(lesson_id: int) -> bool:
    """Let a lesson whose worker was killed wait for the next one; return False if it has ended."""
    return bool(_open(lesson_id).update(state=Lesson.State.WAITING))


def fail(lesson_id: int, reason: str) -> bool:
    """Store why a lesson brought nothing; return False if it had ended."""
    return _end(lesson_id, Lesson.State.FAILED, error=reason)


def finish(lesson_id: int, model: FittedModel, result: dict[str, Any]) -> None:
    """Store what a lesson brought."""
    _end(lesson_id, Lesson.State.DONE, model=model, result=result)


def _end(lesson_id: int, state: Lesson.State, **values: Any) -> bool:
    return bool(_open(lesson_id).update(state=state, finished_at=timezone.now(), **values))


def _open(lesson_id: int) -> QuerySet[Lesson]:
    """Return the lesson, unless it has ended, or somebody has given it up."""
    return Lesson.objects.filter(pk=lesson_id, state__in=_UNDER_WAY)
