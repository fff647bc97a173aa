"""The writer of labels on validation samples. They are no decisions: no pair, cluster or verdict changes by them."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F
from django.utils import timezone

from dedup.models import PairLabel, SampledPair, SampleLabel, ValidationSample
from dedup.review.decisions import MAX_NOTE_CHARACTERS, ReviewError

MAX_READER_CHARACTERS = 150


def label_pair(pair: SampledPair, label: str, *, reader: str, note: str = "") -> SampleLabel:
    """Store what a reader says about a pair; an earlier label by the same reader is replaced. Raises ReviewError."""
    _check(label, note)
    values = {"label": label, "note": plain_note(note), "imported": False, "labelled_at": timezone.now()}
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
    _check(label, note)
    if len(set(pair.labels.values_list("label", flat=True))) < 2:
        raise ReviewError(f"The readers of pair {pair.position} do not disagree, so nothing is left to settle.")
    pair.settled, pair.settled_by, pair.settled_at = label, user, timezone.now()
    pair.settled_note = plain_note(note)
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


def plain_note(note: str) -> str:
    """Return a note as it is stored."""
    return note.replace("\0", "").strip()


def _check(label: str, note: str) -> None:
    if label not in PairLabel.values:
        raise ReviewError(f"A pair cannot be labelled {label!r}; use one of {', '.join(PairLabel.values)}.")
    if len(note) > MAX_NOTE_CHARACTERS:
        raise ReviewError(f"The note has {len(note):,} characters; at most {MAX_NOTE_CHARACTERS:,} are allowed.")
