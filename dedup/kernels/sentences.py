"""Texts as sets of sentences, and an inverted index that finds the pairs of texts that share some."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from articles.normalization.sentences import sentences_of
from articles.normalization.text import normalize_text
from dedup.kernels.inverted_index import Postings, shared_members
from dedup.kernels.parity_join import TOLERANCE
from dedup.kernels.tokens import IntArray, Ragged, distinct

Weights = npt.NDArray[np.float32]

# The weight of a sentence: its length relative to a typical one, within bounds, and more with a name.
_COMMON_LENGTH = 100
_LONGEST_COUNTED = 200
_NAME_FACTOR = 1.5
# Sentences looked up per step, to bound memory.
_LOOKED_UP_AT_ONCE = 1_000_000


class SentenceSets(NamedTuple):
    """The sets of sentence hashes (64 bits) of many texts, and the weight of each member."""

    sets: Ragged
    weights: Weights


class SharedSentences(NamedTuple):
    """Pairs of texts by their positions, left < right, ordered.

    For each pair, its score in 0..1, the number of shared sentences and that of all sentences of both. `candidates`
    counts the pairs that share any sentence.
    """

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    shared: IntArray
    sentences: IntArray
    candidates: int


def sentence_sets(texts: Sequence[str], *, minimum_characters: int, weighted: bool) -> SentenceSets:
    """Return the set of sentences of each text that have at least `minimum_characters` when normalised.

    Sentences are equal if their normalised forms are. All weights are 1 unless `weighted`.
    """
    members = [sorted(_members(text, minimum_characters, weighted=weighted).items()) for text in texts]
    hashes = np.array([each for one in members for each, _ in one], dtype=np.int64)
    weights = np.array([each for one in members for _, each in one], dtype=np.float32)
    return SentenceSets(Ragged(hashes, np.cumsum([0, *map(len, members)], dtype=np.int64)), weights)


def sentence_forms(text: str, *, minimum_characters: int) -> dict[int, str]:
    """Return the normalised form of each sentence in the text's set, by its hash."""
    forms = (normalize_text(sentence) for sentence in sentences_of(text))
    return {_hash(form): form for form in forms if len(form) >= minimum_characters}


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
    """Return the weight of a sentence, without its rarity.

    1 for 100 characters, 2 for 200 or more, and half as much again with a name. A name is a capitalised word of two
    or more letters that does not begin the sentence.
    """
    length = min(len(normalized), _LONGEST_COUNTED) / _COMMON_LENGTH
    named = any(word[0].isupper() and word[1:2].isalpha() for word in sentence.split()[1:])
    return length * _NAME_FACTOR if named else length


def rarity(counts: IntArray) -> npt.NDArray[np.float64]:
    """Return the weight factor of a sentence that occurs in `counts` texts: 1 for one or two, 2/n for n."""
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
    """Yield, in parts, the pairs of texts within the window of days whose score reaches the threshold.

    `days` are day numbers, ascending, one per text. The later text of a pair is at position `first_row` or after it,
    the other at most `day_window` days before (inclusive). Sentences in more than `most_texts` texts are ignored. The
    score is the Jaccard similarity of the sets or, with weights, the sum of the smaller weights divided by that of
    the larger ones (Ruzicka). Exact, except for TOLERANCE.
    """
    postings, weights, sizes, totals = _index(corpus, most_texts=most_texts, weighted=weighted)
    for part in shared_members(postings, days, day_window=day_window):
        left, right, shared = part.left, part.right, part.counts
        smaller = np.minimum(weights[part.one], weights[part.other])
        sums = np.add.reduceat(smaller, part.starts) if len(part.starts) else np.empty(0)
        scores = np.minimum(1.0, sums / (totals[left] + totals[right] - sums))
        reached = (scores >= threshold - TOLERANCE) & (right >= first_row)
        sentences = sizes[left] + sizes[right] - shared
        yield SharedSentences(
            left[reached], right[reached], scores[reached], shared[reached], sentences[reached], len(left)
        )


def _index(
    corpus: SentenceSets, *, most_texts: int, weighted: bool
) -> tuple[Postings, npt.NDArray[np.float64], IntArray, npt.NDArray[np.float64]]:
    """Return the repeated sentences, their weights, and for each text the number and total weight of its sentences."""
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
    return Postings(owners[order], followers), weights[order], sizes, totals


def _repeated(hashes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the positions of the repeated hashes, the number of the hash at each, and how often each hash occurs.

    Most sentences occur once: only one array, a sorted copy, is as long as `hashes`.
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
