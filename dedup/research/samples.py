"""The labels of a validation sample, as the measurement uses them: one for each pair, with its weight."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from articles.numbers import read_number
from dedup.models import SampleLabel, ValidationSample
from dedup.research.labels import Label, LabelsError, Named

# Where the label of a pair comes from: a disagreement that was settled, readers who agree, the only reader, or the
# first of readers who disagree.
Origin = Literal["settled", "unanimous", "single", "first"]


@dataclass(frozen=True, slots=True)
class SampleReading:
    """The labelled pairs of a sample, in its order.

    The weights of a stratum add up to its pairs in the archive, also while some of its pairs have no label: reading in
    the order of the sample, the others are a random part of it. `unread` names the strata without any label, which
    nothing represents.
    """

    pairs: list[Label]
    origins: Mapping[Origin, int]
    unlabelled: int
    unread: list[str]

    def summary(self) -> str:
        """Return in a sentence where the labels come from."""
        of = self.origins
        parts = [
            f"{of.get('single', 0):,} by one reader",
            f"{of.get('unanimous', 0):,} by readers who agree",
            f"{of.get('settled', 0):,} settled after a disagreement",
            f"{of.get('first', 0):,} by the first of readers who disagree",
        ]
        missing = f"; {self.unlabelled:,} without a label" if self.unlabelled else ""
        unread = f"; no label in the strata {', '.join(self.unread)}" if self.unread else ""
        return f"Labels of {len(self.pairs):,} pairs: {', '.join(parts)}{missing}{unread}."


def find_sample(named: str) -> ValidationSample:
    """Return the sample of this name or number. Raises LabelsError with the names that there are."""
    number = read_number(named)
    samples = ValidationSample.objects.all()
    found = samples.filter(name=named).first() if number is None else samples.filter(pk=number).first()
    if found is None:
        known = ", ".join(f"{sample.pk} ({sample.name})" for sample in samples[:10])
        raise LabelsError(
            f"there is no validation sample {named!r}; "
            + (f"the latest are {known}" if known else "draw one with manage.py export validation")
        )
    return found


def read_sample(sample: ValidationSample) -> SampleReading:
    """Return the labelled pairs of a sample with their articles, and where their labels come from."""
    given: defaultdict[int, list[str]] = defaultdict(list)
    labels = SampleLabel.objects.filter(pair__sample=sample).order_by("labelled_at", "id")
    for pair, label in labels.values_list("pair", "label"):
        given[pair].append(label)
    pairs = list(sample.pairs.order_by("position").values_list(*_COLUMNS, named=True))
    origins: Counter[Origin] = Counter()
    found = []
    for row in pairs:
        if chosen := label_of(row.settled, given[row.pk]):
            label, origin = chosen
            origins[origin] += 1
            found.append(_label(row, label, sample.name))
    strata = {stratum["name"]: stratum["pairs"] for stratum in sample.strata}
    seen = {pair.stratum for pair in found}
    unread = [name for name in dict.fromkeys(pair.stratum for pair in pairs) if name not in seen]
    return SampleReading(_weighted(found, strata), origins, len(pairs) - len(found), sorted(unread))


def label_of(settled: str, given: Sequence[str]) -> tuple[str, Origin] | None:
    """Return the label of a pair and where it comes from, by what its readers said, the first one first."""
    if settled:
        return settled, "settled"
    if not given:
        return None
    if len(given) == 1:
        return given[0], "single"
    return given[0], "unanimous" if len(set(given)) == 1 else "first"


# A pair of a sample, and what names its articles. Objects of the models would take three times as long.
_COLUMNS = (
    *("pk", "position", "stratum", "weight", "settled"),
    *("left", "left__external_id", "left__url", "left__date"),
    *("right", "right__external_id", "right__url", "right__date"),
)


def _label(row: Any, label: str, file: str) -> Label:
    left, right = Named(row.left__external_id, row.left__url), Named(row.right__external_id, row.right__url)
    days = abs((row.left__date - row.right__date).days)
    return Label(row.position, (left, right), label, row.weight, row.stratum, days, file, row.left, row.right)


def _weighted(found: Sequence[Label], strata: Mapping[str, int]) -> list[Label]:
    """Return the pairs with weights that add up to the sizes of their strata."""
    labelled = Counter(pair.stratum for pair in found)
    return [replace(pair, weight=strata[pair.stratum] / labelled[pair.stratum]) for pair in found]
