"""Lessons: what one needs to begin, who asks for one, and whether the answers support its model.

By the pairs alone on which it and the one in use give different verdicts.
This is the test of McNemar, "Note on the sampling error of the difference between correlated proportions or
percentages" (Psychometrika 12, 1947), in its exact form: where both are right, or both wrong, a pair says nothing about
which is better. The pairs must be drawn at random from those on which the two differ; which pairs taught the model, and
how these were chosen, does not matter then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, LiteralString

from django.urls import reverse

from articles.jobs.work import ask
from articles.models import Job
from articles.numbers import counted
from dedup.answers import PARTED_STATES
from dedup.detection.types import VerdictKind
from dedup.models import Lesson, Pair
from dedup.models.base import Asked, read_each
from dedup.models.pairs import PairQuerySet
from dedup.research.adjusting import LEAST_OF_EACH
from dedup.research.decided import labels_of
from dedup.research.precision import equal_pairs, upper_bound

# Pairs whose verdict would change, of which a lesson stores the largest changes.
SHOWN_CHANGES = 20
# Changed pairs drawn at random, whose answers show whether the new model is better: so many can prove it even if a
# third of them speaks against it.
ASKED_CHANGES = 60
# What they are drawn with.
CHANGES = "change "
# The new model must be right on more than half of the pairs that it changes, with 95% certainty.
_HALF = 0.5
_MOST_ASKED = 1_000
# The verdicts that agree with an answer. One who rejects a pair says only that it is not a duplicate (N), or, knowing
# the other answers, that it is none of them (E); see decided.py.
FITS: Mapping[str, frozenset[str]] = {
    "D": frozenset({VerdictKind.DUPLICATE}),
    "V": frozenset({VerdictKind.VERSION}),
    "T": frozenset({VerdictKind.TEMPLATE}),
    "E": frozenset({VerdictKind.SIMILAR}),
    "N": frozenset({VerdictKind.VERSION, VerdictKind.TEMPLATE, VerdictKind.SIMILAR}),
}
_PLURAL = {"duplicate": "duplicates", "version": "versions", "template": "templates"}
# Pairs that are not duplicates only because other decisions imply it teach nothing. Every question asks it: a statement
# of Django's own takes longer to make than to run.
_KNOWN_SQL: LiteralString = """
SELECT
    (SELECT count(*) FROM (SELECT FROM dedup_pair WHERE state = 'confirmed' LIMIT %(enough)s) AS confirmed)
    + (SELECT count(*) FROM (
        SELECT FROM dedup_pair WHERE state = ANY (%(others)s) AND NOT implied LIMIT %(enough)s
    ) AS others)
"""

# What answers_missing asks, for those who ask more than that.
KNOWN: Asked = (_KNOWN_SQL, {"enough": LEAST_OF_EACH, "others": PARTED_STATES})


def answers_missing(known: Sequence[tuple[int]] | None = None) -> int:
    """Return how many more answers a model needs to learn from: duplicates, and pairs that are not, five of each.

    `known` are the rows of KNOWN, if they are read already.
    """
    ((number,),) = known or read_each(KNOWN)[0]
    return 2 * LEAST_OF_EACH - number


def ask_for_lesson(user: Any) -> tuple[Job, bool]:
    """Queue a lesson for a worker and return it with True, or the one that waits or goes on already, with False."""
    return ask("lesson", {}, title="Learning from decisions", user=user, page=reverse("learning"))


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


# ---- support ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Support:
    """On how many changed pairs, drawn at random, the new verdict is right, the old one, or both or none of them."""

    new_right: int = 0
    old_right: int = 0
    neither: int = 0

    def __add__(self, other: Support) -> Support:
        return Support(self.new_right + other.new_right, self.old_right + other.old_right, self.neither + other.neither)

    @property
    def answered(self) -> int:
        """How many pairs say which model is better."""
        return self.new_right + self.old_right

    @property
    def most_wrong(self) -> float:
        """At most this share of the changes is wrong, 0..1, with 95% certainty."""
        return upper_bound(self.answered, self.old_right)

    @property
    def is_enough(self) -> bool:
        """Whether the answers show that more changes are right than wrong."""
        return self.most_wrong < _HALF

    @property
    def missing(self) -> int:
        """How many more answers are needed at least, if all of them say that the new verdict is right."""
        more = (Support(self.new_right + count, self.old_right) for count in range(_MOST_ASKED))
        return next((count for count, found in enumerate(more) if found.is_enough), _MOST_ASKED)


def support_of(answers: Iterable[tuple[str, str, str, float]]) -> Support:
    """Count answers on changed pairs: label, old and new verdict, and weight.

    Pairs of unlike weights count as fewer equal ones (`equal_pairs`).
    """
    weights: dict[str, list[float]] = {"new": [], "old": [], "neither": []}
    for label, old, new, weight in answers:
        fits = FITS[label]
        right = {(True, False): "old", (False, True): "new"}.get((old in fits, new in fits), "neither")
        weights[right].append(weight)
    telling = weights["new"] + weights["old"]
    if not telling:
        return Support(neither=len(weights["neither"]))
    equal = floor(equal_pairs(telling) + 1e-9)
    wrong = ceil(equal * sum(weights["old"]) / sum(telling) - 1e-9)
    return Support(equal - wrong, wrong, len(weights["neither"]))


def directions(changes: Mapping[tuple[str, str], int]) -> list[str]:
    """Say which way a model moves, by its changed pairs of each old and new verdict; the largest move first."""
    net: Counter[str] = Counter()
    for (old, new), pairs in changes.items():
        net[new] += pairs
        net[old] -= pairs
    told: set[tuple[str, str]] = set()
    found = []
    for kind in sorted((kind for kind in _PLURAL if net[kind]), key=lambda kind: -abs(net[kind])):
        moves = {ends: pairs for ends, pairs in changes.items() if kind in ends and ends not in told}
        ordered = sorted(moves.items(), key=lambda move: (-move[1], move[0]))
        moved = ", ".join(_move(*ends, pairs) for ends, pairs in ordered)
        says = f"It finds {'more' if net[kind] > 0 else 'fewer'} {_PLURAL[kind]}"
        found.append(f"{says}: {moved}." if moved else f"{says}, too.")
        told |= moves.keys()
    return found


def _move(old: str, new: str, pairs: int) -> str:
    noun = counted(pairs, old if old in _PLURAL else "merely similar pair")
    became = (f"a {new}" if pairs == 1 else _PLURAL[new]) if new in _PLURAL else "merely similar"
    return f"{noun} would become {became}"
