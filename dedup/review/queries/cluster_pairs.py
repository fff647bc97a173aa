"""The pairs of a cluster that an editor must look at: the weakest, those judged apart, those left out, and conflicts.

Written as SQL that starts from the cluster's articles: PostgreSQL expects a large cluster to be small, and given the
choice would look up every two of its articles.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from articles.models import Article, in_order
from dedup.answers import PARTED_STATES, PARTING
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.models import Cluster, Membership, Pair, Verdict
from dedup.models.base import read_rows

APART_SHOWN = 5
# So many are read to find those that look the same.
_APART_READ = 200
LEFT_OUT_SHOWN = 5
CONTRADICTIONS_SHOWN = 50


class Apart(NamedTuple):
    """The undecided pairs of a cluster that were judged templates or merely similar; the most certain are listed.

    Of pairs with the same headlines and the same verdict, one is listed, with how many others look like it.
    """

    templates: int
    similar: int
    pairs: list[tuple[Pair, int]]


class Contradiction(NamedTuple):
    """Two articles of a cluster that a decision in force separates; `pair_id` is None if no pass found the pair."""

    left: int
    right: int
    headlines: tuple[str, str]
    pair_id: int | None


# Uses the unique index on (left_id, right_id), and that of the memberships on article_id.
_INSIDE_SQL = """
WITH from_left AS MATERIALIZED (
    SELECT pair.id, pair.right_id, pair.joins, pair.verdict, pair.probability, pair.state
    FROM dedup_membership AS member
    JOIN dedup_pair AS pair ON pair.left_id = member.article_id
    WHERE member.cluster_id = %(cluster)s AND pair.best_score > 0
        AND (pair.joins AND pair.probability = %(lowest)s AND pair.state <> ALL (%(parted)s)
             OR pair.state = 'undecided' AND pair.verdict IN ('template', 'similar'))
), inside AS MATERIALIZED (
    SELECT from_left.*
    FROM from_left
    JOIN dedup_membership AS member ON member.article_id = from_left.right_id
    WHERE member.cluster_id = %(cluster)s
)
(SELECT 'weakest' AS kind, id, 1 AS number FROM inside WHERE joins ORDER BY id LIMIT 1)
UNION ALL
SELECT verdict, NULL, count(*) FROM inside WHERE NOT joins GROUP BY verdict
UNION ALL
(SELECT 'apart', id, 1 FROM inside WHERE NOT joins ORDER BY probability DESC, id LIMIT %(shown)s)
"""


def pairs_inside(cluster: Cluster) -> tuple[Pair | None, Apart]:
    """Return the pair with the lowest probability that connects a cluster, and the pairs judged apart."""
    bounds = {"lowest": cluster.lowest_score, "shown": _APART_READ, "parted": PARTED_STATES}
    rows = read_rows(_INSIDE_SQL, cluster=cluster.pk, **bounds)
    counts = {kind: number for kind, pk, number in rows if pk is None}
    pairs = Pair.objects.with_articles().in_bulk([pk for _, pk, _ in rows if pk])
    weakest = next((pairs[pk] for kind, pk, _ in rows if kind == "weakest"), None)
    apart = [pairs[pk] for kind, pk, _ in rows if kind == "apart"]
    templates, similar = (counts.get(verdict, 0) for verdict in (Verdict.TEMPLATE, Verdict.SIMILAR))
    return weakest, Apart(templates, similar, _distinct(apart)[:APART_SHOWN])


def _distinct(pairs: list[Pair]) -> list[tuple[Pair, int]]:
    """Return the first pair of each line that a page would show, in order, with how many more would be the same."""
    lines: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        lines.setdefault((*sorted((pair.left.headline, pair.right.headline)), pair.verdict), []).append(pair)
    return [(same[0], len(same) - 1) for same in lines.values()]


_LEFT_OUT_SQL = """
WITH crossing AS (
    SELECT pair.id, pair.probability, pair.state, pair.best_score, pair.right_id AS outside
    FROM dedup_membership AS member
    JOIN dedup_pair AS pair ON pair.left_id = member.article_id AND pair.joins
    WHERE member.cluster_id = %(cluster)s
    UNION ALL
    SELECT pair.id, pair.probability, pair.state, pair.best_score, pair.left_id
    FROM dedup_membership AS member
    JOIN dedup_pair AS pair ON pair.right_id = member.article_id AND pair.joins
    WHERE member.cluster_id = %(cluster)s
)
SELECT crossing.id, other.cluster_id
FROM crossing
LEFT JOIN dedup_membership AS other ON other.article_id = crossing.outside
WHERE crossing.best_score > 0 AND crossing.state <> ALL (%(parted)s)
    AND other.cluster_id IS DISTINCT FROM %(cluster)s
