"""What the stages ask of an article again and again, made once: its shingles, sentences, phrases and headline form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.normalization.titles import plain_title
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.kernels.masked_shingles import ShingleSets, masked_shingle_sets
from dedup.detection.spark.parts import KEYS

# What `prepared` reads of a part, and what it returns. `shingles` are those of the text that is compared, as they are
# stored in a database (masked_shingles.py).
READ: Final = ("headline", "text")
PREPARED: Final = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("newspaper", pa.int64(), nullable=False),
        pa.field("day", pa.int64(), nullable=False),
        pa.field("form", pa.string(), nullable=False),
        pa.field("shingles", pa.binary(), nullable=False),
    ]
)
# With more known words than this, the preparer starts over.
_KNOWN_WORDS = 400_000


def prepared(articles: pa.Table, affixes: Mapping[int, Sequence[str]]) -> pa.Table:
    """Return the PREPARED rows of articles (KEYS, READ), in their order."""
    texts = articles["text"].to_pylist()
    sets = masked_shingle_sets(texts)
    blobs = [each.astype("<u4").tobytes() for each in np.split(sets.values, sets.offsets[1:-1])] if texts else []
    columns = {name: articles[name] for name in KEYS}
    columns |= {
        "form": pa.array(_forms(articles, affixes), pa.string()),
        "shingles": pa.array(blobs, pa.binary()),
    }
    return pa.table([columns[name] for name in PREPARED.names], schema=PREPARED)


def _forms(articles: pa.Table, affixes: Mapping[int, Sequence[str]]) -> list[str]:
    preparer = Preparer()
    forms = []
    for newspaper, headline in zip(articles["newspaper"].to_pylist(), articles["headline"].to_pylist(), strict=True):
        if preparer.known_words > _KNOWN_WORDS:
            preparer = Preparer()
        forms.append(preparer.headline_form(plain_title(headline, affixes[newspaper])))
    return forms


def shingle_sets(rows: pa.Table) -> ShingleSets:
    """Return the shingles of PREPARED rows."""
    blobs = rows["shingles"].to_pylist()
    offsets = np.cumsum([0, *(len(blob) // 4 for blob in blobs)], dtype=np.int64)
    return ShingleSets(np.frombuffer(b"".join(blobs), dtype="<u4"), offsets)


def compared_contents(articles: pa.Table, mode: Mode) -> list[str]:
    """Return the contents of articles (content, boilerplate) as they are compared."""
    contents: list[str] = articles["content"].to_pylist()
    if mode is Mode.KEEP:
        return contents
    marks = map(json.loads, articles["boilerplate"].to_pylist())
    return [without_boilerplate(content, marked, mode) for content, marked in zip(contents, marks, strict=True)]
