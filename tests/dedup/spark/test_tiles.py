"""Tiles of articles find what one join of all finds, however articles are cut and ordered. No Spark, no database."""

import datetime
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from articles.boilerplate.mode import Mode
from dedup.detection.kernels.parity_join import DayRange, similar_pairs
from dedup.detection.kernels.tokens import Alphabet
from dedup.detection.passes.near import NearPass, note, pairs_of_groups
from dedup.detection.passes.reading import ArticleBatch
from dedup.detection.passes.stopword import StopwordConfig, StopwordPass
from dedup.detection.passes.trigram import TrigramConfig, TrigramPass
from dedup.detection.spark.parts import Keys, Work, parts_of
from dedup.detection.spark.schema import ALPHABET, ARTICLES, Bundle
from dedup.detection.spark.tiles import find_in_tile, find_on_day, scored_pairs, tiles_of
from dedup.detection.types import Tally

FIRST = datetime.date(2024, 2, 26)
STORY = "the harbour of a town in the north and its old bridge was closed for some days after a storm at sea"
WORDS = STORY.split()
Row = tuple[int, int, float]


def articles(count: int, days: int, seed: int, copies: int = 0) -> list[dict[str, object]]:
    """Return articles of which many share words; the last `copies` are nearly one text, on two days."""
    rng = random.Random(seed)
    print("seed", seed)
    rows = []
    for number in range(count):
        text = " ".join(rng.choice(WORDS) + rng.choice(["", "", "s"]) for _ in range(rng.randrange(12, 30)))
        if rows and rng.random() < 0.4:
            text = str(rng.choice(rows)["normalized_text"]) + f" {rng.choice(WORDS)}"
        day = FIRST + datetime.timedelta(days=rng.randrange(days))
        if number >= count - copies:
            text, day = f"{' '.join(WORDS * 3)} berth {number % 7}", FIRST + datetime.timedelta(days=number % 2)
        rows.append(
            {
                "id": 1000 - 3 * number if number % 2 else 1001 + number,
                "newspaper": number % 5 + 1,
                "day": day,
                "revision": number,
                "published_precision": "day",
                "headline": f"Headline {number}",
                "content": text,
                "boilerplate": "[]",
                "normalized_text": text,
            }
        )
    return rows


def work(folder: Path, rows: list[dict[str, object]], *, a_file: int, a_group: int, most: int) -> Work:
    """Return an export of these articles in files and row groups of so many, in parts of at most `most`."""
    bundle = Bundle(folder)
    bundle.articles.mkdir(parents=True)
    for start in range(0, len(rows), a_file):
        table = pa.Table.from_pylist(rows[start : start + a_file], schema=ARTICLES)
        parquet.write_table(table, bundle.articles / f"{start:05}.parquet", row_group_size=a_group)
    letters = [ord(letter) for letter in "abcdefghijklmnopqrstuvwxyz0123456789"]
    parquet.write_table(pa.table([letters, letters], schema=ALPHABET), bundle.table("alphabet"))
    return Work(folder, parts_of(bundle.articles, most), FIRST.toordinal() + 100, Mode.KEEP, folder / "prepared")


def found_in_tiles(store: Work, by: NearPass, config: Any, side: int, folder: Path) -> tuple[set[Row], set[int]]:
    """Return what the tiles and then the dense days find, and the hubs."""
    days: set[int] = set()
    for tile in tiles_of(store.parts, config.day_window, side):
        days |= set(find_in_tile(store, by, config, folder, tile).days)
    rows = _rows(folder / "pairs")
    ending: dict[tuple[int, int], int] = {}
    for left, right, _, left_day, right_day in rows:
        for article, day in ((left, left_day), (right, right_day)):
            if day == max(left_day, right_day):
                ending[article, day] = ending.get((article, day), 0) + 1
    days |= {day for (_, day), count in ending.items() if count > config.dense_from}
    for day in days:
        find_on_day(store, by, config, folder, day)
    kept = [row for row in rows if max(row[3:]) not in days]
    kept += _rows(folder / "dense") if days else []
    hubs = parquet.read_table(folder / "hubs")["article"].to_pylist() if days else []
    assert len({row[:2] for row in kept}) == len(kept)
    return {row[:3] for row in kept}, set(hubs)


def _rows(folder: Path) -> list[tuple[int, int, float, int, int]]:
    table = parquet.read_table(folder)
    return [
        tuple(row.values()) for row in table.select(["left", "right", "score", "left_day", "right_day"]).to_pylist()
    ]


def at_once(rows: list[dict[str, Any]], by: NearPass, config: Any) -> tuple[set[Row], set[int]]:
    """Return what one block of all days finds."""
    ordered = sorted(rows, key=lambda row: (row["day"], row["id"]))
    ids, papers = (np.array([row[name] for row in ordered]) for name in ("id", "newspaper"))
    keys = Keys(ids, papers, np.array([row["day"].toordinal() for row in ordered]))
    batch = ArticleBatch(keys.ids, keys.days, None, [row["normalized_text"] for row in ordered])
    letters = {letter: letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789"}
    sets = by.sets_of([batch], config, lambda _texts: Alphabet.of(letters.items()))
    asked = DayRange(sets.days, 0, config.day_window)
    found = similar_pairs(
        sets.sets, asked, threshold=config.threshold, universe=sets.universe, most_neighbours=config.dense_from
    )
    if found is not None:
        return _of(scored_pairs(by, sets, keys, found, config.threshold)), set()
    every: set[Row] = set()
    hubs: set[int] = set()
    for day in sorted(set(sets.days.tolist())):
        tally = Tally()
        upto = int(np.searchsorted(sets.days, day, side="right"))
        first = int(np.searchsorted(sets.days, day - 2 * config.day_window))
        some = {"ids": sets.ids[first:upto], "days": sets.days[first:upto], "sets": sets.sets.part(first, upto)}
        part = sets._replace(**some)
        asked = DayRange(part.days, int(np.searchsorted(part.days, day)), config.day_window)
        dense = pairs_of_groups(part, asked, config)
        note(dense, part.ids, tally)
        every |= _of(scored_pairs(by, part, keys, dense, config.threshold))
        hubs |= set(tally.hubs)
    return every, hubs


def _of(table: pa.Table) -> set[Row]:
    return {tuple(row.values()) for row in table.select(["left", "right", "score"]).to_pylist()}


@pytest.mark.parametrize(
    ("by", "config", "copies"),
    [
        (TrigramPass(), TrigramConfig(threshold=0.5, dense_from=1000), 0),
        (TrigramPass(), TrigramConfig(threshold=0.5, dense_from=12, day_window=1), 60),
        (StopwordPass(), StopwordConfig(threshold=0.4, minimum_shingles=3, dense_from=1000), 0),
    ],
)
def test_tiles_find_what_one_join_finds(tmp_path: Path, by: NearPass, config: Any, copies: int) -> None:
    rows = articles(240, 9, seed=7, copies=copies)
    expected, hubs = at_once(rows, by, config)
    assert len(expected) > 50
    assert bool(hubs) == bool(copies)
    cuts = [(240, 240, 1000, 1000), (70, 20, 40, 13), (33, 33, 1, 100)]
    for number, (a_file, a_group, most, side) in enumerate(cuts):
        ordered = sorted(rows, key=lambda row: str(row["day"])) if number == 1 else rows
        folder = tmp_path / str(number)
        store = work(folder, ordered, a_file=a_file, a_group=a_group, most=most)
        assert found_in_tiles(store, by, config, side, folder / "found") == (expected, hubs)
