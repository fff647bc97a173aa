"""The whole job of each rival, in a process of its own: `python -m benchmarks.rival_jobs NAME FILE.jsonl.gz PAIRS.npy`.

Each is written as its documentation shows, from the file to the pairs, with its own defaults where it has any. All read
the same lower-case words. The articles of the file are in order of date; a pair is the places of two, from 0. Nothing
of newsdedup is imported, whose start would count as theirs.
"""
# ruff: noqa: PLC0415 - each job loads only its own library

import datetime
import functools
import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

THRESHOLD = 0.75  # of Jaccard and cosine
PERMUTATIONS = 128
SHINGLE = 5  # characters
DAY_WINDOW = 3
_SEED = 42
# Of rensa: three standard deviations of an estimate by the permutations below the threshold.
_ESTIMATE = THRESHOLD - 3 * (THRESHOLD * (1 - THRESHOLD) / PERMUTATIONS) ** 0.5
_ROWS_AT_ONCE = 100
# Of Splink. Each of a text's words sets one bit: DuckDB compares these in 5 us a pair, and lists of words in 100.
_BITS = 1 << 13
_SHARE = "bit_count(words_l::BIT & words_r::BIT) / bit_count(words_l::BIT | words_r::BIT)"

Pairs = Iterable[tuple[int, int]]


class Article(NamedTuple):
    """An article: its day as a number, and its lower-case words, with a blank between two."""

    day: int
    headline: str
    text: str


def read(path: str) -> Iterator[Article]:
    """Yield the articles of a file in the import format."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for fields in map(json.loads, lines):
            words = (" ".join(re.findall(r"\w+", fields[name].lower())) for name in ("headline", "content"))
            yield Article(datetime.date.fromisoformat(fields["date"]).toordinal(), *words)


def datasketch(articles: list[Article]) -> Pairs:
    """MinHash.generator over shingles as bytes, and MinHashLSH with its own bands for the threshold."""
    from datasketch import MinHash, MinHashLSH

    index, candidates = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS), set()
    tokens = ([shingle.encode() for shingle in shingles(article)] for article in articles)
    for place, signed in enumerate(MinHash.generator(tokens, num_perm=PERMUTATIONS)):
        candidates |= {(other, place) for other in index.query(signed)}
        index.insert(place, signed)
    return verified(articles, candidates)


def rensa(articles: list[Article]) -> Pairs:
    """RMinHash.from_token_sets and RMinHashLSH with bands of 4, which lose least of those that divide the permutations.

    They give many candidates, of which only those are verified that rensa itself estimates near the threshold.
    """
    from rensa import RMinHash, RMinHashLSH

    signed = RMinHash.from_token_sets((list(shingles(article)) for article in articles), PERMUTATIONS, _SEED)
    index = RMinHashLSH(THRESHOLD, PERMUTATIONS, PERMUTATIONS // 4)
    index.insert_many(signed)
    pairs = ((one, other) for one, others in enumerate(index.query_all(signed)) for other in others if one < other)
    return verified(articles, {(one, other) for one, other in pairs if signed[one].jaccard(signed[other]) >= _ESTIMATE})


def shingles(article: Article) -> set[str]:
    """Return the shingles of a text; a shorter text is its only one."""
    return {article.text[place : place + SHINGLE] for place in range(max(1, len(article.text) - SHINGLE + 1))}


def verified(articles: list[Article], candidates: set[tuple[int, int]]) -> Pairs:
    """Yield the candidates whose Jaccard similarity reaches the threshold. Few sets are in memory at a time."""
    of = functools.lru_cache(maxsize=1_000)(lambda place: shingles(articles[place]))
    for one, other in sorted(candidates):
        if len(of(one) & of(other)) >= THRESHOLD * len(of(one) | of(other)):
            yield one, other


def tfidf(articles: list[Article], days: int = DAY_WINDOW) -> Pairs:
    """TfidfVectorizer with its defaults, whose rows have length 1, so that their products are cosines.

    The product of some rows at a time with all that are near enough: that of all rows would not fit in memory.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer().fit_transform([article.text for article in articles])
    dated = np.array([article.day for article in articles])
    for start in range(0, len(articles), _ROWS_AT_ONCE):
        some = dated[start : start + _ROWS_AT_ONCE]
        end = np.searchsorted(dated, some[-1] + days, side="right")
        likeness = (vectors[start : start + len(some)] @ vectors[start:end].T).tocoo()
        likely = likeness.data >= THRESHOLD
        left, right = likeness.row[likely] + start, likeness.col[likely] + start
        near = (left < right) & (dated[right] - dated[left] <= days)
        yield from zip(left[near].tolist(), right[near].tolist(), strict=True)


def splink(articles: list[Article]) -> Pairs:
    """A model of Fellegi and Sunter on DuckDB, of headlines and words.

    Articles are compared if they are at most DAY_WINDOW days apart, or have the same first words of headline or text.
    EM learns from the latter: of the pairs that it sees, between 1 and 99 per cent should be matches.
    """
    import pyarrow as pa
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on
    from splink.comparison_level_library import CustomLevel, ElseLevel
    from splink.comparison_library import CustomComparison, JaroWinklerAtThresholds

    columns = {
        "unique_id": list(range(len(articles))),
        "days": [list(range(article.day, article.day + DAY_WINDOW + 1)) for article in articles],
        "headline": [article.headline for article in articles],
        "headed": [" ".join(article.headline.split()[:4]) or None for article in articles],
        "begins": [" ".join(article.text.split()[:8]) or None for article in articles],
        "words": [_bits(article.text.split()) for article in articles],
    }
    levels = [CustomLevel(f"{_SHARE} >= {share}", f"Jaccard of words >= {share}") for share in (0.9, 0.7, 0.5)]
    near, *same = block_on("days", arrays_to_explode=["days"]), block_on("headed"), block_on("begins")
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            JaroWinklerAtThresholds("headline", [0.9, 0.7]),
            CustomComparison([*levels, ElseLevel()], "words"),
        ],
        blocking_rules_to_generate_predictions=[near, *same],
        retain_matching_columns=False,
    )
    linker = Linker(DuckDBAPI().register(pa.table(columns)), settings)
    linker.training.estimate_probability_two_random_records_match([block_on("headline"), block_on("begins")], 0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=_SEED)
    for rule in same:
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.5).as_pyarrow_table()
    return zip(found["unique_id_l"].to_pylist(), found["unique_id_r"].to_pylist(), strict=True)


def _bits(words: list[str]) -> bytes:
    bits = np.zeros(_BITS, dtype=bool)
    bits[[zlib.crc32(word.encode()) % _BITS for word in words]] = True
    return np.packbits(bits).tobytes()


# By their names in the table.
JOBS: dict[str, Callable[[list[Article]], Pairs]] = {
    "datasketch": datasketch,
    "rensa": rensa,
    "Splink": splink,
    "TF-IDF, ±3 days": tfidf,
    "TF-IDF": functools.partial(tfidf, days=datetime.date.max.toordinal()),
}

if __name__ == "__main__":
    pairs = JOBS[sys.argv[1]](list(read(sys.argv[2])))
    np.save(sys.argv[3], np.sort(np.array(list(pairs), dtype=np.int64).reshape(-1, 2), axis=1))
