"""Count the answers that settle the waiting pairs of an installation; nothing is stored.

An editor answers every question as the model's verdict says. The near-certain questions are confirmed as a batch, after
a random sample of them was answered one by one. Everything else is asked in the order of the tab "informative". A
cluster counts as one answer. All of it is one transaction that is rolled back; until then, other editors wait.
"""

import argparse
import dataclasses
import json
import random
import statistics
import time
from collections import Counter

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, Sum

from dedup.models import Membership, OpenQuestion, Pair, Profile
from dedup.review.answers import decisions
from dedup.review.queries.lists import MAY_BE_DUPLICATES
from dedup.review.questions.tabs import TABS, Question, next_question, question_of, tab_counts

SEED = 12
# Without a mistake in so many answers, at most 5 % of the rest are wrong, with 95 % certainty (Clopper-Pearson).
SAMPLE = 59
# What the editor answers to a pair with each verdict.
ANSWERS = {"duplicate": "confirm", "version": "version", "template": "template", "similar": "reject"}
# After so many answers, the benchmark says how much change of clusters is still expected.
STEP = 250


@dataclasses.dataclass
class Counted:
    """What the simulation counted. `answers` has the answers by kind, without the confirmation of the batch."""

    waiting: int
    asked_about: int  # waiting pairs that are asked about
    questions: int
    batch: int = 0
    answers: Counter[str] = dataclasses.field(default_factory=Counter)
    total_answers: int = 0
    left: int = 0  # waiting pairs that are asked about and not settled
    change_left: dict[int, float] = dataclasses.field(default_factory=dict)  # by the number of answers
    median_ms: float = 0.0  # of an answer with the choice of the next question
    highest_ms: float = 0.0


def simulate(sample: int = SAMPLE) -> Counted:
    """Answer everything, and return what it took. Call it in a transaction that is rolled back."""
    user = User.objects.create_user("simulated-editor")
    counted = Counted(*_waiting(), tab_counts(user)["informative"])
    certain = [question_of(row) for row in TABS["certain"].rows(user)]
    drawn = min(sample, len(certain))
    random.Random(SEED).shuffle(certain)
    for question in certain:
        _answer(question, user)
    counted.batch, counted.answers["sample"] = len(certain) - drawn, drawn
    seconds: list[float] = []
    question = next_question(user)
    while question is not None:
        if (done := counted.answers.total()) % STEP == 0 or not counted.change_left:
            left = OpenQuestion.objects.filter(asked=True).aggregate(change=Sum("change", default=0.0))["change"]
            counted.change_left[done] = round(left, 1)
        began = time.perf_counter()
        counted.answers[_answer(question, user)] += 1
        question = next_question(user)
        seconds.append(time.perf_counter() - began)
    counted.total_answers, counted.left = counted.answers.total(), _waiting()[1]
    if seconds:
        counted.median_ms = round(1000 * statistics.median(seconds), 1)
        counted.highest_ms = round(1000 * max(seconds), 1)
    return counted


def _waiting() -> tuple[int, int]:
    """Return how many pairs wait by today's default filter, and how many of them are asked about."""
    waiting = Pair.objects.in_queue().filter(MAY_BE_DUPLICATES)
    bound = Profile.objects.get(is_default=True).asked_from
    return waiting.count(), waiting.filter(Q(verdict="duplicate") | Q(duplicate_probability__gte=bound)).count()


def _answer(question: Question, user: User) -> str:
    """Answer a question by the verdict, and return what was answered."""
    if question.kind == "cluster":
        members = Membership.objects.filter(cluster=question.number).values_list("article", flat=True)
        decisions.confirm_cluster(question.number, decisions.seen_as(list(members)), user=user)
        return "cluster"
    answer = ANSWERS[Pair.objects.get(pk=question.number).verdict]
    decisions.decide_pair(question.number, answer, user=user)
    return answer


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many near-certain questions are answered")


def run(options: argparse.Namespace) -> None:
    """Print what the simulation counted, as JSON."""
    with transaction.atomic():
        counted = simulate(options.sample)
        transaction.set_rollback(True)
    print(json.dumps(vars(counted), indent=2))
