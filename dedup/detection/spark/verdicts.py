"""The tasks that judge the pairs of a month, and that learn what their verdicts rest on. They know no Spark."""

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from articles.normalization.times import Precision, PublicationTime
from dedup.detection.comparison.recurring import HeadlineSeries, RecurringText
from dedup.detection.judging.judge import (
    JudgedArticle,
    JudgedPair,
    JudgedRow,
    MonthFacts,
    PreparedArticles,
    Rulings,
    StoredArticle,
    Terms,
    judged,
    without_collector,
)
from dedup.detection.judging.months import Learning, series_days, text_days
from dedup.detection.kernels.masked_shingles import Hashes, from_stored
from dedup.detection.kernels.tokens import IntArray, distinct
from dedup.detection.passes.reading import ArticleShingles
from dedup.detection.spark.parts import PREPARED, Keys, Work, read_all, read_file, read_part, rows_with, write
from dedup.detection.spark.schema import VERDICTS, needed, table_of
from dedup.detection.spark.stages import Done

# What the verdicts on an article rest on, apart from KEYS and what PREPARED has.
JUDGED: Final = ("headline", "content", "boilerplate", "published_at", "published_offset", "published_precision")
# The pairs of a month to judge: `leftover` as in JudgedPair.
TO_JUDGE: Final = needed(
    left=pa.int64(), right=pa.int64(), left_day=pa.int64(), right_day=pa.int64(), left_newspaper=pa.int64(),
    right_newspaper=pa.int64(), leftover=pa.int64(),
)  # fmt: skip
# What recurs in the texts of a newspaper, as RecurringText is stored.
RECURRING: Final = needed(
    newspaper=pa.int64(), phrases=pa.binary(), common=pa.string(), articles=pa.int64(), young=pa.bool_()
)
FORMS: Final = needed(newspaper=pa.int64(), day=pa.int64(), form=pa.string())

# The articles of so many pairs are prepared at a time.
_PAIRS_AT_ONCE = 500


class ToLearn(NamedTuple):
    """The newspapers of a month's pairs that one task learns from: those whose number divided by `bucket[1]` leaves
    `bucket[0]`. `month` is its first day; `file` gets RECURRING, and forms_file() of it FORMS.
    """

    month: datetime.date
    bucket: tuple[int, int]
    pairs: Sequence[Path]
    file: Path


def learn(work: Work, task: ToLearn) -> Done:
    """Write what recurs in some newspapers."""
    found = learnt_from(work, task.month, task.bucket, read_all(task.pairs, TO_JUDGE))
    write(found.forms, forms_file(task.file))
    write(found.recurring, task.file)
    return Done()


class Learnt(NamedTuple):
    """What the newspapers of a month print repeatedly, as RECURRING and FORMS."""

    recurring: pa.Table
    forms: pa.Table

    def facts(self) -> MonthFacts:
        """Return it as verdicts rest on it."""
        texts = {row.pop("newspaper"): RecurringText.of_stored(**row) for row in self.recurring.to_pylist()}
        printed = zip(*(self.forms[name].to_pylist() for name in FORMS.names), strict=True)
        series = ((newspaper, datetime.date.fromordinal(day), form) for newspaper, day, form in printed)
        return MonthFacts(HeadlineSeries(series), texts)


def learnt_from(work: Work, month: datetime.date, bucket: tuple[int, int], pairs: pa.Table) -> Learnt:
    """Return what recurs in the newspapers of a month's pairs (TO_JUDGE); `bucket` is as in ToLearn."""
    newspapers = np.stack([pairs[f"{side}_newspaper"].to_numpy() for side in ("left", "right")])
    dealt = newspapers % bucket[1] == bucket[0]
    wanted = distinct(newspapers[dealt])
    # A newspaper's phrases are looked for in both articles of its pairs.
    asked = _shingles_of(work, pairs.filter(pa.array(dealt.any(axis=0), pa.bool_())))
    around = text_days(month).ordinals
    parts = work.parts_with(*around)
    rows = _of_newspapers(work, parts, ["id", "newspaper", "day", "shingles"], around, wanted)
    of_rows = rows["newspaper"].to_numpy()
    learning = {}
    for newspaper in distinct(of_rows).tolist():
        own = rows.filter(pa.array(of_rows == newspaper))
        shingles = ArticleShingles(*Keys.of(own), from_stored(own["shingles"].to_pylist()))
        learning[newspaper] = Learning([month], [shingles], asked)
    wanted_texts = np.array([article for found in learning.values() for article in found.wanted], dtype=np.int64)
    texts: dict[int, str] = {}
    for part in parts:
        table = read_part(work.parts[part], ["text"], ids=wanted_texts)
        texts |= dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
    recurring = [
        {"newspaper": newspaper, **found.learnt(texts)[month].stored()} for newspaper, found in learning.items()
    ]
    return Learnt(pa.Table.from_pylist(recurring, schema=RECURRING), _forms(work, month, wanted))


def _shingles_of(work: Work, pairs: pa.Table) -> Hashes:
    """Return the distinct shingles of the articles of these pairs, ascending."""
    found = [np.empty(0, dtype=np.uint32)]
    for number, ids in _places(work, pairs):
        rows = rows_with(read_file(work.file_of(number), ["id", "shingles"]), ids)
        found.append(distinct(from_stored(rows["shingles"].to_pylist()).values))
    return distinct(np.concatenate(found))


