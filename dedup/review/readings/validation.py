"""Validation samples: the writer of their labels, how far they are read, and the results once they may be seen.

Labels are no decisions: no pair, cluster or verdict changes by them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, Max, Min, OuterRef, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from dedup.answers import PairLabel
from dedup.models import Pair, SampledPair, SampleLabel, ValidationSample, Verdict
from dedup.models.base import read_rows
from dedup.research.answers import COUNTED
from dedup.research.precision import Agreement, Estimate, Tally, agreement, estimated_total, precision, recall
from dedup.research.sampling import read_sample
from dedup.research.strata import NOT_PROPOSED
from dedup.review.answers.decisions import ReviewError, checked_note

MAX_READER_CHARACTERS = 150


def label_pair(pair: SampledPair, label: str, *, reader: str, note: str = "") -> SampleLabel:
    """Store what a reader says about a pair; an earlier label by the same reader is replaced. Raises ReviewError."""
    _check(label)
    values = {"label": label, "note": checked_note(note), "imported": False, "labelled_at": timezone.now()}
    stored, _ = SampleLabel.objects.update_or_create(pair=pair, reader=reader, defaults=values)
    return stored


def take_back(sample: ValidationSample, *, reader: str) -> int | None:
    """Remove the reader's latest label in a sample; return the position of its pair, or None if there is no label."""
    latest = SampleLabel.objects.filter(pair__sample=sample, reader=reader).select_related("pair")
    found = latest.order_by("-labelled_at", "-id").first()
    if found is None:
        return None
    found.delete()
    return found.pair.position


def settle(pair: SampledPair, label: str, *, user: Any, note: str = "") -> None:
    """Store the label that settles a disagreement; an earlier one is replaced. Raises ReviewError."""
    _check(label)
    if len(set(pair.labels.values_list("label", flat=True))) < 2:
        raise ReviewError(f"The readers of pair {pair.position} do not disagree, so nothing is left to settle.")
    pair.settled, pair.settled_by, pair.settled_at = label, user, timezone.now()
    pair.settled_note = checked_note(note)
    pair.save(update_fields=["settled", "settled_by", "settled_at", "settled_note"])


def is_finished(sample: ValidationSample) -> bool:
    """Return whether every pair has as many labels as the sample asks for."""
    read = sample.pairs.order_by().annotate(given=Count("labels")).filter(given__gte=F("sample__readers"))
    return read.count() == sample.size


def may_open(sample: ValidationSample, user: Any) -> bool:
    """Return whether this editor may open the results before all labels are in: who drew it, else anybody."""
    return sample.drawn_by_id in (None, user.pk)


def open_results(sample: ValidationSample, *, user: Any) -> None:
    """Show the results from now on, whether or not all labels are in. Raises ReviewError."""
    if not may_open(sample, user):
        raise ReviewError(f"Only {sample.drawn_by}, who drew this sample, can open its results before it is finished.")
    ValidationSample.objects.filter(pk=sample.pk, opened_at=None).update(opened_by=user, opened_at=timezone.now())


def _check(label: str) -> None:
    if label not in list(PairLabel):
        raise ReviewError(f"A pair cannot be labelled {label!r}; use one of {', '.join(PairLabel)}.")


_PROGRESS_SQL = """
SELECT pair.sample_id, count(*) FILTER (WHERE given.labels >= sample.readers), count(*) FILTER (WHERE given.mine)
FROM dedup_sampledpair AS pair
JOIN dedup_validationsample AS sample ON sample.id = pair.sample_id
CROSS JOIN LATERAL (
    SELECT count(*) AS labels, coalesce(bool_or(label.reader = %(reader)s), false) AS mine
    FROM dedup_samplelabel AS label WHERE label.pair_id = pair.id
) AS given
WHERE pair.sample_id = ANY (%(samples)s)
GROUP BY pair.sample_id
"""


class Progress(NamedTuple):
    """How far a sample is read: its pairs, those with as many labels as it asks for, and those of one reader."""

    size: int
    complete: int
    mine: int

    @property
    def finished(self) -> bool:
        """Whether every pair has as many labels as the sample asks for."""
        return self.complete == self.size

    @property
    def left(self) -> int:
        """The number of pairs that this reader has not labelled."""
        return self.size - self.mine


def progress_of(samples: Iterable[ValidationSample], reader: str) -> dict[int, Progress]:
    """Return how far these samples are read, by their number."""
    sizes = {sample.pk: sample.size for sample in samples}
    rows = read_rows(_PROGRESS_SQL, samples=list(sizes), reader=reader)
    return {number: Progress(sizes[number], complete, mine) for number, complete, mine in rows}


def readers_of(sample: ValidationSample) -> list[tuple[str, int]]:
    """Return who has labelled pairs of a sample and how many, whoever began first first."""
    rows = SampleLabel.objects.filter(pair__sample=sample).order_by().values_list("reader")
    counted = rows.annotate(count=Count("pk"), first=Min("labelled_at")).order_by("first", "reader")
    return [(reader, count) for reader, count, _ in counted]


