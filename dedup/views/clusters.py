"""The clusters, the page of one, and the decisions on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, F, Max, QuerySet
from django.db.models.functions import Left, Length
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from articles.models import Article
from articles.paging import page_of, rows_after, rows_before
from dedup.clustering.constraints import constraints_in_force
from dedup.filters.clusters import ClusterFilter
from dedup.forms import ClusterConfirmForm, MemberForm
from dedup.models import Cluster, Decision, Pair, Verdict
from dedup.querysets import WEAK_PROBABILITY, PairQuerySet
from dedup.review import decisions
from dedup.views.requests import (
    EditorRequest,
    decision_view,
    query_of,
    refuse,
    refused_note,
    say_decided,
    values_of,
    with_actors,
)

ORDERING = ("-size", "id")
# A cluster of a hundred articles may hold thousands of pairs; those that say least for it are shown.
PAIRS_SHOWN = 100
APART_SHOWN = 5
_LEAST_PROBABLE_FIRST = (F("duplicate_probability").asc(nulls_last=True), "best_score", "id")
MEMBERS_SHOWN = 200
CONTRADICTIONS_SHOWN = 50
# Of the text of each article: one more than the template shows, which then says that there is more.
BEGINNING_CHARACTERS = 201


def clusters(request: HttpRequest) -> HttpResponse:
    """List the clusters, the largest first."""
    filterset = ClusterFilter(request.GET, Cluster.objects.with_kept())
    page = page_of(filterset.qs.order_by(*ORDERING), request.GET.get("page"))
    context = {"filter": filterset, "page": page, "weak_tie": WEAK_PROBABILITY}
    return render(request, "clusters/clusters.html", context)


def cluster(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Show the articles of a cluster, what holds it together, and what speaks against it."""
    shown = Cluster.objects.with_kept().filter(pk=cluster_id).first()
    if shown is None:
        return _gone(request, cluster_id)
    headlines = dict(Article.objects.filter(membership__cluster=shown).order_by("pk").values_list("pk", "headline"))
    contradictions = _contradictions(headlines)
    inside = _pairs_inside(list(headlines))
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    ordered = (filterset.qs, ORDERING, shown)
    context = {
        "cluster": shown,
        "members": _members(shown),
        "members_shown": MEMBERS_SHOWN,
        "article_ids": ",".join(map(str, headlines)),
        "headlines": len(set(headlines.values())),
        "weakest": _weakest(shown, inside),
        "weakly_held": shown.state == Cluster.State.PROPOSED and shown.lowest_score < WEAK_PROBABILITY,
        "apart": _apart(inside),
        "pairs": inside.prefetch_related("evidence").order_by(*_LEAST_PROBABLE_FIRST)[:PAIRS_SHOWN],
        "pairs_shown": PAIRS_SHOWN,
        "contradictions": contradictions[:CONTRADICTIONS_SHOWN],
        "contradictions_left_out": max(len(contradictions) - CONTRADICTIONS_SHOWN, 0),
        "decisions": _decisions_on(cluster_id),
        "note": refused_note(request),
        "note_length": decisions.MAX_NOTE_CHARACTERS,
        "next": rows_after(*ordered).values_list("pk", flat=True).first(),
        "previous": rows_before(*ordered).values_list("pk", flat=True).first(),
    }
    return render(request, "clusters/cluster.html", context)


def _address(request: HttpRequest, cluster_id: int) -> str:
    return reverse("cluster", args=[cluster_id]) + query_of(request)


