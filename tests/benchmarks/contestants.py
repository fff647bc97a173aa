"""Who is measured, each in a process of its own: `python -m tests.benchmarks.contestants NAME --output FILE.npz`.

The passes run as a user runs them, by `manage.py find_duplicates`. What stands here is the rest: datasketch and rensa,
each in the fastest form that its documentation names, and the two kernels of this project without the command
around them. All of them read the same texts by one query, make the same shingles by the same function, and verify
by the same exact Jaccard similarity. From the first text read to the last pair verified, a process
counts its own CPU seconds: the "core" of the tables, in which neither start-up nor storing has a part.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import django
import numpy as np
import numpy.typing as npt
from django.db import connection

from dedup import lsh, sketches
from dedup.passes.minhash import MinhashConfig, MinhashPass
from dedup.shingles import IntArray, Ragged, character_shingle_sets
from dedup.types import Window

CONFIG = MinhashConfig()
DAY_WINDOW = 3
_SEED = 42
_TEXTS_AT_ONCE = 500
_VERIFIED_AT_ONCE = 2_000
_SAMPLE_SETS = 3_000
# CPU seconds of this process by what they went into.
_spent = {"shingles_cpu": 0.0}

_TEXTS_SQL = """
SELECT id, date, left(normalized_text, %(prefix)s) FROM articles_article ORDER BY date, id LIMIT %(articles)s
"""


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


def read_texts(articles: int | None) -> Texts:
    """Return the first articles of the corpus; None: all."""
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS_SQL, {"prefix": CONFIG.prefix, "articles": articles})
        ids, days, texts = zip(*cursor.fetchall(), strict=True)
    return Texts(np.array(ids, dtype=np.int64), np.array([day.toordinal() for day in days]), list(texts))


def run_datasketch(articles: int | None) -> Found:
    """MinHash.bulk over shingles that are hashed already, MinHashLSH with its own choice of bands for the threshold.

    Of each 56-bit hash the upper 32 bits are taken, which its default scheme wants, and `int` is the
    hash function: the cheapest that it can be given.
    """
    corpus = read_texts(articles)
    parts = ((sets.offsets, (sets.values >> 24).astype(np.uint32)) for sets in _sets_in_parts(corpus.texts))
    lists = (hashes[start:stop].tolist() for offsets, hashes in parts for start, stop in itertools.pairwise(offsets))
    return _datasketch_pairs(corpus, lists, hashfunc=int)


def run_datasketch_of_texts(articles: int | None) -> Found:
    """Datasketch alone, of shingles as bytes, with the hash function that it takes by default."""
    corpus = read_texts(articles)
    return _datasketch_pairs(corpus, ([token.encode() for token in each] for each in _tokens(corpus.texts)))


def _datasketch_pairs(corpus: Texts, lists: Iterable[list[Any]], **options: Any) -> Found:
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415 - of the extra `benchmarks`

    index = MinHashLSH(threshold=CONFIG.threshold, num_perm=CONFIG.slots)
    candidates = set()
    for number, minhash in enumerate(MinHash.generator(lists, num_perm=CONFIG.slots, seed=_SEED, **options)):
        # Asked before it is inserted, each pair comes once.
        candidates |= {(other, number) for other in index.query(minhash)}
        index.insert(number, minhash, check_duplication=False)
    return _verified(corpus, np.array(sorted(candidates), dtype=np.int64).reshape(-1, 2).T)


def run_rensa(articles: int | None) -> Found:
    """digest_matrix_from_flat_token_hashes: rensa's cheapest call, of flat arrays of shingles that are hashed already.

    rensa itself pairs only what it hashed itself, so the matrix is banded here, by the code and with the
    bands of our own pass, which is cheaper than its index.
    """
    import rensa  # noqa: PLC0415 - of the extra `benchmarks`

    corpus = read_texts(articles)
    digests = []
    for sets in _sets_in_parts(corpus.texts):
        flat, offsets = sets.values.view(np.uint64), sets.offsets.astype(np.uint64)
        matrix = rensa.RMinHash.digest_matrix_from_flat_token_hashes(flat, offsets, CONFIG.slots, _SEED)
        digests.append(np.array(matrix.to_rows(), dtype=np.uint32))
    return _banded_pairs(corpus, digests)


def _banded_pairs(corpus: Texts, signatures: list[lsh.Signatures]) -> Found:
    rows = lsh.rows_per_band(CONFIG.slots, CONFIG.threshold, CONFIG.recall)
    keys = np.concatenate([lsh.band_keys(part, rows) for part in signatures], axis=1)
    occupied = np.flatnonzero([bool(text) for text in corpus.texts])
    return _verified(corpus, np.stack(lsh.candidate_pairs(keys, occupied)))


def run_rensa_of_texts(articles: int | None) -> Found:
    """Rensa alone, of shingles as strings: from_token_sets, insert_many and query_all.

    Its bands must divide the permutations: 4 rows, the most with a recall of at least that of our pass.
    """
    import rensa  # noqa: PLC0415 - as above

    corpus = read_texts(articles)
    tokens = (list(each) for each in _tokens(corpus.texts))
    minhashes = rensa.RMinHash.from_token_sets(tokens, CONFIG.slots, _SEED)
    index = rensa.RMinHashLSH(CONFIG.threshold, CONFIG.slots, CONFIG.slots // 4)
    index.insert_many(minhashes)
    likely = enumerate(index.query_all(minhashes))
    pairs = np.array(sorted((one, other) for one, others in likely for other in others if one < other), dtype=np.int64)
    return _verified(corpus, pairs.reshape(-1, 2).T)


def run_minhash_kernel(articles: int | None) -> Found:
    """The one-permutation signatures of lsh.py in the place of rensa's, all else alike."""
    corpus = read_texts(articles)
    return _banded_pairs(corpus, [lsh.signatures(sets, CONFIG.slots) for sets in _sets_in_parts(corpus.texts)])