def next_unread(sample_id: int, reader: str, *, after: int = 0) -> int | None:
    """Return the position of the first pair after this position that the reader has not labelled, or None."""
    mine = SampleLabel.objects.filter(pair=OuterRef("pk"), reader=reader)
    unread = SampledPair.objects.filter(~Exists(mine), sample=sample_id, position__gt=after)
    return unread.order_by("position").values_list("position", flat=True).first()


# ---- results ---------------------------------------------------------------------------------------


class StratumResult(NamedTuple):
    """A stratum: its pairs in the archive, those drawn and labelled, and how many got each label, in order."""

    name: str
    pairs: int
    drawn: int
    labelled: int
    counts: list[int]


def results_of(sample: ValidationSample) -> dict[str, Any]:
    """Return what the labels of a sample say, weighted.

    `precision` and `recall` are those of the verdict duplicate, without label V.
    """
    reading = read_sample(sample)
    same = Pair.objects.proposed().filter(
        left=OuterRef("left"), right=OuterRef("right"), verdict=Verdict.DUPLICATE.value
    )
    called = set(sample.pairs.filter(Exists(same)).order_by().values_list("position", flat=True))
    tables: defaultdict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    for label in reading.pairs:
        tables[label.stratum][label.label, label.line in called] += 1
    strata = [_stratum(stratum, tables[stratum["name"]]) for stratum in sample.strata]
    tallies = [tally_of(stratum, tables[stratum["name"]]) for stratum in sample.strata]
    of_strata = zip(sample.strata, tallies, strict=True)
    proposed = [tally for stratum, tally in of_strata if not stratum["name"].startswith(NOT_PROPOSED)]
    differing = disagreements(sample)
    revised = sample.pairs.annotate(now=Greatest("left__revision", "right__revision"))
    changed = revised.filter(now__gt=F("revision")).order_by()
    has_others = len(proposed) < len(tallies)  # pairs that no pass proposes were drawn too
    return {
        "reading": reading,
        "strata": strata,
        "labels": [_label(label, place, strata) for place, label in enumerate(PairLabel)],
        "precision": precision(tallies),
        "recall": recall(tallies) if has_others else None,
        "recall_of_proposed": recall(proposed),
        "has_others": has_others,
        "agreements": agreements_of(sample),
        "disagreements": differing.count(),
        "unsettled": differing.filter(settled="").count(),
        "changed": changed.count(),  # pairs with an article that has changed since the sample was drawn
    }


def disagreements(sample: ValidationSample) -> QuerySet[SampledPair]:
    """Return the pairs whose readers gave different labels, in order."""
    bounds = sample.pairs.annotate(lowest=Min("labels__label"), highest=Max("labels__label"))
    return bounds.exclude(lowest=F("highest")).exclude(lowest=None).order_by("position")


def _stratum(stored: dict[str, Any], table: Counter[tuple[str, bool]]) -> StratumResult:
    counts = [table[label, True] + table[label, False] for label in list(PairLabel)]
    return StratumResult(stored["name"], stored["pairs"], stored["drawn"], sum(counts), counts)


def _label(label: PairLabel, place: int, strata: Sequence[StratumResult]) -> tuple[PairLabel, int, Estimate]:
    """Return a label, how many pairs of the sample have it, and how many of the archive are estimated to."""
    counted = [(result.pairs, result.labelled, result.counts[place]) for result in strata]
    return (label, sum(result.counts[place] for result in strata), estimated_total(counted))


def tally_of(stored: dict[str, Any], table: Counter[tuple[str, bool]]) -> Tally:
    """Return the counts of a stratum, from its labelled pairs by label and by whether they are called duplicates.

    Label V counts neither way.
    """
    others = [label for label in COUNTED if label != PairLabel.DUPLICATE]
    return Tally(
        pairs=stored["pairs"],
        called_duplicates=table[PairLabel.DUPLICATE.value, True],
        called_others=sum(table[label, True] for label in others),
        other_duplicates=table[PairLabel.DUPLICATE.value, False],
        others=sum(table[label, False] for label in others),
        left_out=sum(count for (label, _), count in table.items() if label not in COUNTED),
    )


def agreements_of(sample: ValidationSample) -> list[tuple[str, str, Agreement]]:
    """Return how well every two readers agree on the pairs that both labelled."""
    given: defaultdict[int, dict[str, str]] = defaultdict(dict)
    rows = SampleLabel.objects.filter(pair__sample=sample).order_by()
    for pair, reader, label in rows.values_list("pair", "reader", "label"):
        given[pair][reader] = label
    names = [reader for reader, _ in readers_of(sample)]
    tables: dict[tuple[str, str], Counter[tuple[str, str]]] = {ends: Counter() for ends in combinations(names, 2)}
    for labels in given.values():
        for (one, other), table in tables.items():
            if one in labels and other in labels:
                table[labels[one], labels[other]] += 1
    return [(one, other, agreement(table)) for (one, other), table in tables.items() if table]
