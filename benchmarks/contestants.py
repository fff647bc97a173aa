"""The contestants, each in its own process: `python -m benchmarks.contestants NAME --output FILE.npz`.

The passes are run as users run them, by `manage.py find_duplicates`. Here are the others: datasketch and rensa,
each in the fastest form that its documentation describes, and the kernels of this project without a command
around them. All read the same texts by one query, make the same shingles with the same function, and verify
candidates with the verifier of the minhash pass. A process counts its own CPU seconds from the first text read to the
last pair verified: the "core" of the tables, without start-up and storing.
"""

import argparse
import datetime
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import django
import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Max, Min

from dedup.detection.kernels import minhash, parity_join
from dedup.detection.kernels.parity_join import TOLERANCE, Bits, PairRange, Pairs, Sketches, bits_for, candidate_tiles
from dedup.detection.kernels.tokens import IntArray, Ragged, as_sets, character_shingles
from dedup.detection.passes import minhash as minhash_pass
from dedup.detection.passes.minhash import MinhashConfig, MinhashPass
from dedup.detection.types import Window

CONFIG = MinhashConfig()
DAY_WINDOW = 3
_SEED = 42
# Texts per step: their shingles stay in the processor's cache, which is best for all (also tried with rensa).
_TEXTS_AT_ONCE = 96
_VERIFIED_AT_ONCE = 500
_SAMPLE_TEXTS = 300
# CPU seconds of this process by purpose, and the candidates that were verified.
_spent = {"shingles_cpu": 0.0, "signatures_cpu": 0.0, "candidates": 0}

_TEXTS_SQL = """
SELECT id, date, left(normalized_text, %(prefix)s) FROM articles_article ORDER BY date, id LIMIT %(articles)s
"""

Positions = Iterable[tuple[IntArray, IntArray]]


class Texts(NamedTuple):
    """The articles, ordered by day and id."""

    ids: IntArray
    days: IntArray
    texts: list[str]


class Found(NamedTuple):
    """Pairs of article ids and their exact similarity."""

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]


def read_texts(articles: int | None, config: MinhashConfig) -> Texts:
    """Return the first articles of the corpus; None: all."""
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS_SQL, {"prefix": config.prefix, "articles": articles})
        ids, days, texts = zip(*cursor.fetchall(), strict=True)
    return Texts(np.array(ids, dtype=np.int64), np.array([day.toordinal() for day in days]), list(texts))


def run_datasketch(articles: int | None, config: MinhashConfig) -> Found:
    """MinHash.generator over hashed shingles, and MinHashLSH with its own bands for the threshold.

    Only distinct hashes, because each one costs time; 32 bits, as its default scheme needs, as well mixed as its own
    hashes; and `int` as the hash function, the cheapest possible.
    """
    corpus = read_texts(articles, config)
    parts = map(hash_sets, _shingles(corpus.texts, config))
    sets = ((part.offsets, minhash._mix(part.values.view(np.uint32))) for part in parts)
    lists = (hashes[start:stop].tolist() for offsets, hashes in sets for start, stop in itertools.pairwise(offsets))
    return _datasketch_pairs(corpus, lists, config, hashfunc=int)


def run_datasketch_of_texts(articles: int | None, config: MinhashConfig) -> Found:
    """Datasketch alone, of shingles as bytes, with its default hash function."""
    corpus = read_texts(articles, config)
    lists = ([token.encode() for token in tokens] for tokens in _tokens(corpus.texts, config.shingle))
    return _datasketch_pairs(corpus, lists, config)


def _datasketch_pairs(corpus: Texts, lists: Iterable[list[Any]], config: MinhashConfig, **options: Any) -> Found:
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415 - of the extra `benchmarks`

    index = MinHashLSH(threshold=config.threshold, num_perm=config.slots)
    candidates = set()
    for number, signed in enumerate(MinHash.generator(lists, num_perm=config.slots, seed=_SEED, **options)):
        # Queried before it is inserted, so each pair comes once.
        candidates |= {(other, number) for other in index.query(signed)}
        index.insert(number, signed, check_duplication=False)
    return _verified(corpus, _positions(candidates), config)


