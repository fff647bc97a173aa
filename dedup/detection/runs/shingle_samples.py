"""Samples of the shingles of all articles, in which the articles are looked up that have some of a text.

They are stored by the thousands of articles, as sorted numbers. Reading all of them, some 40 MB for 100,000 articles,
takes a tenth of a second; writing them, a hundredth of what an index takes that has an entry for each.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

import numpy as np
from django.db import connection, transaction
from django.db.models import Count, Sum

from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets, samples_of
from dedup.detection.kernels.tokens import IntArray, joined
from dedup.detection.passes.reading import read_holders, shingles_by_id
from dedup.detection.types import Window
from dedup.models import ArticleShingles, ShingleSample

# Batches of articles whose samples are one row, when all are made again.
_BATCHES = 4
# All are made again if they have more articles that have changed since, or rows, than these and a share of all.
_MOST_OLDER = 20_000
_MOST_ROWS, _ARTICLES_PER_ROW = 500, 500

_EVERYTHING = Window(datetime.date.min, datetime.date.max)
_SQL = "COPY (SELECT articles, hashes, owners FROM dedup_shinglesample ORDER BY id) TO STDOUT (FORMAT binary)"


def store_samples(articles: IntArray, sets: ShingleSets) -> None:
    """Store the samples of the shingles of some articles, at most 65,536; those stored before do no harm."""
    samples = samples_of(sets)
    owners = np.repeat(np.arange(len(articles), dtype=np.uint64), samples.sizes)
    keys = np.sort(samples.values.astype(np.uint64) << np.uint64(16) | owners)
    ShingleSample.objects.create(
        count=len(articles),
        articles=articles.astype("<i8").tobytes(),
        hashes=(keys >> np.uint64(16)).astype("<u4").tobytes(),
        owners=keys.astype("<u2").tobytes(),
    )


def complete_samples() -> None:
    """Make all samples again if some are missing, or if there are many of earlier texts of articles."""
    known = ArticleShingles.objects.count()
    stored = ShingleSample.objects.aggregate(rows=Count("id"), articles=Sum("count"))
    articles = stored["articles"] or 0
    most_rows = _MOST_ROWS + known // _ARTICLES_PER_ROW
    if known <= articles <= 2 * known + _MOST_OLDER and stored["rows"] <= most_rows:
        return
    with transaction.atomic():
        ShingleSample.objects.all().delete()
        batches = shingles_by_id(_EVERYTHING, connection)
        while parts := list(islice(batches, _BATCHES)):
            store_samples(np.concatenate([part.ids for part in parts]), joined([part.sets for part in parts]))


def holders(hashes: Hashes, most: int) -> dict[int, list[int]]:
    """Return the articles that have, or had, each of these sampled shingles: at most so many of each.

    The hashes are ascending and distinct. Before the first run of this version, it reads all shingles instead.
    """
    found: defaultdict[int, dict[int, None]] = defaultdict(dict)
    for ids, values in _found(hashes):
        for article, value in zip(ids.tolist(), values.tolist(), strict=True):
            if len(found[value]) < most:
                found[value][article] = None
    return {value: list(articles) for value, articles in found.items()}


def _found(hashes: Hashes) -> Iterator[tuple[IntArray, Hashes]]:
    """Yield articles with a shingle that each of them has or had."""
    if not ShingleSample.objects.exists():
        yield read_holders(hashes, _EVERYTHING, connection)
        return
    with connection.cursor() as cursor, cursor.copy(_SQL) as copy:
        copy.set_types(("bytea", "bytea", "bytea"))
        for articles, stored, owners in copy.rows():
            values = np.frombuffer(stored, dtype="<u4")
            firsts = np.searchsorted(values, hashes)
            counts = np.searchsorted(values, hashes, side="right") - firsts
            behind = np.cumsum(counts) - counts
            places = np.repeat(firsts - behind, counts) + np.arange(counts.sum())
            ids = np.frombuffer(articles, dtype="<i8")[np.frombuffer(owners, dtype="<u2")[places]]
            yield ids, values[places]
