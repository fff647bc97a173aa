"""The list of clusters, the page of one and of its lineage, and the decisions on it, with previews."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.forms.base import ClusterForm, ClusterMergeForm, MemberForm, SplitForm
from dedup.models import Cluster, Decision, DetectionRun, Membership
from dedup.models.querysets import WEAK_PROBABILITY
from dedup.review.answers import decisions
from dedup.review.answers.cluster_decisions import merge_clusters, preview, split_cluster
from dedup.review.queries.clusters import cluster_details, find_cluster, gone_cluster
from dedup.review.queries.lineage import lineage_details
from dedup.review.questions.asking import give_back
from dedup.review.questions.tabs import Question
from dedup.rows.clusters import LINEAGE, ClusterFilter
from dedup.rows.files import FORMATS
from dedup.views.questions import after_answer, tab_of
from dedup.views.requests import (
    EditorRequest,
    address_of,
    attachment,
    decision_view,
    neighbours,
    next_of,
    note_of,
    refusals,
    refuse,
    say_decided,
    values_of,
)

ORDERING = ("-size", "id")


def clusters(request: HttpRequest) -> HttpResponse:
    """List the clusters, the largest first, and say which run and profile they are of."""
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    page = page_of(filterset.qs.order_by(*ORDERING), request.GET.get("page"))
    # A separate query: joined, the articles of all clusters would be read and sorted.
    kept = Cluster.objects.with_kept().in_bulk([row.pk for row in page.rows])
    page = replace(page, rows=[kept[row.pk] for row in page.rows])
    last_run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).order_by("-pk").first()
    context = {"filter": filterset, "page": page, "weak_tie": WEAK_PROBABILITY, "last_run": last_run}
    return render(request, "clusters/clusters.html", context)


def cluster(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Show the articles of a cluster, what connects them, and what contradicts it."""
    shown = find_cluster(cluster_id)
    if shown is None:
        return render(request, "clusters/cluster_gone.html", gone_cluster(cluster_id), status=404)
    details = cluster_details(shown, request.GET.get("page"), tick_part=request.GET.get("tick") == "part")
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    context = {
        "cluster": shown,
        **details,
        "page": details["listing"].page,
        **neighbours(filterset.qs, ORDERING, shown),
        **note_of(request),
    }
    return render(request, "clusters/cluster.html", context)


class _Act(NamedTuple):
    """A decision that parts or joins clusters: its form, what makes it, its address, and the words of its preview."""

    form: type[Form]
    make: Callable[..., Decision]
    address: str
    title: str
    button: str
    summary: str


ACTS = {
    "split": _Act(
        SplitForm,
        split_cluster,
        "cluster_split",
        "Split the cluster",
        "Split it",
        "No article of the one part is a duplicate of any of the other. Each part stays together.",
    ),
    "merge": _Act(
        ClusterMergeForm,
        merge_clusters,
        "cluster_merge",
        "Merge two clusters",
        "Merge them",
        "The articles of both clusters are duplicates of each other.",
    ),
    "reject": _Act(
        ClusterForm,
        decisions.reject_cluster,
        "cluster_reject",
        "Dissolve the cluster",
        "Dissolve it",
        "No two of its articles are duplicates of each other.",
    ),
    "take-out": _Act(
        MemberForm,
        decisions.take_out,
        "cluster_take_out",
        "Take an article out",
        "Take it out",
        "This article is not a duplicate of the others, which stay together.",
    ),
}
_decision_view = decision_view("cluster", "cluster_id", query=True)


@_decision_view
def cluster_preview(request: EditorRequest, cluster_id: int, act: str) -> HttpResponse:
    """Show the clusters that a decision would lead to, and the decisions it contradicts; nothing is stored."""
    chosen = ACTS.get(act)
    if chosen is None:
        raise Http404(f"{act!r} is not a decision on a cluster; it can be one of {', '.join(ACTS)}.")
    try:
        values = values_of(chosen.form(request.POST))
        members = Membership.objects.filter(cluster__in=[cluster_id, values.get("other", cluster_id)])
        articles = list(members.values_list("article", flat=True))
        result = preview(lambda: chosen.make(cluster_id, **values, user=request.user), articles)
    except decisions.ReviewError as error:
        refuse(request, str(error), page=reverse("cluster", args=[cluster_id]))
        return redirect(address_of(request, "cluster", cluster_id))
    context = {
        "cluster_number": cluster_id,
        "act": chosen,
        "preview": result,
        "fields": [(name, value) for name in request.POST for value in request.POST.getlist(name) if name in _CARRIED],
        "note": values["note"],
        "note_length": decisions.MAX_NOTE_CHARACTERS,
    }
    return render(request, "clusters/cluster_preview.html", context)