def run_rensa(articles: int | None, config: MinhashConfig) -> Found:
    """digest_matrix_from_flat_token_hashes: rensa's cheapest call, on flat arrays of hashed shingles.

    Repetitions stay in, because removing them costs more than hashing them. The matrix can be converted to numpy only
    by lists. rensa's index takes only what rensa hashed, so our pass makes the bands, which is cheaper than
    that index; it gets one byte of each minimum, as of our own.
    """
    import rensa  # noqa: PLC0415 - of the extra `benchmarks`

    corpus = read_texts(articles, config)
    digests = []
    for part in _shingles(corpus.texts, config):
        with _spending("signatures_cpu"):
            flat, offsets = part.values.astype(np.uint64), part.offsets.view(np.uint64)
            matrix = rensa.RMinHash.digest_matrix_from_flat_token_hashes(flat, offsets, config.slots, _SEED)
            digests.append(np.array(matrix.to_rows(), dtype=np.uint32).astype(np.uint8))
    return _banded_pairs(corpus, digests, config)


def run_rensa_of_texts(articles: int | None, config: MinhashConfig) -> Found:
    """Rensa alone, of shingles as strings: from_token_sets, insert_many and query_all.

    Its bands must divide the permutations: 4 rows, the most with at least our pass's recall. Only pairs that pass
    its own estimate are verified, as in our pass.
    """
    import rensa  # noqa: PLC0415 - as above

    corpus = read_texts(articles, config)
    tokens = (list(token) for token in _tokens(corpus.texts, config.shingle))
    signed = rensa.RMinHash.from_token_sets(tokens, config.slots, _SEED)
    index = rensa.RMinHashLSH(config.threshold, config.slots, config.slots // 4)
    index.insert_many(signed)
    likely = enumerate(index.query_all(signed))
    pairs = ((one, other) for one, others in likely for other in others if one < other)
    least = minhash.least_agreement(config.slots, config.threshold) / config.slots
    agreed = ((one, other) for one, other in pairs if signed[one].jaccard(signed[other]) >= least)
    return _verified(corpus, _positions(agreed), config)


def run_minhash_kernel(articles: int | None, config: MinhashConfig) -> Found:
    """The signatures of kernels/minhash.py instead of rensa's; all else is the same."""
    corpus = read_texts(articles, config)
    signed = []
    minhash._compiled()  # loading numba takes half a second of the core, and is no signature
    for part in _shingles(corpus.texts, config):
        with _spending("signatures_cpu"):
            signed.append(minhash.signatures(part, config.slots))
    return _banded_pairs(corpus, signed, config)


def run_minhash(_articles: int | None, config: MinhashConfig) -> Found:
    """The find() of the minhash pass, without the command around it."""
    from articles.models import Article  # noqa: PLC0415 - Django is set up by now

    days = Article.objects.aggregate(first=Min("date"), last=Max("date"))
    window = Window(days["first"], days["last"])
    return _found((pair.left, pair.right, pair.score) for pair in MinhashPass().find(window, config, connection))


def run_exact_join(articles: int | None, config: MinhashConfig) -> Found:
    """The exact join of parity_join.py over sets of the same shingles: it loses no pair."""
    corpus = read_texts(articles, config)
    sample = hash_sets(character_shingles(corpus.texts[:_SAMPLE_TEXTS], config.shingle))
    large = 0.9 * float(np.quantile(sample.sizes, 0.98))
    bits = foldable(bits_for(config.threshold, large))
    buckets = parity_join.deal_buckets(sample, bits)
    parts = [parity_join.sketch(hash_sets(part), buckets, bits) for part in _shingles(corpus.texts, config)]
    words, sizes = (np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True))
    pairs = candidate_pairs_by_size(
        Sketches(words, sizes),
        corpus.days,
        day_window=config.day_window,
        threshold=config.threshold,
        collisions=COLLISIONS,
    )
    return _verified(corpus, [pairs], config)