def _places(work: Work, pairs: pa.Table) -> Iterator[tuple[int, IntArray]]:
    """Yield the parts that may have articles of these pairs, with the ids to look for in each."""
    ids = np.concatenate([pairs[side].to_numpy() for side in ("left", "right")])
    days = np.concatenate([pairs[f"{side}_day"].to_numpy() for side in ("left", "right")])
    for number, part in enumerate(work.parts):
        own = distinct(ids[(days >= part.first_day) & (days <= part.last_day)])
        if len(own):
            yield number, own


def _forms(work: Work, month: datetime.date, newspapers: IntArray) -> pa.Table:
    """Return the headline forms that these newspapers print more than once around the month."""
    around = series_days(month).ordinals
    rows = _of_newspapers(work, work.parts_with(*around), ["id", *FORMS.names], around, newspapers)
    printed = rows.group_by(["newspaper", "form"]).aggregate([([], "count_all")])
    again = printed.filter(pc.greater(printed["count_all"], 1)).select(["newspaper", "form"])
    return rows.join(again, ["newspaper", "form"], join_type="inner", use_threads=False).select(FORMS.names).cast(FORMS)


def forms_file(file: Path) -> Path:
    """Return the file of headline forms next to that of recurring texts."""
    return file.with_name(f"forms-{file.name}")


def _of_newspapers(
    work: Work, parts: Iterable[int], columns: Sequence[str], days: tuple[int, int], newspapers: IntArray
) -> pa.Table:
    tables = [PREPARED.empty_table().select(columns)]
    for part in parts:
        table = work.read_prepared(part, columns, days)
        tables.append(table.filter(pa.array(np.isin(table["newspaper"].to_numpy(), newspapers))))
    return pa.concat_tables(tables).sort_by([("day", "ascending"), ("id", "ascending")])


class Basis(NamedTuple):
    """What all verdicts rest on, apart from the articles: terms, and the series with a rule, as in Rulings."""

    terms: Terms
    series: frozenset[tuple[int, str]]


class ToJudge(NamedTuple):
    """The files of the pairs of a month that one task judges, and of what was learnt for them; `file` gets VERDICTS."""

    pairs: Sequence[Path]
    learnt: Sequence[Path]
    file: Path


def judge(work: Work, basis: Basis, task: ToJudge) -> Done:
    """Write the verdicts on some pairs."""
    learnt = Learnt(read_all(task.learnt, RECURRING), read_all([forms_file(path) for path in task.learnt], FORMS))
    found = judged_pairs(work, read_all(task.pairs, TO_JUDGE), learnt, basis)
    write(verdict_table(found), task.file)
    return Done(pairs=len(found))


def judged_pairs(work: Work, pairs: pa.Table, learnt: Learnt, basis: Basis) -> dict[tuple[int, int], JudgedRow]:
    """Return the verdicts on pairs (TO_JUDGE) of a month, those of one day together."""
    # The import judges pairs of dense groups with a rule again, by that rule.
    rulings, facts = Rulings(basis.series, {}), learnt.facts()
    known = _Articles(_articles_of(work, pairs), work.affixes, basis.terms)
    ordered = sorted(
        zip(*(pairs[name].to_pylist() for name in ("left_day", "right_day", "left", "right", "leftover")), strict=True),
        key=lambda row: (max(row[0], row[1]), row[2], row[3]),
    )
    with without_collector():
        rows: dict[tuple[int, int], JudgedRow] = {}
        for start in range(0, len(ordered), _PAIRS_AT_ONCE):
            some = [JudgedPair(0, *row[2:]) for row in ordered[start : start + _PAIRS_AT_ONCE]]
            articles = known.of({article for pair in some for article in (pair.left, pair.right)})
            for pair, row in zip(some, judged(some, articles, facts, basis.terms, rulings), strict=True):
                rows[pair.left, pair.right] = row
        return rows


def verdict_table(rows: Mapping[tuple[int, int], JudgedRow]) -> pa.Table:
    """Return verdicts as VERDICTS."""
    return table_of([(*ends, str(row.verdict), *row[2:]) for ends, row in rows.items()], VERDICTS)


def _articles_of(work: Work, pairs: pa.Table) -> pa.Table:
    """Return the articles of pairs, with KEYS, JUDGED, and form and shingles of PREPARED."""
    tables = []
    for number, ids in _places(work, pairs):
        stored = read_part(work.parts[number], JUDGED, ids=ids)
        if stored.num_rows:
            made = rows_with(read_file(work.file_of(number), ["id", "form", "shingles"]), ids)
            # Both are in the order of the part.
            tables.append(stored.append_column("form", made["form"]).append_column("shingles", made["shingles"]))
    return pa.concat_tables(tables)


class _Articles:
    """Articles prepared for comparison when they are first asked for, and kept for a while."""

    def __init__(self, articles: pa.Table, affixes: Mapping[int, Sequence[str]], terms: Terms) -> None:
        self._rows = {article: row for row, article in enumerate(articles["id"].to_pylist())}
        self._articles, self._affixes, self._mode = articles, affixes, terms.boilerplate
        self._prepared = PreparedArticles()

    def of(self, wanted: set[int]) -> dict[int, JudgedArticle]:
        """Return these articles."""
        known = {article: self._prepared.find(article) for article in sorted(wanted)}
        missing = [(article, self._stored(article)) for article, found in known.items() if found is None]
        made = zip([article for article, _ in missing], self._prepared.prepare(missing, self._mode), strict=True)
        return dict(made) | {article: found for article, found in known.items() if found}

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
