"""Reads labels back from the file of a validation sample that somebody filled in: all of its rows, or none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from articles.files.cells import unguarded
from articles.files.records import UnreadableFileError
from dedup.answers import PairLabel
from dedup.models import SampledPair, SampleLabel, ValidationSample
from dedup.research.labels import column_name, rows_of_file, shown, text_value
from dedup.review.answers.decisions import MAX_NOTE_CHARACTERS, plain_note
from dedup.review.readings.validation import MAX_READER_CHARACTERS

# The column of Splink's clerical labels. It says only whether the two are a match.
SCORE = "clerical_match_score"
_OF_SCORE = {1.0: PairLabel.DUPLICATE, 0.0: PairLabel.NOTHING}
# The columns that may name an article, by side; the first one that is filled in counts.
_NAMING = (("url_a", "a", "unique_id_l"), ("url_b", "b", "unique_id_r"))


class LabelFileError(ValueError):
    """Nothing was imported. `faults` has the line and a sentence for each row that is wrong."""

    def __init__(self, message: str, faults: Sequence[tuple[int, str]] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class Imported(NamedTuple):
    """How many labels are new, how many replace another one, how many were stored already; and rows without a label."""

    added: int
    changed: int
    same: int
    empty: int


class _Row(NamedTuple):
    """What a row says about a pair; `note` is None if the file has no such column."""

    line: int
    pair: int
    label: str
    note: str | None


def import_labels(sample: ValidationSample, name: str, *, reader: str) -> Imported:
    """Store the labels of a file under the name of a reader.

    A row without a label is passed over. If any other row is wrong, nothing is stored. Raises LabelFileError, and for a
    file that cannot be read at all FileUsageError or UnreadableFileError.
    """
    reader = reader.strip()
    if not 0 < len(reader) <= MAX_READER_CHARACTERS:
        raise LabelFileError(
            f"the reader's name has {len(reader)} characters; give one of 1 to {MAX_READER_CHARACTERS}"
        )
    rows, faults, empty = _read(name, _Index(sample))
    if faults:
        many = "1 row is" if len(faults) == 1 else f"{len(faults):,} rows are"
        raise LabelFileError(f"{many} wrong, so no label of {name} was imported", faults)
    if not rows:
        raise LabelFileError(f"{name} has no label; fill in the column label, or {SCORE}, and import it again")
    return _store(rows, reader, empty)


def _read(name: str, index: _Index) -> tuple[dict[int, _Row], list[tuple[int, str]], int]:
    """Return the rows by their pair, what is wrong with the others by line, and the number of rows without a label."""
    read, problems = rows_of_file(name, _check_header, partial(_row, index))
    rows: dict[int, _Row] = {}
    faults = [(problem.line, problem.reason) for problem in problems]
    for row in filter(None, read):
        before = rows.setdefault(row.pair, row)
        if before is not row:
            faults.append((row.line, f"line {before.line} has the same pair; remove one of the two lines"))
    return rows, sorted(faults), read.count(None)


class _Index:
    """The pairs of a sample by the names of their articles."""

    def __init__(self, sample: ValidationSample) -> None:
        self.articles: defaultdict[str, set[int]] = defaultdict(set)
        self.pairs: dict[tuple[int, int], int] = {}
        sides = [f"{side}__{name}" for side in ("left", "right") for name in ("external_id", "url")]
        for pair in sample.pairs.select_related("left", "right").only("sample", "left", "right", *sides):
            self.pairs[pair.left_id, pair.right_id] = pair.pk
            for article in (pair.left, pair.right):
                for name in {article.external_id, article.url} - {""}:
                    self.articles[name].add(article.pk)

    def find(self, one: str, other: str) -> int:
        """Return the pair of two named articles. Raises ValueError if the sample has no such pair, or several."""
        found = {
            self.pairs[ends]
            for ends in (tuple(sorted(pair)) for pair in product(self.articles[one], self.articles[other]))
            if ends in self.pairs
        }
        if len(found) == 1:
            return found.pop()
        named = f"{shown(one)} and {shown(other)}"
        if found:
            raise ValueError(f"{len(found)} pairs of the sample have {named}; name the articles by url_a and url_b")
        raise ValueError(f"the sample has no pair of {named}; use the file that export validation wrote of this sample")


def _check_header(names: Sequence[str]) -> None:
    columns = set(map(column_name, names))
    if not columns & {"label", SCORE}:
        header = shown(", ".join(names))
        raise UnreadableFileError(f"the header {header} has neither label nor {SCORE}; one of them holds the labels")


def _row(index: _Index, values: Mapping[str, object], line: int, _file: str) -> _Row | None:
    """Return what a row says, None if its label is empty. Raises ValueError with the reason if it is wrong."""
    label = _label(values)
    if not label:
        return None
    ends = [next(filter(None, (_text(values, name) for name in names)), "") for names in _NAMING]
    for end, names in zip(ends, _NAMING, strict=True):
        if not end:
            raise ValueError(f"no article is named by {', '.join(names)}; keep the columns that were exported")
    note = plain_note(_text(values, "note")) if "note" in values else None
    if note and len(note) > MAX_NOTE_CHARACTERS:
        raise ValueError(f"the note has {len(note):,} characters; at most {MAX_NOTE_CHARACTERS:,} are allowed")
    return _Row(line, index.find(*ends), label, note)


def _label(values: Mapping[str, object]) -> str:
    """Return the letter of a label, "" for none. Raises ValueError. A label counts more than a score."""
    written = _text(values, "label").upper()
    if written:
        if written not in list(PairLabel):
            allowed = ", ".join(PairLabel)
            raise ValueError(f"label is {shown(written)}; it must be one of {allowed}, or empty")
        return written
    written = _text(values, SCORE)
    if not written:
        return ""
    try:
        return _OF_SCORE[float(written)]
    except (KeyError, ValueError):
        raise ValueError(
            f"{SCORE} is {shown(written)}; it must be 1 for a duplicate, 0 for anything else, or empty"
        ) from None


def _store(rows: Mapping[int, _Row], reader: str, empty: int) -> Imported:
    with transaction.atomic():
        # Two imports for one reader come one after the other.
        pairs = SampledPair.objects.select_for_update().filter(pk__in=rows).order_by("pk")
        stored = {label.pair_id: label for label in SampleLabel.objects.filter(pair__in=list(pairs), reader=reader)}
        new = [row for row in rows.values() if row.pair not in stored]
        changed = [
            row
            for row in rows.values()
            if (label := stored.get(row.pair)) and (row.label != label.label or row.note not in (None, label.note))
        ]
        SampleLabel.objects.bulk_create(
            SampleLabel(pair_id=row.pair, reader=reader, label=row.label, note=row.note or "", imported=True)
            for row in new
        )
        for row in changed:
            label = stored[row.pair]
            label.label, label.imported, label.labelled_at = row.label, True, timezone.now()
            label.note = label.note if row.note is None else row.note
            label.save()
    return Imported(len(new), len(changed), len(rows) - len(new) - len(changed), empty)


def _text(values: Mapping[str, object], name: str) -> str:
    """Return a value as text without surrounding whitespace; "" if it is absent or null."""
    value = values.get(name)
    return text_value({name: unguarded(value) if isinstance(value, str) else value}, name)
