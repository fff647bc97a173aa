"""Whether clusters are what verdicts and decisions connect, and questions cover what waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import LiteralString

from dedup.detection.clustering.changes import changed_since_rebuilt
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.clustering.questions import Subject, all_questions, expected_counts
from dedup.detection.clustering.rebuild import ExpectedCluster, differs, expected_clusters
from dedup.models import Cluster, Membership, Pair, QuestionCount
from newsdedup_site.doctor.invariant import FULL_RUN, Found, Invariant, Sample, by, listed

_SIZES_SQL: LiteralString = """
WITH counted AS (
    SELECT cluster.id, cluster.size, count(member.id) AS members,
        bool_or(member.article_id = cluster.kept_id) AS has_kept
    FROM dedup_cluster AS cluster
    LEFT JOIN dedup_membership AS member ON member.cluster_id = cluster.id
    GROUP BY cluster.id
)
SELECT count(*) OVER (), format('cluster %s has %s articles and the size %s%s', id, members, size,
    CASE WHEN has_kept IS TRUE THEN '' ELSE ', and its article to keep is not one of them' END)
FROM counted
WHERE members <> size OR members < 2 OR has_kept IS NOT TRUE
LIMIT 10
"""
_CHANGED = "The next run rebuilds all clusters and questions: there was none yet, or a setting has changed."


@dataclass(frozen=True, slots=True)
class _Settled:
    """Which articles belong to no cluster that the next run rebuilds anyway."""

    unsettled: Collection[int]

    def __contains__(self, article: object) -> bool:
        return article not in self.unsettled


def _settled(groups: Iterable[Sequence[int]]) -> _Settled | None:
    """Return which articles are settled: nothing that has changed connects to them. None if none is.

    `groups` are the articles that hang together for other reasons than their pairs and links.
    """
    changed = changed_since_rebuilt()
    if changed is None:
        return None
    if not changed:
        return _Settled(frozenset())
    constraints = constraints_in_force()
    joined = Pair.objects.proposed().filter(joins=True).order_by().values_list("left", "right")
    neighbours: defaultdict[int, set[int]] = defaultdict(set)
    for group in (*joined.iterator(), *constraints.must, *constraints.stay, *groups):
        for one, other in pairwise(group):
            neighbours[one].add(other)
            neighbours[other].add(one)
    reached, frontier = set(changed), set(changed)
    while frontier:
        frontier = {neighbour for article in frontier for neighbour in neighbours.get(article, ())} - reached
        reached |= frontier
    return _Settled(reached)


def _stored_members() -> dict[int, tuple[int, ...]]:
    members: defaultdict[int, list[int]] = defaultdict(list)
    for article, cluster in Membership.objects.order_by("article").values_list("article", "cluster"):
        members[cluster].append(article)
    return {cluster: tuple(articles) for cluster, articles in members.items()}


def _clusters(_sample: Sample) -> Found:
    stored, expected = _stored_members(), expected_clusters()
    settled = _settled([*stored.values(), *(cluster.articles for cluster in expected)])
    if settled is None:
        return Found(waiting=_CHANGED)
    return listed(_wrong(stored, {cluster.articles: cluster for cluster in expected}, settled))


def _wrong(
    stored: Mapping[int, tuple[int, ...]], expected: Mapping[tuple[int, ...], ExpectedCluster], settled: _Settled
) -> Iterator[str]:
    rows = Cluster.objects.in_bulk()
    for number, articles in sorted(stored.items()):
        if articles[0] in settled and articles not in expected:
            yield f"cluster {number} has the articles {_few(articles)}, which nothing holds together so"
        elif articles[0] in settled and number in rows and differs(rows[number], expected[articles].row):
            yield f"cluster {number} is stored as {_facts(rows[number])}, and is {_facts(expected[articles].row)}"
    known = set(stored.values())
    for articles in expected:
        if articles[0] in settled and articles not in known:
            yield f"articles {_few(articles)} are one cluster, and are not stored as one"


def _few(articles: Sequence[int]) -> str:
    shown = ", ".join(map(str, articles[:5]))
    return shown if len(articles) <= 5 else f"{shown} and {len(articles) - 5:,} more"


def _facts(row: Cluster) -> str:
    return (
        f"{row.state}, {row.size} articles of {row.first_day} to {row.last_day}, article {row.kept_id} to keep, "
        f"lowest score {row.lowest_score:.6f}"
    )


def _questions(_sample: Sample) -> Found:
    settled = _settled(_stored_members().values())
    if settled is None:
        return Found(waiting=_CHANGED)
    stored, expected = all_questions()
    subjects = sorted(
        (subject for subject in stored.keys() | expected.keys() if stored.get(subject) != expected.get(subject)),
        key=lambda subject: (subject[0] or 0, subject[1] or 0),
    )
    ends = _articles_of(subjects)
    return listed(
        _difference(subject, stored=subject in stored, expected=subject in expected)
        for subject in subjects
        if all(article in settled for article in ends.get(subject, ()))
    )


def _difference(subject: Subject, *, stored: bool, expected: bool) -> str:
    pair, cluster = subject
    name = f"pair {pair}" if pair else f"cluster {cluster}"
    if stored and expected:
        return f"{name} is asked about, and its question says something else than is stored"
    return f"{name} waits, and no question covers it" if expected else f"{name} has a question, and nothing to ask"


def _articles_of(subjects: Collection[Subject]) -> dict[Subject, tuple[int, ...]]:
    """Return the two articles of each pair, and one of each cluster."""
    pairs = Pair.objects.in_bulk([pair for pair, _ in subjects if pair])
    members = Membership.objects.filter(cluster__in=[cluster for _, cluster in subjects if cluster])
    found: dict[Subject, tuple[int, ...]] = {(pk, None): (pair.left_id, pair.right_id) for pk, pair in pairs.items()}
    return found | {(None, cluster): (article,) for article, cluster in members.values_list("article", "cluster")}


def _counts(_sample: Sample) -> Found:
    expected, stored = expected_counts(), dict(QuestionCount.objects.values_list("tab", "number"))
    return listed(
        f"the tab {tab} has {expected.get(tab, 0):,} questions, and {stored.get(tab, 0):,} are counted"
        for tab in sorted(expected.keys() | stored.keys())
        if expected.get(tab, 0) != stored.get(tab, 0)
    )


INVARIANTS = (
    Invariant(
        "cluster-sizes", "A cluster has as many articles as it says, and keeps one of them.", FULL_RUN, by(_SIZES_SQL)
    ),
    Invariant("clusters", "Clusters are what verdicts connect and decisions allow.", FULL_RUN, _clusters),
    Invariant("questions", "Each pair that waits is covered by one question.", FULL_RUN, _questions),
    Invariant("question-counts", "The tabs of the queue count its questions.", FULL_RUN, _counts),
)
