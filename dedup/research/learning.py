"""Learns a verdict model from editors' decisions, shows what it would change, and puts it into use."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import TextField, Value
from django.db.models.functions import MD5, Cast, Concat
from django.utils import timezone

from articles.jobs.work import JobError, Work
from articles.models import Article
from articles.numbers import read_number
from dedup.detection.runs.judging import features_of_pairs, model_in_use
from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import LABELS, ModelError, VerdictModel, default_model, dump_model, fit, load_model
from dedup.detection.verdicts.verdict import kind_of
from dedup.models import BatchItem, FittedModel, Lesson, Pair, ValidationSample
from dedup.research.adjusting import LEAST_OF_EACH, Adjusted, adjusted
from dedup.research.answers import LabelledPair, date_folds
from dedup.research.decided import decided_pairs
from dedup.research.labels import Label
from dedup.research.lessons import ASKED_CHANGES, CHANGES, SHOWN_CHANGES, Support, directions, support_of
from dedup.research.sampling import read_sample

# Changes are measured on at most this many pairs, the same ones every time: about ten seconds of comparisons.
MOST_COMPARED = 20_000
SHIPPED = "shipped"
_FOLDS = 6

Row = tuple[float, ...]


class LearningError(ValueError):
    """There is too little to learn from, or the model does not exist; the message says what to do."""


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What a model is learnt from: labelled pairs with their features. The first `decisions` are decided pairs.

    `left_out` is the number of decided pairs that do not count, because one decision brought so many. `drawn` has the
    places of the decided pairs that chance chose, for the sample of a batch; the queue or an editor chose the others.
    """

    pairs: Sequence[LabelledPair]
    rows: Sequence[Row]
    decisions: int
    left_out: int
    drawn: AbstractSet[int] = frozenset()


class HeldOut(NamedTuple):
    """A training pair by its place, with the verdict of the model in use and of one fitted to other dates."""

    place: int
    old: VerdictKind
    new: VerdictKind


class BothVerdicts(NamedTuple):
    """A pair by its id, its verdict by the model in use and by a new one, and its probabilities of a duplicate."""

    pair: int
    old: VerdictKind
    new: VerdictKind
    old_duplicate_probability: float
    new_duplicate_probability: float


@dataclass(frozen=True, slots=True)
class ModelChange:
    """What a new model says of some of the `judged` pairs; those whose probability changes most come first."""

    compared: Sequence[BothVerdicts]
    judged: int

    @property
    def changed(self) -> list[BothVerdicts]:
        """The pairs that get another verdict."""
        return [verdicts for verdicts in self.compared if verdicts.old is not verdicts.new]


def training_set(labels: Sequence[Label] = ()) -> TrainingSet:
    """Return what there is to learn from: decided pairs, and labelled pairs that nobody has decided.

    One decision on a cluster or a dense group brings at most MOST_OF_ONE pairs. Raises LearningError if there are too
    few.
    """
    found = decided_pairs()
    decided = {ends: (label, 1.0) for ends, label in found.labels.items()}
    labelled = {(pair.left, pair.right): (pair.label, pair.weight) for pair in labels}
    # Decisions come first, so that a place below their number is a decision.
    undecided = labelled.keys() - decided.keys() - found.left_out
    answers = decided | {ends: given for ends, given in labelled.items() if ends in undecided}
    features = features_of_pairs(answers)
    known = [ends for ends in answers if ends in features]
    names = [answers[ends][0] for ends in known]
    duplicates, others = names.count("D"), sum(name in "TEN" for name in names)
    if min(duplicates, others) < LEAST_OF_EACH:
        raise LearningError(
            f"decisions and labels name {duplicates} duplicates and {others} other pairs; at least {LEAST_OF_EACH} of "
            "each are needed: decide more pairs, or add --labels"
        )
    days = dict(Article.objects.filter(pk__in={end for ends in known for end in ends}).values_list("pk", "date"))
    pairs = [
        LabelledPair((str(left), str(right)), max(days[left], days[right]), label, weight)
        for (left, right), (label, weight) in ((ends, answers[ends]) for ends in known)
    ]
    decisions = sum(ends in decided for ends in known)
    # Those drawn at random for the sample of a batch that is decided.
    sampled = BatchItem.objects.filter(place__isnull=False, pair__isnull=False, answer__isnull=False)
    chance = set(sampled.values_list("pair__left", "pair__right"))
    drawn = {place for place, ends in enumerate(known[:decisions]) if ends in chance}
    return TrainingSet(pairs, [features[ends] for ends in known], decisions, len(found.left_out), drawn)


