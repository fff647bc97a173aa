"""The clusters, the page of one, and the decisions on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Length
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.models import Article
from dedup import review
from dedup.filters import ClusterFilter
from dedup.forms import ClusterConfirmForm, MemberForm
from dedup.models import Cluster, Decision, Membership, Pair
from dedup.views.paging import page_of, rows_after, rows_before
from dedup.views.requests import EditorRequest, decision_view, form_fault, query_of, say_decided

ORDERING = ("-size", "id")
# A cluster of a hundred articles may hold thousands of pairs; the strongest and all rejected ones are shown.
PAIRS_SHOWN = 100


def clusters(request: HttpRequest) -> HttpResponse:
    """List the clusters, the largest first."""
    filterset = ClusterFilter(request.GET, Cluster.objects.with_kept())
    page = page_of(filterset.qs.order_by(*ORDERING), request.GET.get("page"))
    return render(request, "dedup/clusters.html", {"filter": filterset, "page": page})


def cluster(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Show the articles of a cluster, what holds it together, and what speaks against it."""
    shown = Cluster.objects.with_kept().filter(pk=cluster_id).first()
    if shown is None:
        return _gone(request, cluster_id)
    members = _members(shown)
    inside = _pairs_inside(shown)
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    ordered = (filterset.qs, ORDERING, shown)
    context = {
        "cluster": shown,
        "members": members,
        "pairs": inside.exclude(state=Pair.State.REJECTED)[:PAIRS_SHOWN],
        "pairs_shown": PAIRS_SHOWN,
        "rejected": inside.filter(state=Pair.State.REJECTED),
        "decisions": _decisions_on(cluster_id),
        "next": rows_after(*ordered).values_list("pk", flat=True).first(),
        "previous": rows_before(*ordered).values_list("pk", flat=True).first(),
    }
    return render(request, "dedup/cluster.html", context)


@decision_view
def cluster_confirm(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Confirm a cluster as it was shown, and go on to the next of the same selection."""
    form = ClusterConfirmForm(request.POST)
    confirmed = get_object_or_404(Cluster, pk=cluster_id)
    following = _next_address(request, confirmed)

    def act(values: dict[str, Any]) -> Decision:
        return review.confirm_cluster(cluster_id, values["articles"], user=request.user, note=values["note"])

    if _decide(request, form, act, f"Cluster {cluster_id} confirmed."):
        return redirect(following)
    return redirect(reverse("cluster", args=[cluster_id]) + query_of(request))


@decision_view
def cluster_take_out(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Take one article out of a cluster; the others stay together."""
    form = MemberForm(request.POST)

    def act(values: dict[str, Any]) -> Decision:
        return review.take_out(cluster_id, values["article"], user=request.user, note=values["note"])

    _decide(request, form, act, "The article was taken out.")
    if Cluster.objects.filter(pk=cluster_id).exists():
        return redirect(reverse("cluster", args=[cluster_id]) + query_of(request))
    messages.info(request, f"Cluster {cluster_id} no longer exists.")
    return redirect(reverse("clusters") + query_of(request))


@decision_view
def cluster_keep(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Choose the article that stands for the cluster."""
    form = MemberForm(request.POST)

    def act(values: dict[str, Any]) -> Decision:
        return review.keep_article(cluster_id, values["article"], user=request.user, note=values["note"])

    _decide(request, form, act, "This article stands for the cluster now.")
    return redirect(reverse("cluster", args=[cluster_id]) + query_of(request))


def _decide(request: EditorRequest, form: Form, act: Any, said: str) -> bool:
    """Take the decision and say so, or say why it cannot be taken; return whether it was."""
    if not form.is_valid():
        messages.error(request, form_fault(form.errors))
        return False
    try:
        decision = act(form.cleaned_data)
    except review.ReviewError as error:
        messages.error(request, str(error))
        return False
    say_decided(request, said, decision)
    return True


def _next_address(request: HttpRequest, confirmed: Cluster) -> str:
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    waiting = filterset.qs.filter(state=Cluster.State.PROPOSED)
    following = rows_after(waiting, ORDERING, confirmed).values_list("pk", flat=True).first()
    return reverse("cluster", args=[following or confirmed.pk]) + query_of(request)


@dataclass(frozen=True, slots=True)
class Member:
    """An article of a cluster, and the pair it makes with the kept one, if a pass found that."""

    article: Article
    kept: bool
    characters: int
    pair_id: int | None


def _members(shown: Cluster) -> list[Member]:
    articles = (
        Article.objects.filter(membership__cluster=shown)
        .without_texts()
        .select_related("newspaper")
        .prefetch_related("urls")
        .order_by("date", "pk")
    )
    lengths = dict(articles.order_by().values_list("pk", Length("content")))
    with_kept = Pair.objects.filter(Q(left=shown.kept_id) | Q(right=shown.kept_id)).values_list("left", "right", "pk")
    pair_ids = {left if right == shown.kept_id else right: pk for left, right, pk in with_kept}
    return [
        Member(article, article.pk == shown.kept_id, lengths[article.pk], pair_ids.get(article.pk))
        for article in articles
    ]


def _pairs_inside(shown: Cluster) -> QuerySet[Pair]:
    members = Membership.objects.filter(cluster=shown).values("article")
    inside = Pair.objects.with_articles().filter(left__in=members, right__in=members)
    return inside.prefetch_related("evidence").order_by("-best_score", "id")


def _decisions_on(cluster_id: int) -> QuerySet[Decision]:
    decisions = Decision.objects.filter(cluster_number=cluster_id)
    return decisions.select_related("decided_by", "article", "undone_by__decided_by")


def _gone(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """Say what is known of a cluster that no longer exists, and where its articles are now."""
    decisions = list(_decisions_on(cluster_id))
    articles = {article for decision in decisions for article in decision.articles}
    heirs = Cluster.objects.with_kept().filter(memberships__article__in=articles).distinct()
    highest = Cluster.objects.aggregate(highest=Max("pk"))["highest"] or 0
    context = {
        "cluster_number": cluster_id,
        "decisions": decisions,
        "heirs": heirs,
        "may_have_existed": bool(decisions) or cluster_id <= highest,
    }
    return render(request, "dedup/cluster_gone.html", context, status=404)
