"""Texts as sets of sentences, and an inverted index that finds the pairs of texts that share some."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from articles.normalization.sentences import sentences_of
from articles.normalization.text import normalize_text
from dedup.detection.kernels.inverted_index import Postings, ScoredPairs, shared_members
from dedup.detection.kernels.parity_join import TOLERANCE, DayRange
from dedup.detection.kernels.tokens import IntArray, Ragged, occurring

Marks = npt.NDArray[np.uint16]
Weights = npt.NDArray[np.float32]

# The weight of a sentence: its length relative to a typical one, within bounds, and more with a name.
_COMMON_LENGTH = 100
_LONGEST_COUNTED = 200
_NAME_FACTOR = 1.5
# A mark has the length of a sentence in its lower bits, and whether there is a name in the highest.
_LONGEST = 0x7FFF
_NAMED = 0x8000
# Sentences looked up per step, to bound memory.
_LOOKED_UP_AT_ONCE = 1_000_000


class MarkedSentences(NamedTuple):
    """The sets of sentence hashes (64 bits) of many texts; of each, its length and whether it has a name, in 16 bits.

    They are stored and used later, on any machine.
    """

    sets: Ragged
    marks: Marks


class RepeatedSentences(NamedTuple):
    """Sentences that several texts have: their hashes, ascending, and in how many texts each is."""

    hashes: npt.NDArray[np.signedinteger[Any]]
    counts: IntArray


class SentenceSets(NamedTuple):
    """The sets of sentence hashes (64 bits) of many texts, and the weight of each member.

    `repeated` are the sentences of at least least_counted() texts, if there are more texts than these.
    """

    sets: Ragged
    weights: Weights
    repeated: RepeatedSentences | None = None


def marked_sentences(texts: Sequence[str]) -> MarkedSentences:
    """Return the set of all sentences of each text. Sentences are equal if their normalised forms are."""
    members = [sorted(_marks(text).items()) for text in texts]
    hashes = np.array([digest for one in members for digest, _ in one], dtype=np.int64)
    marks = np.array([mark for one in members for _, mark in one], dtype=np.uint16)
    return MarkedSentences(Ragged(hashes, np.cumsum([0, *map(len, members)], dtype=np.int64)), marks)


def sentence_sets(texts: Sequence[str], *, minimum_characters: int, weighted: bool) -> SentenceSets:
    """Return the set of sentences of each text, as chosen_sentences does."""
    return chosen_sentences(marked_sentences(texts), minimum_characters=minimum_characters, weighted=weighted)


def chosen_sentences(marked: MarkedSentences, *, minimum_characters: int, weighted: bool) -> SentenceSets:
    """Return the set of sentences of each text that have at least `minimum_characters` when normalised.

    All weights are 1 unless `weighted`.
    """
    kept = (marked.marks & _LONGEST) >= minimum_characters
    marks = marked.marks[kept]
    weights = weights_of(marks) if weighted else np.ones(len(marks), dtype=np.float32)
    return SentenceSets(marked.sets.only(kept), weights)


def weights_of(marks: Marks) -> Weights:
    """Return the weight of each sentence, without its rarity.

    1 for 100 characters, 2 for 200 or more, and half as much again with a name.
    """
    weights = np.minimum(marks & _LONGEST, _LONGEST_COUNTED) / _COMMON_LENGTH
    weights[marks > _LONGEST] *= _NAME_FACTOR
    return weights.astype(np.float32)


def sentence_forms(text: str, *, minimum_characters: int) -> dict[int, str]:
    """Return the normalised form of each sentence in the text's set, by its hash."""
    forms = (normalize_text(sentence) for sentence in sentences_of(text))
    return {_hash(form): form for form in forms if len(form) >= minimum_characters}


