"""The page of a cluster: its articles, what connects them, and what contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, Max, QuerySet
from django.db.models.functions import Left, Length

from articles.models import Article
from articles.normalization.times import publication_order
from articles.paging import Page, page_of_list
from dedup.clustering.constraints import constraints_in_force
from dedup.models import Cluster, Decision, Pair, Verdict
from dedup.querysets import WEAK_PROBABILITY, PairQuerySet
from dedup.review.queries.history import with_actors
from dedup.review.queries.pairs import count_by_verdict

# A cluster of a hundred articles may have thousands of pairs; the weakest are shown.
PAIRS_SHOWN = 100
APART_SHOWN = 5
LEFT_OUT_SHOWN = 5
MEMBERS_A_PAGE = 100
CONTRADICTIONS_SHOWN = 50
# One character more than the template shows of each text, so that it marks the text as cut.
BEGINNING_CHARACTERS = 201
# What editors call pairs that cannot be in one cluster. Versions can, if the default profile says so.
NO_DUPLICATES = (Pair.State.REJECTED, Pair.State.TEMPLATE)
_LEAST_PROBABLE_FIRST = (F("duplicate_probability").asc(nulls_last=True), "best_score", "id")


@dataclass(frozen=True, slots=True)
class Member:
    """An article of a cluster, and its pair with the kept article, if a pass found one."""

    article: Article
    kept: bool
    characters: int
    beginning: str
    pair_id: int | None


@dataclass(frozen=True, slots=True)
class Apart:
    """The undecided pairs of a cluster that were judged to be templates or merely similar."""

    templates: int
    similar: int
    pairs: QuerySet[Pair]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two articles of a cluster that a decision in force separates; `pair_id` is None if no pass found the pair."""

    left: int
    right: int
    headlines: tuple[str, str]
    pair_id: int | None


@dataclass(frozen=True)
class ClusterDetails:
    """What the page of a cluster shows; long lists are truncated."""

    article_ids: list[int]
    page: Page[int]  # of the ids of the members, by day
    members: list[Member]  # of that page
    headlines: int  # different ones
    weakest: Pair | None
    weakly_held: bool
    apart: Apart
    left_out: QuerySet[Pair]  # judged duplicates of these articles that are not in this cluster
    pairs: QuerySet[Pair]
    contradictions: list[Contradiction]
    contradictions_left_out: int
    decisions: QuerySet[Decision]
    pairs_shown: int = PAIRS_SHOWN


def cluster_details(cluster: Cluster, page: str | None = None) -> ClusterDetails:
    """Return what the page of a cluster shows, with the page of its articles that is asked for."""
    rows = Article.objects.filter(membership__cluster=cluster).order_by("pk")
    dated = {row[0]: row for row in rows.values_list("pk", "date", "published_at", "headline")}
    headlines = {pk: headline for pk, *_, headline in dated.values()}
    # By id, not by subquery: PostgreSQL underestimates large clusters and would check every two articles.
    inside = Pair.objects.with_articles().among(list(headlines)).exclude(state__in=NO_DUPLICATES)
    contradictions = _contradictions(headlines)
    members = page_of_list(publication_order(row[:3] for row in dated.values()), page, MEMBERS_A_PAGE)
    return ClusterDetails(
        article_ids=list(headlines),
        page=members,
        members=_members(cluster, members.rows),
        headlines=len(set(headlines.values())),
        # The pair with the lowest probability that connects the cluster.
        weakest=inside.joining().filter(probability=cluster.lowest_score).order_by("id").first(),
        weakly_held=cluster.state == Cluster.State.PROPOSED and cluster.lowest_score < WEAK_PROBABILITY,
        apart=_apart(inside),
        left_out=_left_out(list(headlines)),
        pairs=inside.prefetch_related("evidence").order_by(*_LEAST_PROBABLE_FIRST)[:PAIRS_SHOWN],
        contradictions=contradictions[:CONTRADICTIONS_SHOWN],
        contradictions_left_out=max(len(contradictions) - CONTRADICTIONS_SHOWN, 0),
        decisions=_decisions_on(cluster.pk),
    )


def _members(cluster: Cluster, order: Sequence[int]) -> list[Member]:
    """Return the members with these ids, in this order."""
    articles = Article.objects.filter(pk__in=order)
    texts = articles.values_list("pk", Length("content"), Left("content", BEGINNING_CHARACTERS))
    beginnings = {pk: (characters, beginning) for pk, characters, beginning in texts}
    kept = cluster.kept_id
    with_kept = Pair.objects.touching([kept]).values_list("left", "right", "pk")
    pair_ids = {left if right == kept else right: pk for left, right, pk in with_kept}
    found = articles.without_texts().select_related("newspaper").prefetch_related("urls").in_bulk()
    return [Member(found[pk], pk == kept, *beginnings[pk], pair_ids.get(pk)) for pk in order]


def _apart(inside: PairQuerySet) -> Apart:
    found = inside.in_queue().no_copies()
    counts = count_by_verdict(found)
    return Apart(
        templates=counts.get(Verdict.TEMPLATE, 0),
        similar=counts.get(Verdict.SIMILAR, 0),
        pairs=found.order_by("-probability", "id")[:APART_SHOWN],
    )


def _left_out(article_ids: list[int]) -> QuerySet[Pair]:
    """Return the most probable pairs that join an article of a cluster with another that is not in it."""
    found = Pair.objects.with_articles().joining().exclude(state__in=NO_DUPLICATES).touching(article_ids)
    crossing = found.exclude(left__in=article_ids, right__in=article_ids)
    return crossing.order_by("-probability", "id")[:LEFT_OUT_SHOWN]


def _contradictions(headlines: dict[int, str]) -> list[Contradiction]:
    """Return the contradictions among the articles of a cluster, given with their headlines."""
    parted = [ends for ends in constraints_in_force(headlines).cannot if headlines.keys() >= set(ends)]
    if not parted:
        return []
    pairs = Pair.objects.among(headlines).filter(state__in=[*NO_DUPLICATES, Pair.State.VERSION])
    numbers = {(left, right): pk for left, right, pk in pairs.values_list("left", "right", "pk")}
    return [
        Contradiction(left, right, (headlines[left], headlines[right]), numbers.get((left, right)))
        for left, right in parted
    ]


@dataclass(frozen=True)
class GoneCluster:
    """The decisions on a cluster that no longer exists, and the clusters that have its articles now."""

    cluster_number: int
    decisions: list[Decision]
    heirs: QuerySet[Cluster]
    may_have_existed: bool


def gone_cluster(cluster_id: int) -> GoneCluster:
    """Return what the page of a missing cluster shows."""
    decisions = list(_decisions_on(cluster_id))
    articles = {article for decision in decisions for article in decision.articles}
    highest = Cluster.objects.aggregate(highest=Max("pk"))["highest"] or 0
    return GoneCluster(
        cluster_number=cluster_id,
        decisions=decisions,
        heirs=Cluster.objects.with_kept().filter(memberships__article__in=articles).distinct(),
        may_have_existed=bool(decisions) or cluster_id <= highest,
    )


def find_cluster(cluster_id: int) -> Cluster | None:
    """Return a cluster with its kept article, if it exists."""
    return Cluster.objects.with_kept().filter(pk=cluster_id).first()


def _decisions_on(cluster_id: int) -> QuerySet[Decision]:
    return with_actors(Decision.objects.filter(cluster_number=cluster_id))
