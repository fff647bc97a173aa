"""The tasks of a run: each reads some parts of an export and writes a file. They know no Spark.

A task may be done twice, on two machines at a time: its file is the same.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from articles.boilerplate.mode import Mode
from dedup.detection.judging.judge import Rulings, Terms
from dedup.detection.judging.months import series_days, text_days
from dedup.detection.kernels.masked_shingles import Hashes
from dedup.detection.kernels.tokens import Alphabet, IntArray, distinct
from dedup.detection.passes.near import NearPass, NearSets
from dedup.detection.passes.reading import ArticleBatch
from dedup.detection.spark.pairs import no_pairs
from dedup.detection.spark.parts import PREPARED, READ, Keys, Part, prepared, read_part, rows_with, shingle_sets, write
from dedup.detection.spark.schema import HUBS, Bundle, alphabet_of, needed
from dedup.detection.spark.stages import Done, files_of
from dedup.detection.spark.tiles import scored_pairs, similar_in_tile, similar_of_day
from dedup.detection.spark.verdicts import JUDGED, RECURRING, TO_JUDGE, facts_of, recurring_rows, verdicts_on
from dedup.detection.types import Tally
from dedup.detection.verdicts.model import load_model

FORMS = needed(newspaper=pa.int64(), day=pa.int64(), form=pa.string())
# The articles of dense groups, each with the lowest one of its group.
GROUPED = needed(article=pa.int64(), group=pa.int64())


@dataclass(frozen=True)
class Work:
    """What every task needs: the export in parts, and the folder of the articles that are prepared."""

    root: Path
    parts: Sequence[Part]
    last_day: int
    mode: Mode
    prepared: Path

    @cached_property
    def affixes(self) -> dict[int, list[str]]:
        """What each newspaper adds to headlines."""
        rows = Bundle(self.root).read("newspapers").select(["id", "affixes"]).to_pylist()
        return {row["id"]: row["affixes"] for row in rows}

    @cached_property
    def alphabet(self) -> Alphabet:
        """How the database's pg_trgm sees single characters."""
        return alphabet_of(Bundle(self.root).read("alphabet"))

    def file_of(self, part: int) -> Path:
        """Return the file of the prepared articles of a part."""
        return self.prepared / f"{part:06}.parquet"

    def parts_with(self, first_day: int, last_day: int) -> list[int]:
        """Return the parts that may have articles of these days."""
        return [number for number, part in enumerate(self.parts) if part.overlaps(first_day, last_day)]

    def read_prepared(self, parts: Iterable[int], columns: Sequence[str], days: tuple[int, int]) -> pa.Table:
        """Return prepared articles of some days, in the order of the parts."""
        tables = [PREPARED.empty_table().select(columns)]
        for part in parts:
            table = _read_file(self.file_of(part), columns)
            tables.append(table.filter(_among(table["day"], days)))
        return pa.concat_tables(tables)


def _among(column: pa.ChunkedArray, days: tuple[int, int]) -> pa.ChunkedArray:
    return pc.and_(pc.greater_equal(column, days[0]), pc.less_equal(column, days[1]))


def prepare(work: Work, part: int) -> Done:
    """Write the prepared articles of a part, those after the last day too."""
    articles = read_part(work.parts[part], READ)
    write(prepared(articles, work.affixes), work.file_of(part))
    return Done()


class Tile(NamedTuple):
    """Some articles of a part with some of another: the parts and, of each, the first row and the row to stop at."""

    one: int
    other: int
    rows_of_one: tuple[int, int]
    rows_of_other: tuple[int, int]


def tiles_of(parts: Sequence[Part], day_window: int, most_articles: int) -> Iterator[Tile]:
    """Yield the tiles that have all pairs within the window, of at most so many articles on each side."""
    # In the order of their first days: what begins after the window of a part's last day meets none of it.
    for one, part in enumerate(parts):
        for other in range(one, len(parts)):
            if parts[other].first_day > part.last_day + day_window:
                break
            for rows in _slices(part.articles, most_articles):
                for others in _slices(parts[other].articles, most_articles):
                    if one != other or rows <= others:
                        yield Tile(one, other, rows, others)


