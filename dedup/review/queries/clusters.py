"""The page of a cluster: its articles, what connects and contradicts it; and what remains of one that is gone."""

from __future__ import annotations

import datetime
from itertools import product
from typing import Any, NamedTuple

from django.db.models import Count, Max, Prefetch, Q, QuerySet

from articles.grouping import by_key
from articles.models import Article, in_order
from articles.paging import Page, page_of_list
from dedup.answers import PARTED_STATES, PARTING
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.clustering.policies import kept_by
from dedup.detection.clustering.rebuild import keep_rule, members_of
from dedup.models import Cluster, Decision, Evidence, Keep, Membership, Pair, Verdict
from dedup.models.base import read_rows
from dedup.models.pairs import WEAK_PROBABILITY
from dedup.review.answers.decisions import seen_as
from dedup.review.answers.history import with_actors
from dedup.review.pictures.timeline import Event, Timeline, draw_timeline
from dedup.review.queries.cluster_ties import Row, Ties, compare_with_kept, name_pairs, rows_of, ties_of


def gone_cluster(cluster_id: int) -> dict[str, Any]:
    """Return what the page of a missing cluster shows."""
    decisions = list(decisions_on_cluster(cluster_id))
    articles = {article for decision in decisions for article in decision.articles}
    highest = Cluster.objects.aggregate(highest=Max("pk"))["highest"] or 0
    return {
        "cluster_number": cluster_id,
        "decisions": decisions,
        "heirs": Cluster.objects.with_kept().filter(memberships__article__in=articles).distinct(),
        "may_have_existed": bool(decisions) or cluster_id <= highest,
    }


def find_cluster(cluster_id: int) -> Cluster | None:
    """Return a cluster with its kept article, if it exists."""
    return Cluster.objects.with_kept().filter(pk=cluster_id).first()


def cluster_of_decision(decision: Decision) -> int | None:
    """Return the number of the cluster that a decision was about, or of the one that now has some of its articles."""
    number = decision.cluster_number
    if number is None or Cluster.objects.filter(pk=number).exists():
        return number
    place = Membership.objects.filter(article__in=decision.articles).order_by("article").first()
    return place.cluster_id if place else None


def decisions_on_cluster(cluster_id: int) -> QuerySet[Decision]:
    """Return the decisions on a cluster, the latest first."""
    return with_actors(Decision.objects.filter(cluster_number=cluster_id))


# A larger cluster is listed a page at a time, without a graph: to connect all of its articles would take too long.
MOST_DRAWN = 200
MEMBERS_A_PAGE = 100


class Kept(NamedTuple):
    """Why an article represents its cluster: an editor chose it, or a rule. `outdated`: the rule keeps another now.

    `text` is the decision whose article's text represents it instead.
    """

    chosen: Decision | None
    text: Decision | None
    rule: str
    outdated: bool


class Listing(NamedTuple):
    """The articles of a cluster, or a page of them."""

    rows: list[Row]
    page: Page[int]  # of article ids
    headlines: int  # different ones in the whole cluster
    kept: Kept
    timeline: Timeline

    @property
    def first_compared(self) -> int:
        """The number of the first row that can be compared with the kept article; 0 if there is none."""
        return next((row.number for row in self.rows if not row.kept), 0)


class Bonds(NamedTuple):
    """What holds a cluster together, and what speaks against it. `ties` is None for more than MOST_DRAWN articles.

    `halves` has the rows that the weakest tie joins, the smaller part first; none if nothing is weak.
    """

    weakest: Pair | None
    weakly_held: bool
    apart: Apart
    contradictions: list[Contradiction]
    contradictions_left_out: int
    left_out: list[Pair]  # judged duplicates of these articles that are not in this cluster
    near: list[Cluster]  # the clusters of these
    ties: Ties | None
    halves: list[list[Row]]

    @property
    def smaller_part(self) -> str:
        """The ids of the articles of the smaller part, as the form sends them."""
        return ",".join(row.ids for row in self.halves[0])


def cluster_details(cluster: Cluster, page: str | None = None, *, tick_part: bool = False) -> dict[str, Any]:
    """Return what the page of a cluster shows; with `tick_part`, the smaller part of the weakest tie is ticked."""
    members = Membership.objects.filter(cluster=cluster).order_by("article__date", "article_id")
    ids = list(members.values_list("article", flat=True))
    listing = _listing(cluster, ids, page)
    bonds = _bonds(cluster, ids, listing.rows)
    for row in bonds.halves[0] if tick_part and bonds.halves else ():
        row.ticked = True
    return {
        "seen": seen_as(ids),
        "listing": listing,
        "bonds": bonds,
        "decisions": decisions_on_cluster(cluster.pk),
        "most_drawn": MOST_DRAWN,
    }