def learn(training: TrainingSet) -> Adjusted:
    """Return the shipped model, adjusted to the training pairs as far as they prove that it helps."""
    found = _adjusted(training, range(len(training.pairs)))
    labels = [pair.label for pair in training.pairs]
    named = replace(
        found.model,
        version=f"own decisions, {timezone.now():%Y-%m-%d %H:%M} UTC",
        learnt_from={label: labels.count(label) for label in LABELS},
    )
    # Rounded as it will be stored, so that its results are those shown.
    return replace(found, model=load_model(dump_model(named)))


def _adjusted(training: TrainingSet, places: Sequence[int]) -> Adjusted:
    """Return the model adjusted to the pairs in these places, and how far for duplicates.

    Templates and versions are learnt from labels, and then from decisions as far as they prove that it helps. Raises
    ModelError if all have the same answer about duplicates.
    """
    shipped = default_model()
    labelled = [place for place in places if place >= training.decisions]
    try:
        others = fit(*_chosen(training, labelled), prior=shipped)
    except ModelError:  # too few labels, or none
        others = shipped
    clear = [place for place in places if place < training.decisions and training.pairs[place].label != "N"]
    for question in ("template", "version"):
        with suppress(ModelError):  # too few decisions say yes, or no
            others = adjusted(others, *_chosen(training, clear), question).model
    prior = replace(shipped, questions={**others.questions, "duplicate": shipped.questions["duplicate"]})
    return adjusted(prior, *_chosen(training, places))


def _chosen(training: TrainingSet, places: Sequence[int]) -> tuple[list[Row], list[str], list[float]]:
    """Return the features, labels and weights of the pairs in these places."""
    pairs = [training.pairs[place] for place in places]
    return [training.rows[place] for place in places], [pair.label for pair in pairs], [pair.weight for pair in pairs]


def held_out(training: TrainingSet) -> list[HeldOut]:
    """Return the verdicts on the training pairs, each by a model fitted to the training pairs of other dates."""
    now, found = model_in_use(), []
    for train, test in date_folds(training.pairs, _FOLDS):
        try:
            model = _adjusted(training, train.tolist()).model
        except ModelError:
            continue
        rows = [(place, training.rows[place]) for place in test.tolist()]
        found += [HeldOut(place, _verdict(now, row), _verdict(model, row)) for place, row in rows]
    return found


def agreement(training: TrainingSet, tested: Sequence[HeldOut]) -> tuple[int, int, int]:
    """Return how many pairs were tested, and how many of them the model in use and a fitted one agree with.

    They agree if both call the pair a duplicate, or neither does. Versions are neither, and are left out.
    """
    labelled = [(training.pairs[out.place].label, out) for out in tested]
    answers = [(label == "D", out) for label, out in labelled if label != "V"]
    before = sum((out.old is VerdictKind.DUPLICATE) == answer for answer, out in answers)
    after = sum((out.new is VerdictKind.DUPLICATE) == answer for answer, out in answers)
    return len(answers), before, after


def drawn_support(training: TrainingSet, tested: Sequence[HeldOut]) -> Support:
    """Return what the answers say about the verdicts that change, of the pairs that chance chose."""
    drawn = [out for out in tested if out.place in training.drawn and out.old is not out.new]
    return support_of((training.pairs[out.place].label, out.old, out.new, 1.0) for out in drawn)


def sample_support(model: VerdictModel) -> Support:
    """Return what the labels of validation samples say about the verdicts that change; no model learns from them."""
    found = [pair for sample in ValidationSample.objects.all() for pair in read_sample(sample).pairs]
    labels = {(pair.left, pair.right): pair for pair in found}
    # The model has learnt from the decided ones.
    decided = Pair.objects.exclude(state=Pair.State.UNDECIDED).among({end for ends in labels for end in ends})
    for ends in decided.values_list("left", "right"):
        labels.pop(ends, None)
    now = model_in_use()
    verdicts = {ends: (_verdict(now, row), _verdict(model, row)) for ends, row in features_of_pairs(labels).items()}
    # A reader who says N knows the other answers.
    return support_of(
        (labels[ends].label.replace("N", "E"), old, new, labels[ends].weight)
        for ends, (old, new) in verdicts.items()
        if old is not new
    )


def _verdict(model: VerdictModel, row: Row) -> VerdictKind:
    return kind_of(model.probabilities(row), model.threshold)[0]