def _slices(articles: int, most: int) -> list[tuple[int, int]]:
    count = -(-articles // most)
    return [(articles * place // count, articles * (place + 1) // count) for place in range(count)]


def find_in_tile(work: Work, by: NearPass, config: Any, folder: Path, tile: Tile) -> Done:
    """Write the pairs of a tile of a pass that compares sets into the folder `pairs`."""
    file = (
        folder / "pairs" / f"{tile.one:06}-{tile.other:06}-{tile.rows_of_one[0]:06}-{tile.rows_of_other[0]:06}.parquet"
    )
    one = _rows_of(work, tile.one, tile.rows_of_one)
    alone = (tile.one, tile.rows_of_one) == (tile.other, tile.rows_of_other)
    other = one.slice(0, 0) if alone else _rows_of(work, tile.other, tile.rows_of_other)
    if not alone:
        one, other = _near(one, other, config.day_window), _near(other, one, config.day_window)
    sides = [one] if alone else [one, other]
    first = _sets_of(sides[:1], by, config, work)
    both = first if alone else _sets_of(sides, by, config, work)
    split = 0 if alone else len(first.ids)
    if not len(both.ids) or (not alone and split in (0, len(both.ids))):
        write(no_pairs(), file)
        return Done()
    found = similar_in_tile(both, split, config, config.threshold)
    keys = Keys.of(pa.concat_tables(sides))
    pairs = scored_pairs(by, both, keys, found.one, found.other, found.scores, config.threshold)
    write(pairs, file)
    return Done(found.candidates, len(found.scores), pairs.num_rows, found.dense_days.tolist())


def _rows_of(work: Work, part: int, rows: tuple[int, int]) -> pa.Table:
    return read_part(work.parts[part], ["text"], last_day=work.last_day).slice(rows[0], rows[1] - rows[0])


def _near(articles: pa.Table, others: pa.Table, day_window: int) -> pa.Table:
    """Return the articles that are within the window of any day of the others."""
    if not others.num_rows:
        return articles.slice(0, 0)
    days = others["day"].to_numpy()
    return articles.filter(_among(articles["day"], (int(days.min()) - day_window, int(days.max()) + day_window)))


def _sets_of(sides: Sequence[pa.Table], by: NearPass, config: Any, work: Work) -> NearSets:
    articles = pa.concat_tables(sides)
    keys, texts = Keys.of(articles), [text[: config.prefix] for text in articles["text"].to_pylist()]
    return by.sets_of(ArticleBatch(keys.ids, keys.days, None, texts), config, work.alphabet)


def find_on_day(work: Work, by: NearPass, config: Any, folder: Path, day: int) -> Done:
    """Write the pairs whose later article is of a day with dense groups into the folder `dense`; and its hubs
    into `crowded`.
    """
    first = max(1, day - 2 * config.day_window)
    tables = [
        table.filter(_among(table["day"], (first, day)))
        for part in work.parts_with(first, day)
        for table in [read_part(work.parts[part], ["text"], last_day=day)]
    ]
    articles = pa.concat_tables(tables).sort_by([("day", "ascending"), ("id", "ascending")])
    tally = Tally()
    sets = _sets_of([articles], by, config, work)
    found = similar_of_day(sets, day, config, tally)
    pairs = scored_pairs(by, sets, Keys.of(articles), found.left, found.right, found.scores, config.threshold)
    hubs = pa.table({"article": list(tally.hubs), "near": list(tally.hubs.values())}, schema=HUBS)
    write(hubs, folder / "crowded" / f"{day}.parquet")
    write(pairs, folder / "dense" / f"{day}.parquet")
    return Done(found.candidates, len(found.scores), pairs.num_rows)


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

    def texts(ids: IntArray) -> dict[int, str]:
        found: dict[int, str] = {}
        for part in parts:
            table = read_part(work.parts[part], ["text"], ids=ids)
            found |= dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
        return found

    return Learnt(recurring_rows(rows, asked, texts), _forms(work, month, wanted))


def _shingles_of(work: Work, pairs: pa.Table) -> Hashes:
    """Return the distinct shingles of the articles of these pairs, ascending."""
    found = [np.empty(0, dtype=np.uint32)]
    for number, ids in _places(work, pairs):
        rows = rows_with(_read_file(work.file_of(number), ["id", "shingles"]), ids)
        found.append(distinct(shingle_sets(rows).values))
    return distinct(np.concatenate(found))


def _places(work: Work, pairs: pa.Table) -> Iterator[tuple[int, IntArray]]:
    """Yield the parts that may have articles of these pairs, with the ids to look for in each."""
    ids = np.concatenate([pairs[side].to_numpy() for side in ("left", "right")])
    days = np.concatenate([pairs[f"{side}_day"].to_numpy() for side in ("left", "right")])
    for number, part in enumerate(work.parts):
        own = distinct(ids[(days >= part.first_day) & (days <= part.last_day)])
        if len(own):
            yield number, own


def _read_file(file: Path, columns: Sequence[str]) -> pa.Table:
    return parquet.read_table(file, columns=list(columns), use_threads=False)


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
        table = work.read_prepared([part], columns, days)
        tables.append(table.filter(pa.array(np.isin(table["newspaper"].to_numpy(), newspapers))))
    return pa.concat_tables(tables).sort_by([("day", "ascending"), ("id", "ascending")])


class ToJudge(NamedTuple):
    """The files of the pairs of a month that one task judges, and of what was learnt for them; `file` gets VERDICTS."""

    pairs: Sequence[Path]
    learnt: Sequence[Path]
    file: Path


def judge(work: Work, terms: Mapping[str, Any], task: ToJudge) -> Done:
    """Write the verdicts on some pairs."""
    known = Learnt(read_all(task.learnt, RECURRING), read_all([forms_file(path) for path in task.learnt], FORMS))
    found = verdicts(work, read_all(task.pairs, TO_JUDGE), known, terms)
    write(found, task.file)
    return Done(pairs=found.num_rows)


def verdicts(work: Work, pairs: pa.Table, learnt: Learnt, terms: Mapping[str, Any]) -> pa.Table:
    """Return the VERDICTS on pairs (TO_JUDGE) of a month.

    `terms` are what all verdicts rest on, apart from the articles: `model` for load_model, `versions_join`, `series` as
    in Rulings, and `ruled`, a folder with the articles of dense groups that have a rule (GROUPED), if there are any.
    """
    ruled = read_all(files_of(terms["ruled"]), GROUPED)
    groups = dict(zip(ruled["article"].to_pylist(), ruled["group"].to_pylist(), strict=True))
    return verdicts_on(
        pairs,
        _articles_of(work, pairs),
        work.affixes,
        facts_of(*learnt),
        Terms(load_model(terms["model"]), terms["versions_join"], work.mode),
        Rulings(frozenset(terms["series"]), groups),
    )


def _articles_of(work: Work, pairs: pa.Table) -> pa.Table:
    """Return the articles of pairs as verdicts_on reads them."""
    tables = []
    for number, ids in _places(work, pairs):
        stored = read_part(work.parts[number], JUDGED, ids=ids)
        if stored.num_rows:
            made = rows_with(_read_file(work.file_of(number), ["id", "form", "shingles"]), ids)
            # Both are in the order of the part.
            tables.append(stored.append_column("form", made["form"]).append_column("shingles", made["shingles"]))
    return pa.concat_tables(tables)


def read_all(files: Iterable[Path], schema: pa.Schema) -> pa.Table:
    """Return the rows of some files; none if there are no files."""
    tables = [_read_file(file, schema.names).cast(schema) for file in files]
    return pa.concat_tables([schema.empty_table(), *tables])
