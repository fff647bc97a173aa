"""The list of clusters, the page of a cluster, and the decisions on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.filters.clusters import ClusterFilter
from dedup.forms import ClusterConfirmForm, MemberForm
from dedup.models import Cluster, Decision
from dedup.querysets import WEAK_PROBABILITY
from dedup.review import decisions
from dedup.review.queries.clusters import cluster_details, find_cluster, gone_cluster
from dedup.views.requests import (
    EditorRequest,
    decision_view,
    neighbours,
    next_of,
    query_of,
    refuse,
    refused_note,
    say_decided,
    values_of,
)

ORDERING = ("-size", "id")


def clusters(request: HttpRequest) -> HttpResponse:
    """List the clusters, the largest first."""
    filterset = ClusterFilter(request.GET, Cluster.objects.with_kept())
    page = page_of(filterset.qs.order_by(*ORDERING), request.GET.get("page"))
    context = {"filter": filterset, "page": page, "weak_tie": WEAK_PROBABILITY}
    return render(request, "clusters/clusters.html", context)


def cluster(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Show the articles of a cluster, what connects them, and what contradicts it."""
    shown = find_cluster(cluster_id)
    if shown is None:
        return render(request, "clusters/cluster_gone.html", vars(gone_cluster(cluster_id)), status=404)
    details = cluster_details(shown, request.GET.get("page"))
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    context = {
        "cluster": shown,
        **vars(details),
        # A single form field for all articles.
        "article_ids": ",".join(map(str, details.article_ids)),
        **neighbours(filterset.qs, ORDERING, shown),
        "note": refused_note(request),
        "note_length": decisions.MAX_NOTE_CHARACTERS,
    }
    return render(request, "clusters/cluster.html", context)


def _address(request: HttpRequest, cluster_id: int) -> str:
    return reverse("cluster", args=[cluster_id]) + query_of(request)


@decision_view(_address)
def cluster_confirm(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Confirm a cluster as it was shown, and go to the next one in the selection."""
    following = _following(request, cluster_id)

    def act(values: dict[str, Any]) -> Decision:
        return decisions.confirm_cluster(cluster_id, values["articles"], user=request.user, note=values["note"])

    confirmed = _decide(request, cluster_id, ClusterConfirmForm, act, f"Cluster {cluster_id} confirmed.")
    return redirect(_address(request, following if confirmed and following else cluster_id))


@decision_view(_address)
def cluster_reject(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Decide that no two articles of a cluster belong together, and go to the next one in the selection."""
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
    if find_cluster(cluster_id):
        return redirect(f"{_address(request, cluster_id)}#members")
    messages.info(request, f"Cluster {cluster_id} no longer exists.")
    return redirect(reverse("clusters") + query_of(request))


@decision_view(_address)
def cluster_keep(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Choose the article that represents the cluster."""

    def act(values: dict[str, Any]) -> Decision:
        return decisions.keep_article(cluster_id, values["article"], user=request.user, note=values["note"])

    _decide(request, cluster_id, MemberForm, act, "This article now represents the cluster.")
    return redirect(f"{_address(request, cluster_id)}#members")


def _decide(
    request: EditorRequest,
    cluster_id: int,
    form_class: type[Form],
    act: Callable[[dict[str, Any]], Decision],
    said: str,
) -> bool:
    """Make the decision and show a message, or the reason why it failed; return whether it was made."""
    try:
        decision = act(values_of(form_class(request.POST)))
    except decisions.ReviewError as error:
        refuse(request, str(error), page=reverse("cluster", args=[cluster_id]))
        return False
    say_decided(request, said, decision)
    return True


def _following(request: HttpRequest, cluster_id: int) -> int | None:
    """Return the next proposed cluster in the selection; call it before this one is decided."""
    decided = find_cluster(cluster_id)
    if decided is None:
        return None
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    waiting = filterset.qs.filter(state=Cluster.State.PROPOSED)
    return next_of(waiting, ORDERING, decided)