def change_to(model: VerdictModel) -> ModelChange:
    """Return what a model would change in the verdicts that the model in use gave. Verdicts of rules do not change."""
    # The model never gives a probability of exactly 0; a rule does.
    judged = Pair.objects.proposed().filter(duplicate_probability__gt=0)
    # By its articles, because a pair's number depends on the order in which the workers of a run stored their blocks.
    articles = Concat(Cast("left_id", TextField()), Value(" ", TextField()), Cast("right_id", TextField()))
    some = judged.order_by(MD5(articles))[:MOST_COMPARED].values_list("pk", "left", "right")
    numbers = {(left, right): pk for pk, left, right in some}
    features = features_of_pairs(numbers)
    now, found = model_in_use(), []
    for ends, row in features.items():
        old, new = now.probabilities(row), model.probabilities(row)
        kinds = kind_of(old, now.threshold)[0], kind_of(new, model.threshold)[0]
        found.append(BothVerdicts(numbers[ends], *kinds, old.duplicate, new.duplicate))
    found.sort(key=lambda pair: -abs(pair.new_duplicate_probability - pair.old_duplicate_probability))
    return ModelChange(found, judged.count())


def change_counts(change: ModelChange) -> list[dict[str, Any]]:
    """Return how many pairs have each old and new verdict, changes first, in order of frequency."""
    found = Counter((verdicts.old, verdicts.new) for verdicts in change.compared)
    counts = sorted(found.items(), key=lambda entry: (entry[0][0] == entry[0][1], -entry[1], entry[0]))
    return [{"old": str(old), "new": str(new), "pairs": pairs} for (old, new), pairs in counts]


def described_changes(shown: Sequence[BothVerdicts]) -> list[dict[str, Any]]:
    """Return some of the changes, each with its pair's number, headlines and state."""
    pairs = Pair.objects.with_articles().in_bulk([verdict.pair for verdict in shown])
    return [
        {
            "pair": pair.pk,
            "old": str(verdict.old),
            "new": str(verdict.new),
            "old_duplicate_probability": round(verdict.old_duplicate_probability, 4),
            "new_duplicate_probability": round(verdict.new_duplicate_probability, 4),
            "state": pair.state,
            "left": f"{pair.earlier.date}  {pair.earlier.newspaper.name}: {pair.earlier}",
            "right": f"{pair.later.date}  {pair.later.newspaper.name}: {pair.later}",
        }
        for verdict, pair in ((verdict, pairs[verdict.pair]) for verdict in shown)
    ]


def store(model: VerdictModel, decisions: int, *, in_use: bool) -> FittedModel:
    """Store a model and, with `in_use`, put it into use: the next run then judges all pairs with it."""
    with transaction.atomic():
        if in_use:
            FittedModel.objects.filter(in_use=True).update(in_use=False)
        return FittedModel.objects.create(content=dump_model(model), decisions=decisions, in_use=in_use)


def use(which: str) -> FittedModel | None:
    """Put a stored model into use, or the shipped one (returns None). Raises LearningError if it cannot be used."""
    with transaction.atomic():
        fitted = None if which == SHIPPED else _stored(which)
        FittedModel.objects.filter(in_use=True).update(in_use=False)
        if fitted is not None:
            fitted.in_use = True
            fitted.save(update_fields=["in_use"])
    return fitted


def _stored(which: str) -> FittedModel:
    fitted = FittedModel.objects.filter(pk=number).first() if (number := read_number(which)) is not None else None
    if fitted is None:
        known = ", ".join(map(str, FittedModel.objects.values_list("pk", flat=True))) or "none"
        raise LearningError(f"there is no model {which!r}; use {SHIPPED} or a model learnt here: {known}")
    try:
        load_model(fitted.content)
    except ModelError as error:
        raise LearningError(f"model {which} cannot be used: {error}") from error
    return fitted


# ---- as a job -----------------------------------------------------------------------------------------


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
    changed = {verdict.pair: verdict for verdict in change.changed}
    # Changed pairs that nobody has decided, drawn at random: the same ones every time.
    drawn = Pair.objects.in_queue().filter(pk__in=changed).drawn(CHANGES)[:ASKED_CHANGES]
    return {
        "decisions": training.decisions,
        "left_out": training.left_out,
        "learnt_from": {label: labels.count(label) for label in LABELS},
        "adjusted": str(learnt.extent),
        "tested": tested,
        "right_before": before,
        "right_after": after,
        "compared": len(change.compared),
        "judged": change.judged,
        "counts": counts,
        "moves": directions({(row["old"], row["new"]): row["pairs"] for row in counts if row["old"] != row["new"]}),
        "drawn": len(training.drawn),
        "support": asdict(drawn_support(training, verdicts) + sample_support(learnt.model)),
        "to_answer": described_changes([changed[pk] for pk in drawn.values_list("pk", flat=True)]),
        "changed": len(change.changed),
        "examples": described_changes(change.changed[:SHOWN_CHANGES]),
    }