CONTESTANTS: dict[str, Callable[[int | None, MinhashConfig], Found]] = {
    "datasketch": run_datasketch,
    "datasketch-texts": run_datasketch_of_texts,
    "rensa": run_rensa,
    "rensa-texts": run_rensa_of_texts,
    "minhash-kernel": run_minhash_kernel,
    "minhash-core": run_minhash,
    "exact-join": run_exact_join,
}


def brute_force(texts: list[str], config: MinhashConfig) -> set[tuple[int, int]]:
    """Return the positions of all pairs that reach the threshold, by comparing each pair of Python sets of strings."""
    places = [place for place, text in enumerate(texts) if text]
    sets = _tokens([texts[place] for place in places], config.shingle)
    threshold, found = config.threshold, set()
    for (one, first), (other, second) in itertools.combinations(zip(places, sets, strict=True), 2):
        # At most the whole smaller set is shared, so most pairs are ruled out by size.
        if min(len(first), len(second)) < threshold * max(len(first), len(second)):
            continue
        shared = len(first & second)
        if shared >= threshold * (len(first) + len(second) - shared):
            found.add((one, other))
    return found


def _tokens(texts: Iterable[str], size: int) -> Iterator[set[str]]:
    """Yield the shingles of each text as a set of strings."""
    for text in texts:
        yield {text[place : place + size] for place in range(max(1, len(text) - size + 1))} if text else set()


def _shingles(texts: list[str], config: MinhashConfig) -> Iterator[Ragged]:
    """Yield the hashed shingles of the texts, some texts at a time, and count the CPU seconds for making them."""
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        with _spending("shingles_cpu"):
            shingles = character_shingles(texts[start : start + _TEXTS_AT_ONCE], config.shingle)
        yield shingles


@contextmanager
def _spending(purpose: str) -> Iterator[None]:
    """Count the CPU seconds of this process in the block."""
    began = time.process_time()
    yield
    _spent[purpose] += time.process_time() - began


def _banded_pairs(corpus: Texts, signatures: list[minhash.Signatures], config: MinhashConfig) -> Found:
    """Return the pairs that our pass finds with these signatures of the articles."""
    occupied = np.array([bool(text) for text in corpus.texts])
    signed = minhash_pass._Corpus(corpus.ids, corpus.days, None, np.concatenate(signatures), occupied)
    first, last = (datetime.date.fromordinal(int(corpus.days[place])) for place in (0, -1))
    return _verified(corpus, minhash_pass._candidates(signed, Window(first, last), config), config)


def _positions(pairs: Iterable[tuple[int, int]]) -> Positions:
    left, right = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    return [(left, right)]


def _verified(corpus: Texts, candidates: Positions, config: MinhashConfig) -> Found:
    """Return the candidates that reach the threshold by the exact similarity of their shingles, as in our pass."""
    window = Window(datetime.date.min, datetime.date.max)
    verified = minhash_pass._Verifier(config, window, connection)
    rows: list[tuple[int, int, float]] = []
    for left, right in candidates:
        _spent["candidates"] += len(left)
        for start in range(0, len(left), _VERIFIED_AT_ONCE):
            chosen = slice(start, start + _VERIFIED_AT_ONCE)
            rows += verified(np.stack([corpus.ids[left[chosen]], corpus.ids[right[chosen]]]))
    return _found(rows)


def _found(rows: Iterable[tuple[int, int, float]]) -> Found:
    left, right, scores = np.array(list(rows), dtype=np.float64).reshape(-1, 3).T
    ids = np.sort(np.stack([left, right]).astype(np.int64), axis=0)
    return Found(ids[0], ids[1], scores)


# ---- the exact join over sets of hashes, by size classes: the ground truth for the minhash pass -------

_WORD_BITS = 64
# The minimum width of a size class: narrower ones would make many small tiles. Few sets are the largest of a class.
_CLASS_WIDTH = 0.9
_USUAL_SIZE = 0.85
# Of texts with 10,000 shingles, one in a hundred has two with the same 32-bit hash, and one in 10^46 has 17 such
# collisions; of texts with 100,000 shingles, one in 10^13 has 17.
COLLISIONS = 16


