"""The pairs that clusters of dense groups need apart from those proposed: a task compares those of some groups."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from dedup.detection.clustering.group_pairs import Ends, by_month, compared_in_groups
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.spark.parts import write
from dedup.detection.spark.schema import VERDICTS, month_of
from dedup.detection.spark.stages import files_of
from dedup.detection.spark.verdicts import TO_JUDGE
from dedup.detection.spark.work import Done, Work, learnt_from, read_all, verdicts

# Whose pairs are compared: the articles of dense groups (`group` is the lowest of each), and those that links connect
# with them, which are in none.
MEMBERS = pa.schema(
    [
        pa.field("article", pa.int64(), nullable=False),
        pa.field("group", pa.int64()),
        pa.field("day", pa.int64(), nullable=False),
        pa.field("newspaper", pa.int64(), nullable=False),
    ]
)
# The verdicts on proposed pairs of one group, with `effect` "", and the decisions that must or cannot link articles.
JUDGED = pa.schema([*(field.with_nullable(True) for field in VERDICTS), pa.field("effect", pa.string())])


class Groups(NamedTuple):
    """The folders of MEMBERS and JUDGED of some groups; where the verdicts on their pairs are written, by month."""

    number: int
    members: Path
    judged: Path
    to: Path


def check(work: Work, terms: Mapping[str, Any], groups: Groups) -> Done:
    """Compare the pairs that the clusters of some groups need, and write their VERDICTS."""
    members = read_all(files_of(groups.members), MEMBERS).to_pylist()
    rows = read_all(files_of(groups.judged), JUDGED).to_pylist()
    judge = _Judge(work, terms, {row["article"]: (row["day"], row["newspaper"]) for row in members})
    compared = compared_in_groups(
        {_ends(row): _judged(row) for row in sorted(rows, key=_ends) if not row["effect"]},
        {row["article"]: row["group"] for row in members if row["group"] is not None},
        _links(rows, "must"),
        _links(rows, "cannot"),
        judge.rows,
    )
    months = by_month(sorted(compared), judge.days)
    for month, pairs in months:
        write(_table([(ends, compared[ends]) for ends in pairs]), _file(groups, month))
    return Done(pairs=len(compared))


def _file(groups: Groups, month: datetime.date) -> Path:
    return groups.to / f"month={month_of(month)}" / f"{groups.number:06}.parquet"


def _ends(row: Mapping[str, Any]) -> Ends:
    return row["left"], row["right"]


def _links(rows: Sequence[Mapping[str, Any]], effect: str) -> list[Ends]:
    return sorted({_ends(row) for row in rows if row["effect"] == effect})


def _judged(row: Mapping[str, Any]) -> JudgedRow:
    return JudgedRow(0, *(row[name] for name in JudgedRow._fields[1:]))


def _table(rows: Sequence[tuple[Ends, JudgedRow]]) -> pa.Table:
    values = [{"left": left, "right": right, **row._asdict()} for (left, right), row in rows]
    return pa.Table.from_pylist([{name: value[name] for name in VERDICTS.names} for value in values], schema=VERDICTS)


class _Judge:
    """Judges pairs of any months. `articles` have a day, as an ordinal number, and a newspaper."""

    def __init__(self, work: Work, terms: Mapping[str, Any], articles: Mapping[int, tuple[int, int]]) -> None:
        self._work, self._terms, self._articles = work, terms, articles
        self.days = {article: datetime.date.fromordinal(day) for article, (day, _) in articles.items()}

    def rows(self, asked: Sequence[Ends]) -> dict[Ends, JudgedRow]:
        """Return the verdicts on these pairs, by month."""
        found: dict[Ends, JudgedRow] = {}
        for month, ends in by_month(asked, self.days):
            pairs = pa.Table.from_pylist([self._to_judge(*end) for end in ends], schema=TO_JUDGE)
            learnt = learnt_from(self._work, month, (0, 1), pairs)
            made = verdicts(self._work, pairs, learnt, self._terms).to_pylist()
            known = {_ends(row): _judged(row) for row in made}
            found |= {end: known[end] for end in ends}
        return found

    def _to_judge(self, left: int, right: int) -> dict[str, int]:
        (left_day, left_newspaper), (right_day, right_newspaper) = self._articles[left], self._articles[right]
        return {
            "left": left,
            "right": right,
            "left_day": left_day,
            "right_day": right_day,
            "left_newspaper": left_newspaper,
            "right_newspaper": right_newspaper,
            "leftover": 0,
        }
