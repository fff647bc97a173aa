"""The pairs that datasketch finds with the parameters of the study, at each threshold."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from datasketch import MinHash, MinHashLSH

SHINGLE, PERMUTATIONS = 5, 256
Pairs = set[tuple[int, int]]


def datasketch_pairs(texts: Iterable[str], thresholds: Sequence[float]) -> dict[str, Any]:
    """Return how many pairs it finds at each threshold, and how many of these are missing at the next one; then None.

    Its candidates are compared exactly, so each pair has the score that it is counted by.
    """
    shingles = [{text[at : at + SHINGLE] for at in range(max(len(text) - SHINGLE + 1, 1))} for text in texts if text]
    sketches = [_sketch(shingle) for shingle in shingles]
    found = [_found(shingles, sketches, threshold) for threshold in thresholds]
    lost: list[int | None] = [len(pairs - lower) for pairs, lower in pairwise(found)]
    version = importlib.metadata.version("datasketch")
    return {"version": version, "found": [len(pairs) for pairs in found], "lost": [*lost, None]}


def _sketch(shingles: set[str]) -> MinHash:
    sketch = MinHash(num_perm=PERMUTATIONS)
    sketch.update_batch([shingle.encode() for shingle in shingles])
    return sketch


def _found(shingles: Sequence[set[str]], sketches: Sequence[MinHash], threshold: float) -> Pairs:
    index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    pairs: Pairs = set()
    for number, sketch in enumerate(sketches):
        for other in index.query(sketch):
            both = len(shingles[number] & shingles[other])
            if both / (len(shingles[number]) + len(shingles[other]) - both) >= threshold:
                pairs.add((other, number))
        index.insert(number, sketch)
    return pairs
