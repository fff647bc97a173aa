"""What parts of articles find together is what one index of all articles finds. No Spark, no database."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dedup.detection.kernels.containment import contained_texts
from dedup.detection.kernels.masked_shingles import ShingleSets
from dedup.detection.kernels.parity_join import DayRange
from dedup.detection.kernels.sentences import SentenceSets, shared_sentences
from dedup.detection.kernels.tokens import Ragged, character_shingle_sets, jaccard_of
from dedup.detection.passes.containment import ContainmentConfig
from dedup.detection.passes.minhash import MinhashConfig
from dedup.detection.passes.sentence import SentenceConfig
from dedup.detection.spark.bands import in_bands, met, of_groups, signed, verified
from dedup.detection.spark.clustering import cluster_rows, clustering_of, local_stars
from dedup.detection.spark.members import (
    MemberConfig,
    Sets,
    counted_in_range,
    held_by,
    kept_by,
    packed,
    sent_by,
    shared_pairs,
    unpacked,
)
from dedup.detection.spark.parts import KEYS, Keys
from dedup.detection.types import Tally


def corpus(seed: int, kind: type[np.generic]) -> Sets:
    """Return texts that share members, ordered by day and id; some members are in very many of them."""
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
    days, ids, newspapers = (np.array(column) for column in zip(*keys, strict=True))
    values = np.concatenate([np.array(text, dtype=kind) for text in texts])
    weights = np.array([rng.uniform(0.2, 3.0) for _ in values], dtype=np.float32)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return Sets(Keys(ids, newspapers, days), Ragged(values, offsets), weights)


def in_parts(every: Sets, config: MemberConfig, parts: int, ranges: int) -> set[tuple[object, ...]]:
    """Return the pairs of a corpus cut into parts in a random order."""
    rows = np.random.default_rng(parts).permutation(len(every.keys.ids))
    own = [_part(every, np.sort(some)) for some in np.array_split(rows, parts)]
    width = every.sets.values.dtype.itemsize
    sent = pa.concat_tables(
        [sent_by(number, held_by(members.sets.values), ranges) for number, members in enumerate(own)]
    )
    counted = pa.concat_tables(
        [counted_in_range(sent.filter(pc.equal(sent["range"], place)), width) for place in range(ranges)]
    )
    kept = [
        kept_by(members, counted.filter(pc.equal(counted["part"], number)), config)
        for number, members in enumerate(own)
    ]
    tables = [shared_pairs(table, None, config)[0] for table in kept]
    tables += [shared_pairs(one, other, config)[0] for one, other in combinations(kept, 2)]
    rows_found = pa.concat_tables(tables).select(["left", "right", "score", "details"]).to_pylist()
    return {tuple(row.values()) for row in rows_found}


def _part(every: Sets, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Sets:
    sets, weights = every.sets, every.weights
    assert weights is not None
    slices = [slice(sets.offsets[row], sets.offsets[row + 1]) for row in rows.tolist()]
    values = np.concatenate([sets.values[span] for span in slices])
    offsets = np.cumsum([0, *(span.stop - span.start for span in slices)], dtype=np.int64)
    return Sets(every.keys.at(rows), Ragged(values, offsets), np.concatenate([weights[span] for span in slices]))


@pytest.mark.parametrize(("parts", "ranges"), [(1, 1), (4, 3), (13, 7)])
def test_containment_in_parts(parts: int, ranges: int) -> None:
    every = corpus(3, np.uint32)
    every = every._replace(weights=np.ones(len(every.sets.values), dtype=np.float32))
    config = ContainmentConfig(threshold=0.3, minimum_shared=3, most_articles=5)
    expected = set()
    for part in contained_texts(
        ShingleSets(every.sets.values, every.sets.offsets),
        DayRange(every.keys.days, 0, config.day_window),
        most_texts=config.most_articles,
        threshold=config.threshold,
        minimum_shared=config.minimum_shared,
    ):
        columns = zip(part.left, part.right, part.scores.tolist(), part.shared, part.shingles, strict=True)
        for left, right, score, shared, count in columns:
            ends = sorted((int(every.keys.ids[left]), int(every.keys.ids[right])))
            expected.add((*ends, score, f'{{"shared": {shared}, "shingles": {count}}}'))
    assert len(expected) > 50
    assert in_parts(every, config, parts, ranges) == expected


@pytest.mark.parametrize(("parts", "weighted"), [(1, True), (6, True), (6, False)])
def test_sentences_in_parts(parts: int, weighted: bool) -> None:
    every = corpus(4, np.int64)
    if not weighted:
        every = every._replace(weights=np.ones(len(every.sets.values), dtype=np.float32))
    config = SentenceConfig(threshold=0.2, most_articles=6, weighted=weighted)
    expected = set()
    assert every.weights is not None
    for part in shared_sentences(
        SentenceSets(Ragged(every.sets.values, every.sets.offsets), every.weights),
        every.keys.days,
        first_row=0,
        day_window=config.day_window,
        most_texts=config.most_articles,
        threshold=config.threshold,
        weighted=weighted,
    ):
        columns = zip(part.left, part.right, part.scores.tolist(), part.shared, part.sentences, strict=True)
        for left, right, score, shared, count in columns:
            ends = sorted((int(every.keys.ids[left]), int(every.keys.ids[right])))
            expected.add((*ends, score, f'{{"shared": {shared}, "sentences": {count}}}'))
    assert len(expected) > 20
    assert in_parts(every, config, parts, ranges=3) == expected


@pytest.mark.parametrize("width", [4, 8])
def test_packed_numbers_come_back(width: int) -> None:
    kind = np.dtype(f"<u{width}")
    highest = np.iinfo(kind).max
    for numbers in ([], [0], [0, highest], [5, 6, 255, 256, 70_000, highest - 1]):
        ascending = np.array(numbers, dtype=kind)
        assert np.array_equal(unpacked(packed(ascending), width), ascending)


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
    members: dict[int, list[dict[str, int]]] = {}
    for row in in_bands(known, config).to_pylist():
        members.setdefault(row.pop("key"), []).append(row)
    crowded = {row["id"] for some in members.values() if len(some) > config.dense_from + 1 for row in some}
    small = pa.table({"members": [some for some in members.values() if 1 < len(some) <= config.dense_from + 1]})
    pairs = {(row["one"], row["other"]) for row in met(small, config).to_pylist()}
    pairs = {pair for pair in pairs if not crowded.issuperset(pair)}
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
    assert found == {ends: score for ends, score in near.items() if not crowded.issuperset(ends)}
    assert len(crowded) >= 15
    tally = Tally()
    group = of_groups(known.filter(pc.is_in(known["id"], pa.array(sorted(crowded)))), config, tally)
    assert {(row["left"], row["right"]): row["score"] for row in group.to_pylist()}.items() <= near.items()
    assert {end for row in group.to_pylist() for end in (row["left"], row["right"])} == set(tally.crowded)


def test_the_clusters_of_each_component_are_those_of_all() -> None:
    rng = random.Random(5)
    rows = []
    for left, right in sorted({tuple(sorted(rng.sample(range(120), 2))) for _ in range(110)}):
        joins = rng.random() < 0.7
        chances = {"probability": rng.random(), "duplicate_probability": rng.random() * 0.6, "joins": joins}
        shares = {"left_matched": rng.uniform(0.5, 1), "right_matched": rng.uniform(0.5, 1)}
        verdict = "duplicate" if joins and rng.random() < 0.8 else "version"
        effect = rng.choice(["", "", "", "", "", "must", "cannot", "stay"])
        rows.append({"left": left, "right": right, "effect": effect, "verdict": verdict, **chances, **shares})
    joining = [row for row in rows if row["effect"] in ("must", "stay") or (row["effect"] == "" and row["joins"])]
    edges = pa.table({"first": [row["left"] for row in joining], "second": [row["right"] for row in joining]})
    half = len(joining) // 2
    stars = pa.concat_tables([local_stars(edges.slice(0, half)), local_stars(edges.slice(half))])
    lowest = {row["second"]: row["first"] for row in local_stars(stars).to_pylist()}
    parts: dict[int, list[dict[str, object]]] = {}
    for row in rows:
        one, other = (lowest.get(row[side], row[side]) for side in ("left", "right"))
        if one == other:
            parts.setdefault(one, []).append(row)
    together = clustering_of(rows)
    apart = [clustering_of(some) for some in parts.values()]
    found = sorted((component for some in apart for component in some.components), key=lambda each: each.articles)
    assert found == together.components
    assert sorted(pair for some in apart for pair in some.contradictions) == together.contradictions
    assert len(found) > 5
    assert cluster_rows(found).num_rows == sum(len(component.articles) for component in found)