def run_exact_join(articles: int | None, *, day_window: int = DAY_WINDOW) -> Found:
    """The exact join of sketches.py over the same shingles, inside the window."""
    corpus = read_texts(articles)
    parts = list(_sets_in_parts(corpus.texts))
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([part.sizes for part in parts]))])
    sets = Ragged(np.concatenate([part.values for part in parts]), offsets)
    del parts
    bits = sketches.bits_for(CONFIG.threshold, float(np.quantile(sets.sizes, 0.9)))
    sketched = sketches.sketch(sets, sketches.deal_buckets(sets.head(_SAMPLE_SETS), bits), bits)
    earliest = np.searchsorted(corpus.days, corpus.days - day_window).astype(np.int64)
    left, right = sketches.candidate_pairs(sketched, sketches.Reach(earliest, 0), CONFIG.threshold)
    scores = sketches.jaccard_of_hashed(sets, left, right)
    reached = scores >= CONFIG.threshold
    return Found(corpus.ids[left[reached]], corpus.ids[right[reached]], scores[reached])


def run_all_time_join(articles: int | None) -> Found:
    """The exact join without a window: the truth that the others are held against."""
    return run_exact_join(articles, day_window=CONFIG.day_window)


def run_minhash(_articles: int | None) -> Found:
    """The find() of the minhash pass, without the command around it."""
    from articles.models import Article  # noqa: PLC0415 - Django is set up by now

    days = Article.objects.order_by("date").values_list("date", flat=True)
    window = Window(days.first(), days.last())
    rows = [(each.left, each.right, each.score) for each in MinhashPass().find(window, CONFIG, connection)]
    left, right, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return Found(np.array(left, dtype=np.int64), np.array(right, dtype=np.int64), np.array(scores, dtype=np.float64))


CONTESTANTS: dict[str, Callable[[int | None], Found]] = {
    "datasketch": run_datasketch,
    "datasketch-texts": run_datasketch_of_texts,
    "rensa": run_rensa,
    "rensa-texts": run_rensa_of_texts,
    "exact-join": run_exact_join,
    "minhash-kernel": run_minhash_kernel,
    "minhash-core": run_minhash,
    "truth": run_all_time_join,
}


def brute_force(texts: list[str], threshold: float) -> set[tuple[int, int]]:
    """Return the positions of all pairs that reach the threshold: Python's own sets of strings, each pair compared."""
    places = [place for place, text in enumerate(texts) if text]
    sets = _tokens([texts[place] for place in places])
    found = set()
    for (one, first), (other, second) in itertools.combinations(zip(places, sets, strict=True), 2):
        # The smaller set cannot share more than all of it: most pairs need no look at their shingles.
        if min(len(first), len(second)) < threshold * max(len(first), len(second)):
            continue
        shared = len(first & second)
        if shared >= threshold * (len(first) + len(second) - shared):
            found.add((one, other))
    return found


def _tokens(texts: Iterable[str]) -> Iterator[set[str]]:
    """Yield the shingles of each text as Python makes them."""
    size = CONFIG.shingle
    for text in texts:
        yield {text[place : place + size] for place in range(max(1, len(text) - size + 1))} if text else set()


def _sets_in_parts(texts: list[str]) -> Iterator[Ragged]:
    """Yield the shingles of the texts, and keep count of what making them costs."""
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        began = time.process_time()
        sets = character_shingle_sets(texts[start : start + _TEXTS_AT_ONCE], CONFIG.shingle)
        _spent["shingles_cpu"] += time.process_time() - began
        yield sets


def _verified(corpus: Texts, candidates: IntArray) -> Found:
    """Return those of the candidates, pairs of positions, that reach the threshold, by their exact similarity."""
    kept = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))]
    for start in range(0, candidates.shape[1], _VERIFIED_AT_ONCE):
        chosen = candidates[:, start : start + _VERIFIED_AT_ONCE]
        positions, places = np.unique(chosen, return_inverse=True)
        sets = character_shingle_sets([corpus.texts[each] for each in positions], CONFIG.shingle)
        scores = sketches.jaccard_of_hashed(sets, *places.reshape(chosen.shape))
        reached = scores >= CONFIG.threshold
        kept.append((*np.sort(corpus.ids[chosen[:, reached]], axis=0), scores[reached]))
    return Found(*(np.concatenate(column) for column in zip(*kept, strict=True)))


def main() -> None:
    """Run one contestant; write its pairs to a file and print what its core cost."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("name", choices=CONTESTANTS)
    parser.add_argument("--articles", type=int)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    wall, cpu = time.perf_counter(), time.process_time()
    found = CONTESTANTS[options.name](options.articles)
    core = {"core_wall": time.perf_counter() - wall, "core_cpu": time.process_time() - cpu, **_spent}
    np.savez(options.output, **found._asdict())
    print(json.dumps(core))


if __name__ == "__main__":
    main()