@decision_view(_address)
def cluster_confirm(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Confirm a cluster as it was shown, and go on to the next of the same selection."""
    following = _following(request, cluster_id)

    def act(values: dict[str, Any]) -> Decision:
        return decisions.confirm_cluster(cluster_id, values["articles"], user=request.user, note=values["note"])

    confirmed = _decide(request, cluster_id, ClusterConfirmForm, act, f"Cluster {cluster_id} confirmed.")
    return redirect(_address(request, following if confirmed and following else cluster_id))


@decision_view(_address)
def cluster_reject(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Say that no two articles of a cluster belong together, and go on to the next of the same selection."""
    following = _following(request, cluster_id)

    def act(values: dict[str, Any]) -> Decision:
        return decisions.reject_cluster(cluster_id, values["articles"], user=request.user, note=values["note"])

    if not _decide(request, cluster_id, ClusterConfirmForm, act, f"Cluster {cluster_id} dissolved."):
        return redirect(_address(request, cluster_id))
    return redirect(_address(request, following) if following else reverse("clusters") + query_of(request))


@decision_view(_address)
def cluster_take_out(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Take one article out of a cluster; the others stay together."""

    def act(values: dict[str, Any]) -> Decision:
        return decisions.take_out(cluster_id, values["article"], user=request.user, note=values["note"])

    _decide(request, cluster_id, MemberForm, act, "The article was taken out.")
    if Cluster.objects.filter(pk=cluster_id).exists():
        return redirect(f"{_address(request, cluster_id)}#members")
    messages.info(request, f"Cluster {cluster_id} no longer exists.")
    return redirect(reverse("clusters") + query_of(request))


@decision_view(_address)
def cluster_keep(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Choose the article that stands for the cluster."""

    def act(values: dict[str, Any]) -> Decision:
        return decisions.keep_article(cluster_id, values["article"], user=request.user, note=values["note"])

    _decide(request, cluster_id, MemberForm, act, "This article stands for the cluster now.")
    return redirect(f"{_address(request, cluster_id)}#members")


def _decide(
    request: EditorRequest,
    cluster_id: int,
    form_class: type[Form],
    act: Callable[[dict[str, Any]], Decision],
    said: str,
) -> bool:
    """Take the decision and say so, or say why it cannot be taken; return whether it was."""
    try:
        decision = act(values_of(form_class(request.POST)))
    except decisions.ReviewError as error:
        refuse(request, str(error), page=reverse("cluster", args=[cluster_id]))
        return False
    say_decided(request, said, decision)
    return True


def _following(request: HttpRequest, cluster_id: int) -> int | None:
    """Return the next cluster of the same selection that waits, as long as this one is there to be next to."""
    decided = Cluster.objects.filter(pk=cluster_id).first()
    if decided is None:
        return None
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    waiting = filterset.qs.filter(state=Cluster.State.PROPOSED)
    return rows_after(waiting, ORDERING, decided).values_list("pk", flat=True).first()


@dataclass(frozen=True, slots=True)
class Member:
    """An article of a cluster, and the pair it makes with the kept one, if a pass found that."""

    article: Article
    kept: bool
    characters: int
    beginning: str
    pair_id: int | None


def _members(shown: Cluster) -> list[Member]:
    """Return the first MEMBERS_SHOWN articles, by day."""
    articles = (
        Article.objects.filter(membership__cluster=shown)
        .without_texts()
        .select_related("newspaper")
        .prefetch_related("urls")
        .order_by("date", "pk")[:MEMBERS_SHOWN]
    )
    texts = articles.values_list("pk", Length("content"), Left("content", BEGINNING_CHARACTERS))
    beginnings = {pk: (characters, beginning) for pk, characters, beginning in texts}
    with_kept = Pair.objects.touching([shown.kept_id]).values_list("left", "right", "pk")
    pair_ids = {left if right == shown.kept_id else right: pk for left, right, pk in with_kept}
    return [
        Member(article, article.pk == shown.kept_id, *beginnings[article.pk], pair_ids.get(article.pk))
        for article in articles
    ]


def _pairs_inside(members: Sequence[int]) -> PairQuerySet:
    # By their ids, not by a subquery: PostgreSQL, which counts a large cluster late, would look at every two of them.
    return Pair.objects.with_articles().among(members).exclude(state=Pair.State.REJECTED)


def _weakest(shown: Cluster, inside: PairQuerySet) -> Pair | None:
    """Return the pair that holds a cluster together where nothing more probable does."""
    return inside.joining().filter(probability=shown.lowest_score).order_by("id").first()


@dataclass(frozen=True, slots=True)
class Apart:
    """The undecided pairs of a cluster that the comparison found to be no copies of each other."""

    templates: int
    similar: int
    pairs: QuerySet[Pair]


def _apart(inside: PairQuerySet) -> Apart:
    found = inside.in_queue().no_copies()
    counts = dict(found.order_by().values_list("verdict").annotate(Count("pk")))
    return Apart(
        templates=counts.get(Verdict.TEMPLATE, 0),
        similar=counts.get(Verdict.SIMILAR, 0),
        pairs=found.order_by("-probability", "id")[:APART_SHOWN],
    )


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two articles of a cluster that a standing decision parts; a pair of them there need not be."""

    left: int
    right: int
    headlines: tuple[str, str]
    pair_id: int | None


def _contradictions(headlines: dict[int, str]) -> list[Contradiction]:
    """Return the contradictions among the articles of a cluster, given with their headlines."""
    parted = [ends for ends in constraints_in_force(headlines).cannot if headlines.keys() >= set(ends)]
    if not parted:
        return []
    pairs = Pair.objects.among(headlines).filter(state=Pair.State.REJECTED)
    numbers = {(left, right): pk for left, right, pk in pairs.values_list("left", "right", "pk")}
    return [
        Contradiction(left, right, (headlines[left], headlines[right]), numbers.get((left, right)))
        for left, right in parted
    ]


def _decisions_on(cluster_id: int) -> QuerySet[Decision]:
    return with_actors(Decision.objects.filter(cluster_number=cluster_id))


def _gone(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """Say what is known of a cluster that no longer exists, and where its articles are now."""
    taken = list(_decisions_on(cluster_id))
    articles = {article for decision in taken for article in decision.articles}
    heirs = Cluster.objects.with_kept().filter(memberships__article__in=articles).distinct()
    highest = Cluster.objects.aggregate(highest=Max("pk"))["highest"] or 0
    context = {
        "cluster_number": cluster_id,
        "decisions": taken,
        "heirs": heirs,
        "may_have_existed": bool(taken) or cluster_id <= highest,
    }
    return render(request, "clusters/cluster_gone.html", context, status=404)
