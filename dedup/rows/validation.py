"""The rows of a validation sample as files: to be labelled by hand, or with labels for evaluate or for Splink."""

from collections.abc import Collection, Iterator
from typing import Any, Literal

from articles.querysets import TIME_COLUMNS
from dedup.answers import PairLabel
from dedup.models import SampledPair, ValidationSample
from dedup.research.sampling import read_sample
from dedup.rows.files import ROWS_AT_ONCE

Names = Literal["newsdedup", "splink"]
# What Splink calls the table that the records came from; its labels name it for each side.
SOURCE_DATASET = "articles"

# The columns of a file; a and b are the ids that the articles were imported with.
_OWN = ("position", *(f"{name}{side}" for name in ("", "url_", "newspaper_", "date_", "headline_") for side in "ab"))
_TEXTS = ("text_a", "text_b")
_LABELS = ("label", "note")
# Those of Splink's table of clerical labels. An article without an id is named by its URL.
_SPLINK = ("unique_id_l", "source_dataset_l", "unique_id_r", "source_dataset_r", "clerical_match_score")
_WEIGHTS = ("weight", "stratum")


def columns_of(names: Names, *, blind: bool, texts: bool = False) -> tuple[str, ...]:
    """Return the columns of the file. A `blind` file has neither weight nor stratum."""
    if names == "splink":
        return _SPLINK if blind else (*_SPLINK, *_WEIGHTS)
    return (*_OWN, *(_TEXTS if texts else ()), *_LABELS, *(() if blind else ("days", *_WEIGHTS)))


def rows_to_label(sample: ValidationSample, names: Names, *, blind: bool, texts: bool) -> Iterator[dict[str, Any]]:
    """Yield all pairs of a sample in the order of reading, without labels."""
    columns = columns_of(names, blind=blind, texts=texts)
    for pair in _pairs(sample, texts=texts):
        yield _row(pair, "", pair.weight, columns)


def labelled_rows(sample: ValidationSample, names: Names) -> Iterator[dict[str, Any]]:
    """Yield the labelled pairs of a sample with their label and its weight, as evaluate reads them."""
    labels = {label.line: label for label in read_sample(sample).pairs}
    columns = columns_of(names, blind=False)
    for pair in _pairs(sample, texts=False):
        if label := labels.get(pair.position):
            yield _row(pair, label.label, label.weight, columns)


def _pairs(sample: ValidationSample, *, texts: bool) -> Iterator[SampledPair]:
    names = ["external_id", "url", "date", *TIME_COLUMNS, "headline", "newspaper__name"]
    names += ["content"] if texts else []
    fields = [f"{side}__{name}" for side in ("left", "right") for name in names]
    pairs = sample.pairs.select_related("left__newspaper", "right__newspaper").order_by("position")
    return pairs.only("sample", "position", "stratum", "weight", "settled_note", *fields).iterator(ROWS_AT_ONCE)


def _row(pair: SampledPair, label: str, weight: float, columns: Collection[str]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "position": pair.position,
        "label": label,
        "note": pair.settled_note if label else "",
        "days": abs((pair.left.date - pair.right.date).days),
        "weight": weight,
        "stratum": pair.stratum,
        "clerical_match_score": float(label == PairLabel.DUPLICATE) if label else None,
        "source_dataset_l": SOURCE_DATASET,
        "source_dataset_r": SOURCE_DATASET,
    }
    for article, side, splink in ((pair.earlier, "a", "l"), (pair.later, "b", "r")):
        values |= {
            side: article.external_id,
            f"url_{side}": article.url,
            f"newspaper_{side}": article.newspaper.name,
            f"date_{side}": article.date,
            f"headline_{side}": article.headline,
            f"unique_id_{splink}": article.external_id or article.url,
        }
        if f"text_{side}" in columns:
            values[f"text_{side}"] = article.content
    return {name: values[name] for name in columns}