ORDER BY crossing.probability DESC, crossing.id
LIMIT %(shown)s
"""


def pairs_left_out(cluster: Cluster) -> tuple[list[Pair], list[Cluster]]:
    """Return the most probable pairs that join an article of a cluster with one that is not in it, and its clusters."""
    rows = read_rows(_LEFT_OUT_SQL, cluster=cluster.pk, shown=LEFT_OUT_SHOWN, parted=PARTED_STATES)
    pairs = Pair.objects.with_articles().in_bulk([pk for pk, _ in rows])
    near = Cluster.objects.with_kept().in_bulk({number for _, number in rows if number})
    return [pairs[pk] for pk, _ in rows], [near[number] for number in dict.fromkeys(n for _, n in rows) if number]


# What decisions said against two articles of one cluster; later ones may say otherwise. Uses index link_latest.
_SAID_AGAINST_SQL = """
WITH from_left AS MATERIALIZED (
    SELECT link.left_id, link.right_id
    FROM dedup_membership AS member
    JOIN dedup_link AS link ON link.left_id = member.article_id
    WHERE member.cluster_id = %(cluster)s AND link.kind = ANY (%(parting)s)
)
SELECT DISTINCT from_left.left_id, from_left.right_id
FROM from_left
JOIN dedup_membership AS member ON member.article_id = from_left.right_id
WHERE member.cluster_id = %(cluster)s
"""


def contradictions_in(cluster: Cluster) -> tuple[list[Contradiction], int]:
    """Return the contradictions among the articles of a cluster, and how many more there are."""
    said = set(read_rows(_SAID_AGAINST_SQL, cluster=cluster.pk, parting=[answer.link for answer in PARTING]))
    if not said:
        return [], 0
    parted = [ends for ends in constraints_in_force({end for pair in said for end in pair}).cannot if ends in said]
    shown = parted[:CONTRADICTIONS_SHOWN]
    ends = {end for pair in shown for end in pair}
    headlines = dict(Article.objects.filter(pk__in=ends).order_by().values_list("pk", "headline"))
    pairs = Pair.objects.among(ends).order_by().values_list("left", "right", "pk")
    numbers = {(left, right): pk for left, right, pk in pairs}
    found = [Contradiction(*both, (headlines[both[0]], headlines[both[1]]), numbers.get(both)) for both in shown]
    return found, len(parted) - len(shown)


class Conflict(NamedTuple):
    """Two articles that would come together and must not: by a decision, by their pair, or because they have none."""

    left: Article
    right: Article
    decided: bool
    pair: Pair | None


def conflict_between(pair: Pair, earlier_cluster: int | None, later_cluster: int | None) -> Conflict | None:
    """Return what keeps the clusters of a pair apart, or the articles that are in none; None if nothing does any more.

    A decision comes before a pair that was judged, the least alike first, and that before one that no pass proposed.
    """
    one, other = _part(earlier_cluster, pair.earlier.pk), _part(later_cluster, pair.later.pk)
    pairs = {(row.left_id, row.right_id): row for row in Pair.objects.among([*one, *other]).proposed()}
    ends = {(min(both), max(both)) for both in product(one, other)}
    decided = [both for both in constraints_in_force({*one, *other}).cannot if both in ends]
    unlike = [both for both in ends & pairs.keys() if not pairs[both].joins]
    unlike.sort(key=lambda both: (pairs[both].duplicate_probability or 0.0, both))
    found = next(iter([*decided, *unlike, *sorted(ends - pairs.keys())]), None)
    if found is None:
        return None
    articles = in_order(*Article.objects.in_bulk(found).values())
    return Conflict(*articles, found in decided, pairs.get(found))


def _part(cluster: int | None, article: int) -> list[int]:
    if cluster is None:
        return [article]
    return list(Membership.objects.filter(cluster=cluster).order_by().values_list("article", flat=True))
