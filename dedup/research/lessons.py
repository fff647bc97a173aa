"""Lessons: what one needs to begin, who asks for one, and what the answers say about its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, LiteralString

from django.db import connection
from django.urls import reverse

from articles.jobs.work import ask
from articles.models import Job
from dedup.answers import PARTED_STATES
from dedup.models import Lesson, Pair
from dedup.models.querysets import PairQuerySet
from dedup.research.adjusting import LEAST_OF_EACH
from dedup.research.decided import labels_of
from dedup.research.support import Support, support_of

# Pairs whose verdict would change, of which a lesson stores the largest changes.
SHOWN_CHANGES = 20
# Changed pairs drawn at random, whose answers show whether the new model is better: so many can prove it even if a
# third of them speaks against it.
ASKED_CHANGES = 60
# What they are drawn with.
CHANGES = "change "


# Pairs that are not duplicates only because other decisions imply it teach nothing. Every question asks it: a statement
# of Django's own takes longer to make than to run.
_KNOWN_SQL: LiteralString = """
SELECT
    (SELECT count(*) FROM (SELECT FROM dedup_pair WHERE state = 'confirmed' LIMIT %(enough)s) AS confirmed)
    + (SELECT count(*) FROM (
        SELECT FROM dedup_pair WHERE state = ANY (%(others)s) AND NOT implied LIMIT %(enough)s
    ) AS others)
"""


def answers_missing() -> int:
    """Return how many more answers a model needs to learn from: duplicates, and pairs that are not, five of each."""
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_SQL, {"enough": LEAST_OF_EACH, "others": PARTED_STATES})
        known: int = cursor.fetchone()[0]
    return 2 * LEAST_OF_EACH - known


def ask_for_lesson(user: Any) -> tuple[Job, bool]:
    """Queue a lesson for a worker and return it with True, or the one that waits or goes on already, with False."""
    return ask("lesson", {}, title="Lesson", user=user, page=reverse("learning"))


class HeldBackError(ValueError):
    """A model changes more than the answers support; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What the answers say about the changes of a lesson's model, and which changed pairs to answer next."""

    changed: int
    support: Support
    to_answer: list[dict[str, Any]]
    exhausted: bool  # all changed pairs are answered

    @property
    def held_back(self) -> bool:
        """Whether the model should not be used before more answers support what it changes."""
        if self.exhausted:
            return self.support.old_right > self.support.new_right
        return bool(self.changed) and not self.support.is_enough


def verification_of(lesson: Lesson) -> Verification | None:
    """Return what supports the model of a lesson; None for one of an earlier version, which kept less.

    Answers to the drawn changes count that were given since the lesson, so that it has not learnt from them.
    """
    if "to_answer" not in lesson.result:
        return None
    drawn = lesson.result["to_answer"]
    labels = labels_of([row["pair"] for row in drawn])
    answered = [row for row in drawn if row["pair"] in labels]
    since = support_of((labels[row["pair"]], row["old"], row["new"], 1.0) for row in answered)
    left = [row for row in drawn if row["pair"] not in labels]
    support = Support(**lesson.result["support"]) + since
    return Verification(lesson.result["changed"], support, left, not left and len(drawn) < ASKED_CHANGES)


def changes_to_answer() -> PairQuerySet:
    """Return the changed pairs of the latest lesson that wait for an answer, in the order in which they were drawn."""
    latest = Lesson.objects.values_list("result__to_answer", flat=True).first()
    return Pair.objects.in_queue().filter(pk__in=[row["pair"] for row in latest or ()]).drawn(CHANGES)


def check_use(model: int) -> None:
    """Raise HeldBackError if the answers do not support what a model changes that was learnt on the pages."""
    lesson = Lesson.objects.filter(model=model).first()
    found = verification_of(lesson) if lesson else None
    if found and found.held_back:
        raise HeldBackError(
            f"model {model} is held back: answer at least {found.support.missing} more of the pairs that it changes"
        )