def _marks(text: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for sentence in sentences_of(text):
        normalized = normalize_text(sentence)
        if normalized:
            key = _hash(normalized)
            found[key] = found.get(key, 0) | mark_of(sentence, normalized)
    return found


def _hash(normalized: str) -> int:
    digest = hashlib.blake2b(normalized.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def mark_of(sentence: str, normalized: str) -> int:
    """Return the mark of a sentence: the length of its normalised form, and whether it has a name.

    A name is a capitalised word of two or more letters that does not begin the sentence.
    """
    named = any(word[0].isupper() and word[1:2].isalpha() for word in sentence.split()[1:])
    return min(len(normalized), _LONGEST) | (_NAMED if named else 0)


def rarity(counts: IntArray) -> npt.NDArray[np.float64]:
    """Return the weight factor of a sentence that occurs in `counts` texts: 1 for one or two, 2/n for n."""
    return np.minimum(1.0, 2.0 / counts)


def repeated_sentences(hashes: IntArray, least: int) -> RepeatedSentences:
    """Return the hashes that occur at least so many times; `hashes` are sorted in place."""
    again = occurring(hashes, least)
    counts = np.searchsorted(hashes, again, side="right") - np.searchsorted(hashes, again)
    return RepeatedSentences(again, counts)


def least_counted(most_texts: int, *, weighted: bool) -> int:
    """Return the number of texts with a sentence from which on that number counts."""
    return min(most_texts + 1, 3) if weighted else most_texts + 1


def shared_sentences(
    corpus: SentenceSets,
    asked: DayRange,
    *,
    most_texts: int,
    threshold: float,
    weighted: bool,
    sides: IntArray | None = None,
) -> Iterator[ScoredPairs]:
    """Yield, in parts, the pairs of texts asked for whose score reaches the threshold; of `asked`, `fresh` is ignored.

    Sentences in more than `most_texts` texts are ignored. The score is the Jaccard similarity of the sets or, with
    weights, the sum of the smaller weights divided by that of the larger ones (Ruzicka). Pairs of one of `sides`, if
    given, are left out. The `members` are the sentences of both that are not ignored. Exact, except for TOLERANCE.
    """
    repeated = corpus.repeated
    if repeated is None:
        repeated = repeated_sentences(corpus.sets.values.astype(np.int64), least_counted(most_texts, weighted=weighted))
    postings, weights, sizes, totals = _index(corpus, repeated, most_texts=most_texts, weighted=weighted)
    for part in shared_members(postings, asked.days, day_window=asked.day_window, sides=sides):
        left, right, shared = part.left, part.right, part.counts
        smaller = np.minimum(weights[part.one], weights[part.other])
        sums = np.add.reduceat(smaller, part.starts) if len(part.starts) else np.empty(0)
        scores = np.minimum(1.0, sums / (totals[left] + totals[right] - sums))
        reached = (scores >= threshold - TOLERANCE) & (right >= asked.first_row)
        both = sizes[left] + sizes[right] - shared
        yield ScoredPairs(left[reached], right[reached], scores[reached], shared[reached], both[reached], len(left))


def _index(
    corpus: SentenceSets, repeated: RepeatedSentences, *, most_texts: int, weighted: bool
) -> tuple[Postings, npt.NDArray[np.float64], IntArray, npt.NDArray[np.float64]]:
    """Return the sentences of several of these texts, their weights, and for each text number and weight of its own."""
    sets = corpus.sets
    owners = np.repeat(np.arange(len(sets.sizes)), sets.sizes)
    positions, groups = _found(sets.values, repeated.hashes)
    counts = repeated.counts[groups]
    weights = corpus.weights.astype(np.float64)
    plain = weights[positions]
    ignored = counts > most_texts
    weights[positions] = np.where(ignored, 0.0, plain * rarity(counts) if weighted else plain)
    texts = len(sets.sizes)
    sizes = sets.sizes - np.bincount(owners[positions[ignored]], minlength=texts)
    totals = np.zeros(texts)
    filled = np.flatnonzero(sets.sizes)
    if len(filled):
        totals[filled] = np.add.reduceat(corpus.weights, sets.offsets[filled], dtype=np.float64)
    totals -= np.bincount(owners[positions], weights=plain - weights[positions], minlength=texts)
    kept = np.ones(len(owners), dtype=np.bool_)
    kept[positions[ignored]] = False
    return *_postings(sets.values, owners, weights, np.flatnonzero(kept)), sizes, totals


def _postings(
    hashes: npt.NDArray[np.signedinteger[Any]], owners: IntArray, weights: npt.NDArray[np.float64], kept: IntArray
) -> tuple[Postings, npt.NDArray[np.float64]]:
    """Return the sentences that several of the texts have, of those at the places `kept`, and their weights."""
    places, groups = _found(hashes[kept], repeated_sentences(hashes[kept], 2).hashes)
    order = np.argsort(groups, kind="stable")
    groups, order = groups[order], kept[places[order]]
    followers = np.searchsorted(groups, groups, side="right") - np.arange(1, len(order) + 1)
    return Postings(owners[order], followers), weights[order]


def _found(
    hashes: npt.NDArray[np.signedinteger[Any]], asked: npt.NDArray[np.signedinteger[Any]]
) -> tuple[IntArray, IntArray]:
    """Return the places of the hashes that are among those asked for, which ascend, and the place of each in those."""
    places, found = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for start in range(0, len(hashes) if len(asked) else 0, _LOOKED_UP_AT_ONCE):
        part = hashes[start : start + _LOOKED_UP_AT_ONCE]
        nearest = np.minimum(np.searchsorted(asked, part), len(asked) - 1)
        known = np.flatnonzero(asked[nearest] == part)
        places.append(known + start)
        found.append(nearest[known])
    return np.concatenate(places), np.concatenate(found)
