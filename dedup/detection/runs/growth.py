"""How the containment pass of new articles goes on from the last run that compared all, and ends where that would end.

A shingle is common once many articles have it, so new articles change the scores of others. A run that compares all
keeps how many articles have each shingle that at least half as many have, and all pairs that share enough uncommon
shingles, whatever their score. While no shingle becomes uncommon again:

- a pair of two articles that were there shares no more than then, so it is one of the kept ones;
- its score is another one only if one of its articles, now touched, has a shingle that has become common;
- every other pair has an article that is new or has changed, and is found by comparing these with those around them.

What was kept stays as it is, and each run starts from it. Only which articles were touched is noted with the evidence:
if what touched them is gone, a later run gives their pairs the old scores. Of articles that have changed or are gone
nobody knows which shingles they had: those that may be common no more are counted, and if one is, all are compared.
"""

import dataclasses
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import QuerySet

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.processes import Pool
from dedup.detection.kernels.inverted_index import KEPT_PAIR, CountedShingles, ScoredPairs, scored_pairs, without
from dedup.detection.kernels.masked_shingles import Hashes
from dedup.detection.kernels.tokens import IntArray, begins_in, concatenated, occurring
from dedup.detection.passes.containment import ContainmentPass
from dedup.detection.passes.reading import Holders, read_fresh, read_holders, read_shingles_of
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.text_indexes import EVERYTHING
from dedup.models import DetectionRun, ShingleCounts

# If more articles than this share of all have come, or are gone, all are compared.
MOST_FRESH = 0.05
# Reading so many pays for another process.
_ARTICLES_PER_WORKER = 500_000
_PARTS = 8
_NONE = np.empty(0, dtype=np.int64)


class Growth(NamedTuple):
    """What has changed since a run that compared all.

    What that run kept; the shingles that are common now; the ids of the touched articles, ascending; and their kept
    pairs as they are now.
    """

    kept: ShingleCounts
    common: CountedShingles
    touched: IntArray
    pairs: npt.NDArray[Any]

    def of(self, scope: Scope) -> Scope:
        """Return the scope as the containment pass has to compare it."""
        name = ContainmentPass.name
        newer_than = {**(scope.newer_than or {}), name: self.kept.run.counts["newest"]}
        return dataclasses.replace(scope, newer_than=newer_than, touched={name: self.touched.tolist()})

    def scored(self, config: Any) -> tuple[ScoredPairs, IntArray]:
        """Return those of the pairs that the pass proposes, and the ids of articles by their positions."""
        pairs = self.pairs[self.pairs["shared"] >= config.minimum_shared]
        ids, places = np.unique(pairs["ends"], return_inverse=True)
        shared, sizes = (pairs[name].astype(np.int64).T for name in ("shared", "sizes"))
        return scored_pairs(places.reshape(-1, 2).T, shared, sizes).reaching(config.threshold), ids


def keep_counts(run: DetectionRun, scope: Scope, counted: CountedShingles) -> None:
    """Keep what a run that compares all has counted; its blocks add their pairs. It serves once the run is done."""
    if _has_all(scope):
        hashes, counts = (column.astype("<u4").tobytes() for column in counted[:2])
        values = {"articles": int(counted.texts.max()), "hashes": hashes, "counts": counts}
        ShingleCounts.objects.update_or_create(run=run, defaults=values)


