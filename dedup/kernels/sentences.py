"""Texts as sets of sentences, and the pairs of texts that share some of them, found through an inverted index."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from articles.normalization.sentences import sentences_of
from articles.normalization.text import normalize_text
from dedup.kernels.parity_join import TOLERANCE
from dedup.kernels.tokens import IntArray, Ragged, distinct

Weights = npt.NDArray[np.float32]

# What a sentence weighs: its length over that of a common one, more with a name, within bounds.
_COMMON_LENGTH = 100
_LONGEST_COUNTED = 200
_NAME_FACTOR = 1.5
# Work done at once, to bound the memory: sentences looked up, and pairs of equal sentences.
_LOOKED_UP_AT_ONCE = 1_000_000
_PAIRED_AT_ONCE = 2_000_000


class SentenceSets(NamedTuple):
    """The sets of sentence hashes (64 bits) of many texts, and beside each member its weight."""

    sets: Ragged
    weights: Weights


class SharedSentences(NamedTuple):
    """Pairs of texts by their positions, left < right, ordered.

    Beside each its score in 0..1, the number of sentences shared and of all sentences of both. `candidates` are the
    pairs that share a sentence at all.
    """

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    shared: IntArray
    sentences: IntArray
    candidates: int


class _Occurrences(NamedTuple):
    """The sentences that several texts have, ordered by sentence and text: which text, its weight there, ..."""

    owners: IntArray
    weights: npt.NDArray[np.float64]
    followers: IntArray  # ... and how many texts further on have the same sentence


def sentence_sets(texts: Sequence[str], *, minimum_characters: int, weighted: bool) -> SentenceSets:
    """Return the sets of the sentences of each text that have `minimum_characters` when normalised.

    Sentences are equal when they are once normalised. All weights are 1 unless `weighted`.
    """
    members = [sorted(_members(text, minimum_characters, weighted=weighted).items()) for text in texts]
    hashes = np.array([each for one in members for each, _ in one], dtype=np.int64)
    weights = np.array([each for one in members for _, each in one], dtype=np.float32)
    return SentenceSets(Ragged(hashes, np.cumsum([0, *map(len, members)], dtype=np.int64)), weights)


def _members(text: str, minimum_characters: int, *, weighted: bool) -> dict[int, float]:
    found: dict[int, float] = {}
    for sentence in sentences_of(text):
        normalized = normalize_text(sentence)
        if len(normalized) >= minimum_characters:
            key = _hash(normalized)
            found[key] = max(found.get(key, 0.0), weight_of(sentence, normalized) if weighted else 1.0)
    return found


def _hash(normalized: str) -> int:
    digest = hashlib.blake2b(normalized.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def weight_of(sentence: str, normalized: str) -> float:
    """Return what a sentence weighs before its rarity counts.

    1 for 100 characters, 2 for 200 and more, and with a name half as much again. A name is a word of two letters
    or more with a capital that does not begin the sentence.
    """
    length = min(len(normalized), _LONGEST_COUNTED) / _COMMON_LENGTH
    named = any(word[0].isupper() and word[1:2].isalpha() for word in sentence.split()[1:])
    return length * _NAME_FACTOR if named else length


def rarity(counts: IntArray) -> npt.NDArray[np.float64]:
    """Return the factor for a sentence that so many texts have: 1 for one or two, and 2/n for n."""
    return np.minimum(1.0, 2.0 / counts)


def shared_sentences(
    corpus: SentenceSets,
    days: IntArray,
    *,
    first_row: int,
    day_window: int,
    most_texts: int,
    threshold: float,
    weighted: bool,
) -> Iterator[SharedSentences]:
    """Yield, part by part, the pairs of texts within the window of days whose score reaches the threshold.

    `days` are numbers of days, ascending, one a text; of a pair, the later one is at `first_row` or behind it and the
    other at most `day_window` days earlier (inclusive). Sentences that more than `most_texts` of all texts have are
    ignored. The score is the Jaccard similarity of the sets; with weights, the sum of the smaller weights over
    that of the larger ones (Ruzicka). Exact, but for TOLERANCE.
    """
    occurrences, sizes, totals = _index(corpus, most_texts=most_texts, weighted=weighted)
    work = np.bincount(occurrences.owners, weights=occurrences.followers, minlength=len(days))
    ends = np.searchsorted(np.cumsum(work), np.arange(_PAIRED_AT_ONCE, work.sum(), _PAIRED_AT_ONCE), side="right")
    for start, stop in pairwise([0, *distinct(ends).tolist(), len(days)]):
        left, right, shared, weights = _pairs_of(occurrences, days, slice(start, stop), day_window)
        scores = np.minimum(1.0, weights / (totals[left] + totals[right] - weights))
        reached = (scores >= threshold - TOLERANCE) & (right >= first_row)
        sentences = sizes[left] + sizes[right] - shared
        yield SharedSentences(
            left[reached], right[reached], scores[reached], shared[reached], sentences[reached], len(left)
        )


def _index(
    corpus: SentenceSets, *, most_texts: int, weighted: bool
) -> tuple[_Occurrences, IntArray, npt.NDArray[np.float64]]:
    """Return where sentences occur again, and for each text the number and the weight of its sentences."""
    sets = corpus.sets
    positions, groups, counts = _repeated(sets.values)
    owners = np.searchsorted(sets.offsets, positions, side="right") - 1
    plain = corpus.weights[positions].astype(np.float64)
    ignored = counts[groups] > most_texts
    weights = np.where(ignored, 0.0, plain * rarity(counts[groups]) if weighted else plain)
    texts = len(sets.sizes)
    sizes = sets.sizes - np.bincount(owners[ignored], minlength=texts)
    totals = np.zeros(texts)
    filled = np.flatnonzero(sets.sizes)
    if len(filled):
        totals[filled] = np.add.reduceat(corpus.weights, sets.offsets[filled], dtype=np.float64)
    totals -= np.bincount(owners, weights=plain - weights, minlength=texts)
    kept = np.flatnonzero(~ignored)
    order = kept[np.argsort(groups[kept], kind="stable")]
    last = np.searchsorted(groups[order], groups[order], side="right")
    followers = last - np.arange(1, len(order) + 1)
    return _Occurrences(owners[order], weights[order], followers), sizes, totals


def _repeated(hashes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the positions of the hashes that occur again, the number of the hash at each, and how often each occurs.

    Most sentences occur once, and nothing but a copy of the hashes is ever as long as they are.
    """
    ordered = np.sort(hashes)
    again = distinct(ordered[1:][ordered[1:] == ordered[:-1]])
    counts = np.searchsorted(ordered, again, side="right") - np.searchsorted(ordered, again)
    del ordered
    positions, groups = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for start in range(0, len(hashes) if len(again) else 0, _LOOKED_UP_AT_ONCE):
        part = hashes[start : start + _LOOKED_UP_AT_ONCE]
        places = np.minimum(np.searchsorted(again, part), len(again) - 1)
        found = np.flatnonzero(again[places] == part)
        positions.append(found + start)
        groups.append(places[found])
    return np.concatenate(positions), np.concatenate(groups), counts


def _pairs_of(
    occurrences: _Occurrences, days: IntArray, rows: slice, day_window: int
) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
    """Return the pairs whose earlier text is among the rows, the number of shared sentences and their weight."""
    owners, weights, followers = occurrences
    first = np.flatnonzero((owners >= rows.start) & (owners < rows.stop) & (followers > 0))
    one = np.repeat(first, followers[first])
    behind = np.cumsum(followers[first]) - followers[first]
    other = one + 1 + np.arange(len(one)) - np.repeat(behind, followers[first])
    near = days[owners[other]] - days[owners[one]] <= day_window
    one, other = one[near], other[near]
    keys = owners[one] * len(days) + owners[other]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(keys), 1), dtype=np.bool_), keys[1:] != keys[:-1]]))
    smaller = np.minimum(weights[one], weights[other])[order]
    summed = np.add.reduceat(smaller, starts) if len(starts) else np.empty(0)
    left, right = np.divmod(keys[starts], len(days)) if len(starts) else (starts, starts)
    return left, right, np.diff(np.append(starts, len(keys))), summed
