"""What the newspapers of a month print repeatedly, for the verdicts on the pairs of the month. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from dedup.detection.comparison.recurring import LEAST_LEARNT, HeadlineSeries, RecurringText
from dedup.detection.judging.judge import MonthFacts
from dedup.detection.judging.recurring_text import recurring_text, sampled
from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets
from dedup.detection.kernels.tokens import IntArray, distinct
from dedup.detection.spark.prepared import shingle_sets

# What recurs in the texts of a newspaper; `common` are words with a blank between them.
RECURRING: Final = pa.schema(
    [
        pa.field("newspaper", pa.int64(), nullable=False),
        pa.field("phrases", pa.binary(), nullable=False),
        pa.field("common", pa.string(), nullable=False),
        pa.field("articles", pa.int64(), nullable=False),
    ]
)


def recurring_rows(rows: pa.Table, asked: Hashes, texts: Callable[[IntArray], dict[int, str]]) -> pa.Table:
    """Return what recurs in newspapers (RECURRING), given the PREPARED rows of text_days(month), by day and id.

    Of phrases, only those `asked` for are returned: the shingles, ascending, of the articles of the month's pairs.
    `texts` returns the texts that are compared of articles by id.
    """
    newspapers, ids, days = (rows[name].to_numpy() for name in ("newspaper", "id", "day"))
    sets = shingle_sets(rows)
    found = []
    for newspaper in distinct(newspapers).tolist():
        own = np.flatnonzero(newspapers == newspaper)
        if len(own) < LEAST_LEARNT:
            continue
        found.append((newspaper, own, ids[own[sampled(len(own))]]))
    known = texts(np.concatenate([np.empty(0, dtype=np.int64), *(sample for *_, sample in found)]))
    learnt = [
        (
            newspaper,
            recurring_text(
                asked,
                days[own],
                _part(sets, own),
                (known[each] for each in sample.tolist()),
            ),
        )
        for newspaper, own, sample in found
    ]
    return pa.table(
        {
            "newspaper": [newspaper for newspaper, _ in learnt],
            "phrases": [text.phrases.astype("<u4").tobytes() for _, text in learnt],
            "common": [" ".join(sorted(text.common)) for _, text in learnt],
            "articles": [text.articles for _, text in learnt],
        },
        schema=RECURRING,
    )


def facts_of(recurring: pa.Table, forms: pa.Table) -> MonthFacts:
    """Return the facts of a month, given RECURRING rows and the headline forms (newspaper, day, form) of
    series_days(month).
    """
    texts = {
        row["newspaper"]: RecurringText(
            phrases=np.frombuffer(row["phrases"], dtype="<u4"),
            common=frozenset(row["common"].split(" ")) if row["common"] else frozenset(),
            articles=row["articles"],
        )
        for row in recurring.to_pylist()
    }
    columns = (forms[name].to_pylist() for name in ("newspaper", "day", "form"))
    printed = ((newspaper, datetime.date.fromordinal(day), form) for newspaper, day, form in zip(*columns, strict=True))
    return MonthFacts(HeadlineSeries(printed), texts)


def _part(sets: ShingleSets, rows: IntArray) -> ShingleSets:
    parts = [sets.values[sets.offsets[row] : sets.offsets[row + 1]] for row in rows.tolist()]
    values = np.concatenate([np.empty(0, dtype=np.uint32), *parts])
    return ShingleSets(values, np.cumsum([0, *map(len, parts)], dtype=np.int64))
