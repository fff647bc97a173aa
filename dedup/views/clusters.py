"""The list of clusters, the page of one and of its lineage, and the decisions on it, with previews."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
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
from dedup.rows.clusters import ClusterFilter
from dedup.rows.files import FORMATS
from dedup.rows.lineage import LINEAGE
from dedup.views.exports import CONTENT_TYPES
from dedup.views.questions import after_answer, tab_of
from dedup.views.requests import (
    EditorRequest,
    decision_view,
    neighbours,
    next_of,
    query_of,
    refusals,
    refuse,
    refused_note,
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
        **vars(details),
        "page": details.listing.page,
        **neighbours(filterset.qs, ORDERING, shown),
        "note": refused_note(request),
        "note_length": decisions.MAX_NOTE_CHARACTERS,
    }
    return render(request, "clusters/cluster.html", context)


def _address(request: HttpRequest, cluster_id: int, **_values: Any) -> str:
    return reverse("cluster", args=[cluster_id]) + query_of(request)


@dataclass(frozen=True, slots=True)
class _Act:
    """A decision that parts or joins clusters: its form, what makes it, and the words of its preview."""

    name: str
    form: type[Form]
    make: Callable[[int, User, dict[str, Any]], Decision]
    title: str
    button: str
    summary: str

    @property
    def address(self) -> str:
        """The name of the address that makes the decision."""
        return f"cluster_{self.name}"


ACTS = {
    act.name.replace("_", "-"): act
    for act in (
        _Act(
            "split",
            SplitForm,
            lambda number, user, values: split_cluster(
                number, values["tick"], values["seen"], user=user, note=values["note"]
            ),
            "Split the cluster",
            "Split it",
            "No article of the one part is a duplicate of any of the other. Each part stays together.",
        ),
        _Act(
            "merge",
            ClusterMergeForm,
            lambda number, user, values: merge_clusters(
                number, values["other"], values["seen"], user=user, note=values["note"]
            ),
            "Merge two clusters",
            "Merge them",
            "The articles of both clusters are duplicates of each other.",
        ),
        _Act(
            "reject",
            ClusterForm,
            lambda number, user, values: decisions.reject_cluster(
                number, values["seen"], user=user, note=values["note"]
            ),
            "Dissolve the cluster",
            "Dissolve it",
            "No two of its articles are duplicates of each other.",
        ),
        _Act(
            "take_out",
            MemberForm,
            lambda number, user, values: decisions.take_out(number, values["article"], user=user, note=values["note"]),
            "Take an article out",
            "Take it out",
            "This article is not a duplicate of the others, which stay together.",
        ),
    )
}


@decision_view(_address)
def cluster_preview(request: EditorRequest, cluster_id: int, act: str) -> HttpResponse:
    """Show the clusters that a decision would lead to, and the decisions it contradicts; nothing is stored."""
    chosen = ACTS.get(act)
    if chosen is None:
        raise Http404(f"{act!r} is not a decision on a cluster; it can be one of {', '.join(ACTS)}.")
    try:
        values = values_of(chosen.form(request.POST))
        members = Membership.objects.filter(cluster__in=[cluster_id, values.get("other", cluster_id)])
        articles = list(members.values_list("article", flat=True))
        result = preview(lambda: chosen.make(cluster_id, request.user, values), articles)
    except decisions.ReviewError as error:
        refuse(request, str(error), page=reverse("cluster", args=[cluster_id]))
        return redirect(_address(request, cluster_id))
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


@decision_view(_address)
def cluster_confirm(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Confirm a cluster as it was shown, and go to the next one in the selection."""
    following = _following(request, cluster_id)

    def act(values: dict[str, Any]) -> Decision:
        return decisions.confirm_cluster(cluster_id, values["seen"], user=request.user, note=values["note"])

    confirmed = _decide(request, cluster_id, ClusterForm, act, f"Cluster {cluster_id} confirmed.")
    if confirmed and tab_of(request):
        return redirect(_next_question(request, cluster_id))
    return redirect(_address(request, following if confirmed and following else cluster_id))


@decision_view(_address)
def cluster_reject(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Decide that no two articles of a cluster belong together, and go to the next one in the selection."""
    following = _following(request, cluster_id)
    if not _make(request, cluster_id, ACTS["reject"], f"Cluster {cluster_id} dissolved."):
        return redirect(_address(request, cluster_id))
    if tab_of(request):
        return redirect(_next_question(request, cluster_id))
    return redirect(_address(request, following) if following else reverse("clusters") + query_of(request))


@decision_view(_address)
def cluster_split(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Split the ticked articles of a cluster off; each part stays together."""
    _make(request, cluster_id, ACTS["split"], f"Cluster {cluster_id} was split.")
    return _to_what_remains(request, cluster_id)


@decision_view(_address)
def cluster_merge(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Merge a cluster with another one, and go to the merged cluster."""
    merged = _make(request, cluster_id, ACTS["merge"], "The clusters were merged.")
    if merged and find_cluster(cluster_id) is None:
        place = Membership.objects.filter(article__in=merged.articles).order_by("article").first()
        cluster_id = place.cluster_id if place else cluster_id
    return redirect(_address(request, cluster_id))


@decision_view(_address)
def cluster_take_out(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Take one article out of a cluster; the others stay together."""
    _make(request, cluster_id, ACTS["take-out"], "The article was taken out.")
    return _to_what_remains(request, cluster_id)


def _to_what_remains(request: HttpRequest, cluster_id: int) -> HttpResponse:
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


def _make(request: EditorRequest, cluster_id: int, act: _Act, said: str) -> Decision | None:
    return _decide(request, cluster_id, act.form, lambda values: act.make(cluster_id, request.user, values), said)


def _decide(
    request: EditorRequest,
    cluster_id: int,
    form_class: type[Form],
    act: Callable[[dict[str, Any]], Decision],
    said: str,
) -> Decision | None:
    """Make the decision and show a message, or the reason why it failed; return it if it was made."""
    with refusals(request, decisions.ReviewError, page=reverse("cluster", args=[cluster_id])):
        decision = act(values_of(form_class(request.POST)))
        say_decided(request, said, decision)
        return decision
    return None


def _next_question(request: EditorRequest, cluster_id: int) -> str:
    give_back(Question("cluster", cluster_id), request.user)
    return after_answer(request)


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
    pieces = FORMATS[form](LINEAGE.columns, LINEAGE.rows(chosen))
    headers = {"Content-Disposition": f'attachment; filename="cluster-{cluster_id}-lineage.{form}"'}
    return StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[form], headers=headers)
