"""Lessons that the page of models queues for a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from articles.jobs.work import JobError, Work
from dedup.detection.verdicts.model import LABELS, ModelError
from dedup.models import Lesson
from dedup.research.adjusting import Adjusted
from dedup.research.learning import (
    HeldOut,
    LearningError,
    ModelChange,
    TrainingSet,
    agreement,
    change_counts,
    change_to,
    described_changes,
    drawn_changes,
    drawn_support,
    held_out,
    learn,
    sample_support,
    store,
    training_set,
)
from dedup.research.lessons import ASKED_CHANGES, SHOWN_CHANGES
from dedup.research.support import directions


def learn_job(work: Work) -> None:
    """Learn from the decisions, and store the model without putting it into use. Raises JobError."""
    try:
        training = training_set()
        learnt = learn(training)
        result = _result(training, learnt, held_out(training), change_to(learnt.model))
    except (LearningError, ModelError) as error:
        raise JobError(str(error)) from error
    with transaction.atomic():
        fitted = store(learnt.model, training.decisions, in_use=False)
        Lesson.objects.create(job=work.job, model=fitted, result=result)
        work.finish(fitted.pk)


def _result(
    training: TrainingSet, learnt: Adjusted, verdicts: Sequence[HeldOut], change: ModelChange
) -> dict[str, Any]:
    labels = [pair.label for pair in training.pairs]
    tested, before, after = agreement(training, verdicts)
    counts = change_counts(change)
    return {
        "decisions": training.decisions,
        "left_out": training.left_out,
        "learnt_from": {label: labels.count(label) for label in LABELS},
        "adjusted": str(learnt.extent),
        "tested": tested,
        "right_before": before,
        "right_after": after,
        "compared": change.compared,
        "judged": change.judged,
        "counts": counts,
        "moves": directions({(row["old"], row["new"]): row["pairs"] for row in counts if row["old"] != row["new"]}),
        "drawn": len(training.drawn),
        "support": asdict(drawn_support(training, verdicts) + sample_support(learnt.model)),
        "to_answer": drawn_changes(change, ASKED_CHANGES),
        "changed": len(change.changes.changed),
        "examples": described_changes(change, SHOWN_CHANGES),
    }