def growth_of(run: DetectionRun, config: Any, scope: Scope, pool: Pool) -> Growth | None:
    """Return what has changed since the last run that compared all; None: all are to be compared again.

    It reads the shingles of all articles once, if any may have become common.
    """
    kept = _kept(run, scope)
    if kept is None:
        return None
    fresh, most = read_fresh(kept.run.counts["newest"], connection), config.most_articles
    unchanged = Article.objects.filter(revision__lte=kept.run.counts["newest"])
    gone = kept.articles - unchanged.count()
    if max(len(fresh), gone) > MOST_FRESH * kept.articles:
        return None
    then = CountedShingles(np.frombuffer(kept.hashes, "<u4"), np.frombuffer(kept.counts, "<u4").astype(np.int64), _NONE)
    common = then.above(most)
    doubtful = common[then.counts[then.counts > most] <= most + gone]
    asked = np.union1d(_nearly_common(then, fresh, most), doubtful)
    holders = _holders(asked, pool) if len(asked) else Holders(_NONE, asked)
    now = occurring(holders.hashes.copy(), most + 1)
    if len(np.setdiff1d(doubtful, now)):
        return None
    lost = np.isin(holders.hashes, np.setdiff1d(now, doubtful))
    ids, hashes = holders.ids[lost], holders.hashes[lost]
    touched = np.union1d(ids, np.frombuffer(kept.touched, "<i8"))
    common = np.union1d(common, hashes)
    counted = CountedShingles(common, np.full(len(common), most + 1), _NONE)
    return Growth(kept, counted, touched, without(_touched_pairs(kept, touched, unchanged), ids, hashes))


def _nearly_common(then: CountedShingles, fresh: IntArray, most: int) -> Hashes:
    """Return the shingles of fresh articles that were not common and may be so now, ascending."""
    added = np.sort(read_shingles_of(fresh.tolist(), EVERYTHING, connection).sets.values)
    starts = np.flatnonzero(begins_in(added))
    hashes, counts = added[starts], np.diff(np.append(starts, len(added)))
    before = np.full(len(hashes), most // 2)
    _, places, known = np.intersect1d(hashes, then.hashes, assume_unique=True, return_indices=True)
    before[places] = then.counts[known]
    return hashes[(before <= most) & (before + counts > most)]


def _holders(asked: Hashes, pool: Pool) -> Holders:
    """Return which articles have which of these shingles, ordered by both."""
    last = Article.objects.latest("pk").pk
    edges = [last * part // _PARTS for part in range(_PARTS + 1)]
    tasks = [(asked, ids) for ids in pairwise(edges)]
    found = dict(pool.results(tasks, find_holders, at_most=max(1, last // _ARTICLES_PER_WORKER)))
    return concatenated([found[place] for place in range(_PARTS)])


def find_holders(task: tuple[Hashes, tuple[int, int]], _on_read: Callable[[int], None]) -> Holders:
    """Return which articles of a range of ids have which shingles, in any process."""
    return read_holders(task[0], EVERYTHING, connection, task[1])


def _touched_pairs(kept: ShingleCounts, touched: IntArray, unchanged: QuerySet[Article]) -> npt.NDArray[Any]:
    """Return the kept pairs of two articles that are still there as they were, at least one of them touched."""
    rows = kept.kept.values_list("pairs", flat=True)
    pairs = np.concatenate([np.empty(0, KEPT_PAIR), *(np.frombuffer(row, KEPT_PAIR) for row in rows)])
    pairs = pairs[np.isin(pairs["ends"], touched).any(axis=1)]
    there = unchanged.filter(pk__in=np.unique(pairs["ends"]).tolist()).values_list("pk", flat=True)
    return pairs[np.isin(pairs["ends"], np.array(there, dtype=np.int64)).all(axis=1)]


def _kept(run: DetectionRun, scope: Scope) -> ShingleCounts | None:
    """Return what the last run that compared all has kept, if it had the settings of this one."""
    name = ContainmentPass.name
    kept = ShingleCounts.objects.filter(run__state=DetectionRun.State.DONE).select_related("run").last()
    if kept is None or not _has_all(scope) or name in scope.unchanged or name not in (scope.newer_than or {}):
        return None
    same = kept.run.config[name] == run.config[name] and kept.run.scope["rules"] == run.scope["rules"]
    return kept if same else None


def _has_all(scope: Scope) -> bool:
    return scope.boilerplate is Mode.KEEP and all(bound is None for bound in scope.bounds().values())
