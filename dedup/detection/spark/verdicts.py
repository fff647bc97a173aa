"""The verdicts on some pairs of a month, and what they rest on, as tables. Pure (see dedup/detection/judging)."""

from __future__ import annotations

import datetime
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from articles.normalization.times import Precision, PublicationTime
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.comparison.recurring import LEAST_LEARNT, HeadlineSeries, RecurringText
from dedup.detection.judging.articles import JudgedArticle, StoredArticle, prepared, without_collector
from dedup.detection.judging.judge import JudgedPair, JudgedRow, MonthFacts, Rulings, Terms, judged
from dedup.detection.judging.months import recurring_text, sampled
from dedup.detection.kernels.masked_shingles import Hashes
from dedup.detection.kernels.tokens import IntArray, distinct
from dedup.detection.spark.parts import shingle_sets
from dedup.detection.spark.schema import VERDICTS, needed

# What the verdicts on an article rest on, apart from KEYS and what PREPARED has.
JUDGED: Final = ("headline", "content", "boilerplate", "published_at", "published_offset", "published_precision")
# The pairs of a month to judge: `leftover` as in JudgedPair.
TO_JUDGE: Final = needed(
    left=pa.int64(), right=pa.int64(), left_day=pa.int64(), right_day=pa.int64(), left_newspaper=pa.int64(),
    right_newspaper=pa.int64(), leftover=pa.int64(),
)  # fmt: skip
# An article takes about 40 kB. With more known words than this, the preparer starts over.
_KEPT_ARTICLES = 4_000
_KNOWN_WORDS = 400_000


def verdicts_on(
    pairs: pa.Table,
    articles: pa.Table,
    affixes: Mapping[int, Sequence[str]],
    facts: MonthFacts,
    terms: Terms,
    rulings: Rulings,
) -> pa.Table:
    """Return the VERDICTS on pairs (TO_JUDGE). Their articles have KEYS, JUDGED, and form and shingles of PREPARED."""
    known = _Articles(articles, affixes, terms)
    ordered = sorted(
        zip(*(pairs[name].to_pylist() for name in ("left_day", "right_day", "left", "right", "leftover")), strict=True),
        key=lambda row: (max(row[0], row[1]), row[2], row[3]),
    )
    rows: list[JudgedRow] = []
    ends: list[tuple[int, int]] = []
    with without_collector():
        for _, _, left, right, leftover in ordered:
            pair = JudgedPair(0, left, right, leftover)
            rows.append(judged(pair, known[left], known[right], facts, terms, rulings))
            ends.append((left, right))
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in JudgedRow._fields[1:]}
    columns |= {"left": [left for left, _ in ends], "right": [right for _, right in ends]}
    columns["verdict"] = [str(verdict) for verdict in columns["verdict"]]
    return pa.table({name: columns[name] for name in VERDICTS.names}, schema=VERDICTS)


class _Articles:
    """Articles prepared for comparison when they are first asked for; the least recently used are dropped first."""

    def __init__(self, articles: pa.Table, affixes: Mapping[int, Sequence[str]], terms: Terms) -> None:
        self._rows = {article: row for row, article in enumerate(articles["id"].to_pylist())}
        self._articles, self._affixes, self._mode = articles, affixes, terms.boilerplate
        self._preparer = Preparer()
        self._known: OrderedDict[int, JudgedArticle] = OrderedDict()

    def __getitem__(self, article: int) -> JudgedArticle:
        if article not in self._known:
            if self._preparer.known_words > _KNOWN_WORDS:
                self._preparer = Preparer()
            self._known[article] = prepared(self._stored(article), self._preparer, self._mode)
            if len(self._known) > _KEPT_ARTICLES:
                self._known.popitem(last=False)
        self._known.move_to_end(article)
        return self._known[article]

    def _stored(self, article: int) -> StoredArticle:
        [row] = self._articles.slice(self._rows[article], 1).to_pylist()
        time = None
        if row["published_at"] is not None:
            time = PublicationTime(row["published_at"], row["published_offset"], Precision(row["published_precision"]))
        return StoredArticle(
            row["id"],
            row["newspaper"],
            datetime.date.fromordinal(row["day"]),
            time,
            row["headline"],
            self._affixes[row["newspaper"]],
            row["content"],
            json.loads(row["boilerplate"]),
            np.frombuffer(row["shingles"], dtype="<u4"),
            row["form"],
        )


# What recurs in the texts of a newspaper; `common` are words with a blank between them.
RECURRING: Final = needed(newspaper=pa.int64(), phrases=pa.binary(), common=pa.string(), articles=pa.int64())


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
                sets.at(own),
                (known[member] for member in sample.tolist()),
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
