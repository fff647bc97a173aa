"""The page of a cluster: its articles, what connects and contradicts it; and what remains of one that is gone."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Max, Prefetch, QuerySet

from articles.models import Article
from articles.paging import Page, page_of_list
from dedup.detection.clustering.policies import kept_by
from dedup.detection.clustering.rebuild import keep_rule, members_of
from dedup.models import Cluster, Decision, Evidence, Keep, Membership, Pair
from dedup.models.pairs import WEAK_PROBABILITY
from dedup.review.answers.decisions import seen_as
from dedup.review.answers.history import with_actors
from dedup.review.pictures.timeline import Event, Timeline, draw_timeline
from dedup.review.queries.cluster_pairs import Apart, Contradiction, contradictions_in, pairs_inside, pairs_left_out
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


def decisions_on_cluster(cluster_id: int) -> QuerySet[Decision]:
    """Return the decisions on a cluster, the latest first."""
    return with_actors(Decision.objects.filter(cluster_number=cluster_id))


# A larger cluster is listed a page at a time, without a graph: to connect all of its articles would take too long.
MOST_DRAWN = 200
MEMBERS_A_PAGE = 100


class Kept(NamedTuple):
    """Why an article represents its cluster: an editor chose it, or a rule. `outdated`: the rule keeps another now."""

    chosen: Decision | None
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
    rows = rows_of(list(articles.select_related("newspaper").prefetch_related("urls")), cluster.kept_id)
    name_pairs(rows, cluster.kept_id)
    compare_with_kept(rows, cluster.kept_id)
    if len(ids) <= MOST_DRAWN:
        headlines, events = len({headline for row in rows for headline in row.headlines}), _events(rows, cluster)
    else:
        headlines, events = _counted_headlines(cluster), _counted_events(cluster)
    return Listing(rows, shown, headlines, _kept(cluster, ids), draw_timeline(events))


def _events(rows: Sequence[Row], cluster: Cluster) -> list[Event]:
    return [
        Event(article.newspaper.name, article.date, _clock(article), kept=article.pk == cluster.kept_id)
        for row in rows
        for article in row.articles
    ]


def _clock(article: Article) -> datetime.time | None:
    time = article.publication_time
    return time.local.time() if time and time.local.date() == article.date else None


def _counted_headlines(cluster: Cluster) -> int:
    headlines = Article.objects.filter(membership__cluster=cluster).order_by()
    return headlines.aggregate(number=Count("headline", distinct=True))["number"] or 0


def _counted_events(cluster: Cluster) -> list[Event]:
    counted = Article.objects.filter(membership__cluster=cluster).order_by().values_list("newspaper__name", "date")
    return [Event(name, day, articles=number) for name, day, number in counted.annotate(Count("pk"))]


def _kept(cluster: Cluster, ids: list[int]) -> Kept:
    chosen = Decision.objects.filter(kind=Decision.Kind.KEEP, undone_by=None, article=cluster.kept_id)
    rule = keep_rule()
    by = chosen.select_related("decided_by").order_by("-pk").first()
    by_rule = by is None and rule != Keep.EARLIEST and len(ids) <= MOST_DRAWN
    outdated = by_rule and kept_by(rule, members_of(ids, rule).values()) != cluster.kept_id
    return Kept(by, Keep(rule).label, outdated)


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