def _listing(cluster: Cluster, ids: list[int], page: str | None) -> Listing:
    shown = page_of_list(ids, page, MOST_DRAWN if len(ids) <= MOST_DRAWN else MEMBERS_A_PAGE)
    articles = Article.objects.filter(pk__in=shown.rows).without_texts().order_by()
    rows = rows_of(
        list(articles.select_related("newspaper").prefetch_related("urls")), cluster.kept_id, cluster.kept_text_id
    )
    name_pairs(rows, cluster.kept_id)
    compare_with_kept(rows, cluster.kept_id)
    if len(ids) <= MOST_DRAWN:
        headlines = len({headline for row in rows for headline in row.headlines})
        events = [
            Event(article.newspaper.name, article.date, _clock(article), kept=article.pk == cluster.kept_id)
            for row in rows
            for article in row.articles
        ]
    else:
        inside = Article.objects.filter(membership__cluster=cluster).order_by()
        headlines = inside.aggregate(number=Count("headline", distinct=True))["number"] or 0
        counted = inside.values_list("newspaper__name", "date").annotate(Count("pk"))
        events = [Event(name, day, articles=number) for name, day, number in counted]
    return Listing(rows, shown, headlines, _kept(cluster, ids), draw_timeline(events))


def _clock(article: Article) -> datetime.time | None:
    time = article.publication_time
    return time.local.time() if time and time.local.date() == article.date else None


def _kept(cluster: Cluster, ids: list[int]) -> Kept:
    kept = Q(kind=Decision.Kind.KEEP, article=cluster.kept_id)
    text = Q(kind=Decision.Kind.KEEP_TEXT, article=cluster.kept_text_id)
    chosen = with_actors(Decision.objects.filter(kept | text, undone_by=None)).order_by("pk")
    by_kind = {decision.kind: decision for decision in chosen}
    by, rule = by_kind.get(Decision.Kind.KEEP), keep_rule()
    by_rule = by is None and rule != Keep.EARLIEST and len(ids) <= MOST_DRAWN
    outdated = by_rule and kept_by(rule, members_of(ids).values()) != cluster.kept_id
    return Kept(by, by_kind.get(Decision.Kind.KEEP_TEXT), Keep(rule).label, outdated)


def _bonds(cluster: Cluster, ids: list[int], rows: list[Row]) -> Bonds:
    weakest, apart = pairs_inside(cluster)
    contradictions, more = contradictions_in(cluster)
    left_out, near = pairs_left_out(cluster)
    weakly_held = cluster.state == Cluster.State.PROPOSED and cluster.lowest_score < WEAK_PROBABILITY
    ties = _ties(rows) if len(ids) <= MOST_DRAWN else None
    halves = _halves(rows, ties) if ties and weakly_held else []
    return Bonds(weakest, weakly_held, apart, contradictions, more, left_out, near, ties, halves)


def _ties(rows: list[Row]) -> Ties:
    """Return what connects the rows; the connections that are shown have their pairs."""
    ties = ties_of(rows)
    current = Evidence.objects.filter(stale=False).order_by("-score", "id")
    shown = Pair.objects.prefetch_related(Prefetch("evidence", current))
    pairs = shown.in_bulk([tie.pair_id for tie in ties.shown if tie.pair_id])
    for tie in ties.shown:
        tie.pair = pairs.get(tie.pair_id) if tie.pair_id else None
    return ties


def _halves(rows: list[Row], ties: Ties) -> list[list[Row]]:
    """Return the rows of the two parts that the weakest tie joins, the one with fewer articles first."""
    if ties.bridge is None:
        return []
    parts = [[row for row in rows if row.number in part] for part in ties.bridge.parts]
    return sorted(parts, key=lambda part: (sum(len(row.articles) for row in part), part[0].number))


# The pairs that an editor must look at: the weakest, those judged apart, those left out, and conflicts. Written as SQL
# that starts from the cluster's articles: PostgreSQL expects a large cluster to be small, and given the choice would
# look up every two of its articles.
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
    lines = by_key(((*sorted((pair.left.headline, pair.right.headline)), pair.verdict), pair) for pair in pairs)
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
