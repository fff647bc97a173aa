"""Stories of a newspaper: what it tells once, however often it prints it, counts once where it is learnt what recurs.

A form is no story: it has other numbers each time. Pure.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.disjoint_sets import lowest_connected
from dedup.detection.kernels.masked_shingles import ShingleSets
from dedup.detection.kernels.tokens import Flags, IntArray, begins_in, distinct

Sketches = npt.NDArray[np.uint32]

# Articles of a newspaper that follow each other within so many days are alike if they share this part of their phrases.
# They tell one story if they have the same numbers and are not of a form, most of whose phrases are printed for longer.
STORY_DAYS = 14
STORY_SHARE = 0.75
# Phrases are sampled for that: the lowest of each range of their hashes. Articles with one of the first few in common
# are compared. Source: Li, Owen and Zhang, One permutation hashing, NIPS 2012.
_SKETCH_BITS = 5
_FIRST_RANGES = 8
_NONE = np.uint32(0xFFFFFFFF)


def sketches(phrases: ShingleSets) -> Sketches:
    """Return a row for each set: the lowest of its phrases in each range; of sets in parts, the minimum is theirs."""
    ranges = phrases.values >> np.uint32(32 - _SKETCH_BITS)
    owners = np.repeat(np.arange(len(phrases.sizes)), phrases.sizes)
    lowest = np.flatnonzero(begins_in(owners << _SKETCH_BITS | ranges.astype(np.int64)))
    made = np.full((len(phrases.sizes), 1 << _SKETCH_BITS), _NONE, dtype=np.uint32)
    made[owners[lowest], ranges[lowest]] = phrases.values[lowest]
    return made


def alike(sampled: Sketches, days: IntArray) -> IntArray:
    """Return pairs of places of articles that share most phrases, the earlier one first, given their sketches.

    Not all pairs: of many articles that are alike, those that follow each other.
    """
    places = np.arange(len(days))
    found = [np.empty((0, 2), dtype=np.int64)]
    for column in sampled.T[:_FIRST_RANGES]:
        there = places[column != _NONE]
        ordered = there[np.argsort(column[there], kind="stable")]
        one, other = ordered[:-1], ordered[1:]
        near = (column[one] == column[other]) & (days[other] - days[one] <= STORY_DAYS)
        found.append(np.stack([one[near], other[near]], axis=1))
    width = np.int64(max(len(days), 1))
    pairs = distinct(np.concatenate([pair[:, 0] * width + pair[:, 1] for pair in found]))
    one, other = pairs // width, pairs % width
    both, either = sampled[one] != _NONE, sampled[other] != _NONE
    same = np.count_nonzero(both & (sampled[one] == sampled[other]), axis=1)
    most = same >= STORY_SHARE * np.count_nonzero(both | either, axis=1)
    return np.stack([one[most], other[most]], axis=1)


def lasting(sampled: Sketches, days: IntArray) -> Flags:
    """Return which articles are of a form: most of their phrases are printed for longer than STORY_DAYS."""
    balance = np.zeros(len(days), dtype=np.int64)
    for column in sampled.T:
        ordered = np.argsort(column, kind="stable")
        begins = np.flatnonzero(begins_in(column[ordered]))
        ends = np.append(begins[1:], len(days))[: len(begins)]
        long = days[ordered[ends - 1]] - days[ordered[begins]] > STORY_DAYS
        balance[ordered] += np.repeat(np.where(long, 1, -1), ends - begins) * (column[ordered] != _NONE)
    return balance > 0


def first_told(articles: int, alike: IntArray, numbers: Mapping[int, int]) -> Flags:
    """Return which of so many articles are the first of their story.

    `alike` has pairs of places as from alike(), and `numbers` stand for those in the texts of articles that are like
    another one and not of a form.
    """
    told: dict[tuple[int, int], int] = {}
    first = np.ones(articles, dtype=np.bool_)
    for place, likeness in sorted(lowest_connected(alike.tolist()).items()):
        if place in numbers:
            first[place] = told.setdefault((likeness, numbers[place]), place) == place
    return first