# What the preview hands on to the decision.
_CARRIED = ("seen", "tick", "other", "article")


@_decision_view
def cluster_confirm(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Confirm a cluster as it was shown, and go to the next one in the selection."""
    last, said = address_of(request, "cluster", cluster_id), f"Cluster {cluster_id} confirmed."
    return _decide_and_go_on(request, cluster_id, decisions.confirm_cluster, said, last)


@_decision_view
def cluster_reject(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Decide that no two articles of a cluster belong together, and go to the next one in the selection."""
    last, said = address_of(request, "clusters"), f"Cluster {cluster_id} dissolved."
    return _decide_and_go_on(request, cluster_id, decisions.reject_cluster, said, last)


def _decide_and_go_on(
    request: EditorRequest, cluster_id: int, make: Callable[..., Decision], said: str, last: str
) -> HttpResponse:
    """Decide on a whole cluster, and go to the next question or proposed cluster, after the last one to `last`."""
    following = _following(request, cluster_id)
    if not _decide(request, cluster_id, ClusterForm, make, said):
        return redirect(address_of(request, "cluster", cluster_id))
    if tab_of(request):
        give_back(Question("cluster", cluster_id), request.user)
        return redirect(after_answer(request))
    return redirect(address_of(request, "cluster", following) if following else last)


@_decision_view
def cluster_split(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Split the ticked articles of a cluster off; each part stays together."""
    _decide(request, cluster_id, SplitForm, split_cluster, f"Cluster {cluster_id} was split.")
    return _to_what_remains(request, cluster_id)


@_decision_view
def cluster_merge(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Merge a cluster with another one, and go to the merged cluster."""
    merged = _decide(request, cluster_id, ClusterMergeForm, merge_clusters, "The clusters were merged.")
    if merged and find_cluster(cluster_id) is None:
        place = Membership.objects.filter(article__in=merged.articles).order_by("article").first()
        cluster_id = place.cluster_id if place else cluster_id
    return redirect(address_of(request, "cluster", cluster_id))


@_decision_view
def cluster_take_out(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Take one article out of a cluster; the others stay together."""
    _decide(request, cluster_id, MemberForm, decisions.take_out, "The article was taken out.")
    return _to_what_remains(request, cluster_id)


def _to_what_remains(request: HttpRequest, cluster_id: int) -> HttpResponse:
    if find_cluster(cluster_id):
        return redirect(f"{address_of(request, 'cluster', cluster_id)}#members")
    messages.info(request, f"Cluster {cluster_id} no longer exists.")
    return redirect(address_of(request, "clusters"))


@_decision_view
def cluster_keep(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Choose the article that represents the cluster."""
    _decide(request, cluster_id, MemberForm, decisions.keep_article, "This article now represents the cluster.")
    return redirect(f"{address_of(request, 'cluster', cluster_id)}#members")


def _decide(
    request: EditorRequest, cluster_id: int, form: type[Form], make: Callable[..., Decision], said: str
) -> Decision | None:
    """Make the decision and show a message, or the reason why it failed; return it if it was made."""
    with refusals(request, decisions.ReviewError, page=reverse("cluster", args=[cluster_id])):
        decision = make(cluster_id, **values_of(form(request.POST)), user=request.user)
        say_decided(request, said, decision)
        return decision
    return None


def _following(request: HttpRequest, cluster_id: int) -> int | None:
    """Return the next proposed cluster in the selection; call it before this one is decided."""
    decided = find_cluster(cluster_id)
    if decided is None:
        return None
    filterset = ClusterFilter(request.GET, Cluster.objects.all())
    waiting = filterset.qs.filter(state=Cluster.State.PROPOSED)
    return next_of(waiting, ORDERING, decided)


def cluster_lineage(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """Show who of a cluster ran the text first, who followed whom, and what each changed."""
    shown = find_cluster(cluster_id)
    if shown is None:
        return render(request, "clusters/cluster_gone.html", gone_cluster(cluster_id), status=404)
    details = lineage_details(shown, request.GET.get("page"))
    return render(request, "clusters/lineage.html", {"cluster": shown, **details})


def cluster_lineage_file(request: HttpRequest, cluster_id: int, form: str) -> StreamingHttpResponse:  # noqa: ARG001 - of every view
    """Send who follows whom in a cluster, as CSV or JSON lines."""
    chosen = Cluster.objects.filter(pk=cluster_id)
    if not chosen.exists():
        raise Http404(f"There is no cluster {cluster_id}.")
    return attachment(FORMATS[form](LINEAGE.columns, LINEAGE.rows(chosen)), f"cluster-{cluster_id}-lineage", form)
