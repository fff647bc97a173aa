"""What parts of articles find together is what one index of all articles finds. No Spark, no database."""

import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from articles.grouping import by_key
from dedup.detection.kernels.parity_join import DayRange
from dedup.detection.kernels.tokens import character_shingle_sets, jaccard_of
from dedup.detection.passes.containment import ContainmentConfig, ContainmentPass
from dedup.detection.passes.minhash import MinhashConfig
from dedup.detection.passes.sentence import SentenceConfig, SentencePass
from dedup.detection.spark import members
from dedup.detection.spark.bands import in_bands, met, of_groups, signed, verified
from dedup.detection.spark.parts import KEYS
from dedup.detection.types import Tally

Article = dict[str, Any]


def corpus(seed: int, kind: str, *, weighted: bool = False) -> list[Article]:
    """Return texts that share members (SETS), ordered by day and id; some members are in very many of them."""
    rng = random.Random(seed)
    print("seed", seed)
    info = np.iinfo(kind)
    common = [rng.randint(info.min, info.max) for _ in range(40)]
    texts: list[list[int]] = []
    for _ in range(150):
        members = {rng.randint(info.min, info.max) for _ in range(rng.randrange(25))}
        members |= set(rng.sample(common, rng.randrange(6)))
        if texts and rng.random() < 0.6:
            members |= set(rng.sample(source := rng.choice(texts), len(source) * 2 // 3))
        texts.append(sorted(members))
    keys = sorted((rng.randrange(700_000, 700_060), rng.randrange(10**9), rng.randrange(1, 9)) for _ in texts)
    return [
        {
            "id": article,
            "newspaper": newspaper,
            "day": day,
            "members": np.array(text, dtype=kind).tobytes(),
            "weights": np.array([rng.uniform(0.2, 3.0) if weighted else 1.0 for _ in text], dtype="<f4").tobytes(),
        }
        for (day, article, newspaper), text in zip(keys, texts, strict=True)
    ]


def joined(every: list[Article], column: str, kind: str) -> Any:
    return np.frombuffer(b"".join(row[column] for row in every), dtype=kind)


def in_parts(every: list[Article], compared: members.Compared, parts: int, ranges: int) -> set[tuple[object, ...]]:
    """Return the pairs of a corpus cut into parts in a random order."""
    width, least = compared.kind.itemsize, compared.by.counted_from(compared.config)
    own = [
        pa.Table.from_pylist([every[row] for row in sorted(rows)], schema=members.SETS)
        for rows in np.array_split(np.random.default_rng(parts).permutation(len(every)), parts)
    ]
    sent = pa.concat_tables(
        [members.sent_by(number, members.members_in(table, compared.kind), ranges) for number, table in enumerate(own)]
    )
    rows = [
        row
        for place in range(ranges)
        for row in members.counted_in_range(sent.filter(pc.equal(sent["range"], place)), width, least).to_pylist()
    ]
    counted = [members.counted_of([row for row in rows if row["part"] == number], width) for number in range(parts)]
    tables = [members.shared_pairs([own[number]], [counted[number]], compared)[0] for number in range(parts)]
    tables += [
        members.shared_pairs([own[one], own[other]], [counted[one], counted[other]], compared)[0]
        for one, other in combinations(range(parts), 2)
    ]
    rows_found = pa.concat_tables(tables).select(["left", "right", "score", "details"]).to_pylist()
    return {tuple(row.values()) for row in rows_found}


def at_once(every: list[Article], compared: members.Compared) -> set[tuple[object, ...]]:
    """Return the pairs that one index of all articles finds."""
    values, weights = joined(every, "members", compared.by.stored_as), joined(every, "weights", "<f4")
    sizes = [len(row["members"]) // compared.kind.itemsize for row in every]
    sets = compared.by.sets(values, np.cumsum([0, *sizes], dtype=np.int64), weights)
    asked = DayRange(np.array([row["day"] for row in every]), 0, compared.config.day_window)
    expected = set()
    for found in compared.by.shared(sets, asked, None, compared.config):
        part = found.reaching(compared.config.threshold)
        for left, right, score, shared, count in zip(*(column.tolist() for column in part[:5]), strict=True):
            ends = sorted((every[left]["id"], every[right]["id"]))
            expected.add((*ends, score, f'{{"shared": {shared}, "{compared.by.members}": {count}}}'))
    return expected


@pytest.mark.parametrize(("parts", "ranges"), [(1, 1), (4, 3), (13, 7)])
def test_containment_in_parts(tmp_path: Path, parts: int, ranges: int) -> None:
    config = ContainmentConfig(threshold=0.3, minimum_shared=3, most_articles=5)
    every, compared = corpus(3, "<u4"), members.Compared(ContainmentPass(), config, tmp_path)
    expected = at_once(every, compared)
    assert len(expected) > 50
    assert in_parts(every, compared, parts, ranges) == expected


@pytest.mark.parametrize(("parts", "weighted"), [(1, True), (6, True), (6, False)])
def test_sentences_in_parts(tmp_path: Path, parts: int, weighted: bool) -> None:
    config = SentenceConfig(threshold=0.2, most_articles=6, weighted=weighted)
    every, compared = corpus(4, "<i8", weighted=weighted), members.Compared(SentencePass(), config, tmp_path)
    expected = at_once(every, compared)
    assert len(expected) > 20
    assert in_parts(every, compared, parts, ranges=3) == expected


@pytest.mark.parametrize("width", [4, 8])
def test_packed_numbers_come_back(width: int) -> None:
    kind = np.dtype(f"<u{width}")
    highest = np.iinfo(kind).max
    for numbers in ([], [0], [0, highest], [5, 6, 255, 256, 70_000, highest - 1]):
        ascending = np.array(numbers, dtype=kind)
        assert np.array_equal(members.unpacked(members.packed(ascending), width), ascending)


def test_minhash_in_parts_finds_every_similar_pair() -> None:
    rng = random.Random(8)
    texts = [" ".join(f"{rng.randrange(10**6):x}" for _ in range(40)) for _ in range(30)]
    texts += [f"{text} {rng.choice(['north', 'south'])}" for text in texts[:20]] + ["", texts[0]] + [texts[1]] * 14
    articles = pa.table(
        {"id": range(len(texts)), "newspaper": [1] * len(texts), "day": [9] * len(texts), "text": texts},
        schema=pa.schema([(name, pa.int64()) for name in KEYS] + [("text", pa.string())]),
    )
    config = MinhashConfig(threshold=0.75, dense_from=10)
    known = pa.concat_tables([signed(articles.slice(0, 33), config), signed(articles.slice(33), config)])
    members = by_key((row.pop("key"), row) for row in in_bands(known, config).to_pylist())
    possible_hubs = {row["id"] for some in members.values() if len(some) > config.dense_from + 1 for row in some}
    small = pa.table({"members": [some for some in members.values() if 1 < len(some) <= config.dense_from + 1]})
    pairs = {(row["one"], row["other"]) for row in met(small, config).to_pylist()}
    pairs = {pair for pair in pairs if not possible_hubs.issuperset(pair)}
    rows = {row["id"]: row for row in known.to_pylist()}
    sides = [
        {f"{side}_{name}": value for side, row in (("one", one), ("other", other)) for name, value in row.items()}
        for one, other in ((rows[one], rows[other]) for one, other in sorted(pairs))
    ]
    table = verified(pa.Table.from_pylist(sides), config)
    found = {(row["left"], row["right"]): row["score"] for row in table.to_pylist()}
    sets = character_shingle_sets(texts, config.shingle)
    scores = {ends: jaccard_of(sets[ends[0]], sets[ends[1]]) for ends in combinations(range(len(texts)), 2)}
    near = {ends: score for ends, score in scores.items() if score >= config.threshold}
    assert found == {ends: score for ends, score in near.items() if not possible_hubs.issuperset(ends)}
    assert len(possible_hubs) >= 15
    tally = Tally()
    group = of_groups(known.filter(pc.is_in(known["id"], pa.array(sorted(possible_hubs)))), config, tally)
    assert {(row["left"], row["right"]): row["score"] for row in group.to_pylist()}.items() <= near.items()
    assert {end for row in group.to_pylist() for end in (row["left"], row["right"])} == set(tally.hubs)
