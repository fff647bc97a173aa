"""The rows of a validation sample as files: to be labelled by hand, or with labels for evaluate or for Splink."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from articles.querysets import TIME_COLUMNS
from dedup.answers import PairLabel
from dedup.models import SampledPair, ValidationSample
from dedup.research.sampling import read_sample
from dedup.rows.files import ROWS_AT_ONCE

Names = Literal["newsdedup", "splink"]
# What Splink calls the table that the records came from; its labels name it for each side.
SOURCE_DATASET = "articles"

_OWN = {
    "position": "place of the pair in the order of reading",
    "a": "id that the first article was imported with; empty if it has none",
    "b": "the same of the second article",
    "url_a": "URL of the first article",
    "url_b": "URL of the second article",
    "newspaper_a": "newspaper of the first article",
    "newspaper_b": "newspaper of the second article",
    "date_a": "day of publication of the first article",
    "date_b": "day of publication of the second article",
    "headline_a": "headline of the first article",
    "headline_b": "headline of the second article",
}
_TEXTS = {"text_a": "text of the first article", "text_b": "text of the second article"}
_LABELS = {"label": "D, V, T, E or N; empty if there is none", "note": "a note of the reader"}
# The columns of Splink's table of clerical labels.
_SPLINK = {
    "unique_id_l": "id of the first article, or its URL if it was imported without one",
    "source_dataset_l": f"always {SOURCE_DATASET}",
    "unique_id_r": "the same as unique_id_l, of the second article",
    "source_dataset_r": f"always {SOURCE_DATASET}",
    "clerical_match_score": "1 for label D, 0 for V, T, E and N; empty if there is no label",
}
_WEIGHTS = {
    "days": "days between the two",
    "weight": "how many pairs of the archive this one represents",
    "stratum": "the stratum it was drawn from",
}


def columns_of(names: Names, *, blind: bool, texts: bool = False) -> dict[str, str]:
    """Return the columns of the file with what they mean. A `blind` file has neither weight nor stratum."""
    weights = {} if blind else _WEIGHTS
    if names == "splink":
        return {**_SPLINK, **{name: meaning for name, meaning in weights.items() if name != "days"}}
    return {**_OWN, **(_TEXTS if texts else {}), **_LABELS, **weights}


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


def _row(pair: SampledPair, label: str, weight: float, columns: Mapping[str, str]) -> dict[str, Any]:
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