def hash_sets(shingles: Ragged) -> Ragged:
    """Return the distinct 32-bit hashes of each text. Sorts the shingles in place, so use them first.

    Two shingles of a text may have the same hash, so a set may be smaller than that of the text's shingles, by at most
    COLLISIONS. Use it to find candidates (candidate_pairs_by_size), not to score them.
    """
    return as_sets(Ragged(shingles.values.view(np.int32), shingles.offsets))


def candidate_pairs_by_size(
    sketches: Sketches, days: IntArray, *, day_window: int, threshold: float, collisions: int = 0
) -> Pairs:
    """Return what `candidate_tiles` yields, for pairs within the window of days; faster if sizes vary widely.

    No set is similar to one of less than `threshold` times its size. So sets are compared by size class, each class
    with itself and the next smaller one, and with as many bits as its sizes need: a sketch with fewer bits is the
    wide one, folded.

    Members may be hashes of the sets' true members, if no set loses more than `collisions` members to equal hashes.
    Then no pair of the true sets is lost. The hashes of A and B differ in at most as many members as A and B do,
    because each hash on one side only has a true member on that side only. And the bound, which rises with the
    sizes, is computed from sizes with the lost members added.
    """
    sizes = np.where(sketches.sizes > 0, sketches.sizes + collisions, 0)
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    largest = int(sizes.max(initial=0))
    while largest > 0:
        own = _next_class(largest, threshold, collisions)
        chosen = np.flatnonzero((sizes > _next_class(own, threshold, collisions)) & (sizes <= largest))
        words = _folded(sketches.words.take(chosen, axis=1), bits_for(threshold, _USUAL_SIZE * largest) // _WORD_BITS)
        earliest = np.searchsorted(days[chosen], days[chosen] - day_window).astype(np.int64)
        for one, other in candidate_tiles(Sketches(words, sizes[chosen]), PairRange(earliest, 0), threshold):
            left, right = chosen[one], chosen[other]
            first = np.maximum(sizes[left], sizes[right]) > own  # pairs within the smaller class come with that class
            found.append((left[first], right[first]))
        largest = own
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order]


def foldable(bits: int) -> int:
    """Return a number of bits, at most an eighth more than `bits`, that can be halved until few are left."""
    least = 1 << max(0, (bits // _WORD_BITS // 8).bit_length() - 1)
    return -(-bits // (least * _WORD_BITS)) * least * _WORD_BITS


def _next_class(largest: int, threshold: float, collisions: int) -> int:
    """Return the upper bound of the next smaller class: no set above `largest` is similar to one up to this."""
    return max(0, int(min(threshold - TOLERANCE, _CLASS_WIDTH) * largest) - collisions)


def _folded(words: Bits, enough: int) -> Bits:
    """Return the sketches with their bits halved repeatedly while at least `enough` words remain."""
    while len(words) % 2 == 0 and len(words) // 2 >= enough:
        words = words[: len(words) // 2] ^ words[len(words) // 2 :]
    return words


def main() -> None:
    """Run one contestant; write its pairs to a file and print the cost of its core."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("name", choices=CONTESTANTS)
    parser.add_argument("--articles", type=int)
    parser.add_argument("--prefix", type=int, default=CONFIG.prefix)
    parser.add_argument("--day-window", type=int, default=CONFIG.day_window)
    parser.add_argument("--threshold", type=float, default=CONFIG.threshold)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    settings = {"prefix": options.prefix, "day_window": options.day_window, "threshold": options.threshold}
    config = replace(CONFIG, **settings)
    wall, cpu = time.perf_counter(), time.process_time()
    found = CONTESTANTS[options.name](options.articles, config)
    core = {"core_wall": time.perf_counter() - wall, "core_cpu": time.process_time() - cpu, **_spent}
    np.savez(options.output, **found._asdict())
    print(json.dumps(core))


if __name__ == "__main__":
    main()
