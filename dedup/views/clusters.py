"""Clusters, series and dense groups: their lists, the page of each, and the decisions and rules on them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from articles.paging import page_of
from dedup.answers import Answer
from dedup.detection.runs.headlines import LEAST_DAYS
from dedup.forms.base import ClusterForm, ClusterMergeForm, GroupConfirmForm, MemberForm, SplitForm
from dedup.models import Cluster, Decision, DenseGroup, Membership, Series
from dedup.models.pairs import WEAK_PROBABILITY
from dedup.review.answers import decisions
from dedup.review.answers.cluster_decisions import merge_clusters, preview, split_cluster
from dedup.review.queries.clusters import cluster_details, cluster_of_decision, find_cluster, gone_cluster
from dedup.review.queries.lineage import lineage_details
from dedup.review.queries.runs import last_finished_run
from dedup.review.queries.series_and_groups import (
    articles_of,
    confirmed_among,
    group_details,
    listed_groups,
    members_of_group,
    series_details,
)
from dedup.review.questions.tabs import Question
from dedup.review.rules.rules import RULES, RuleError
from dedup.rows.clusters import LINEAGE, ClusterFilter
from dedup.rows.files import FORMATS
from dedup.rows.filtering import GroupFilter, SeriesFilter
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
    say_decided,
    values_of,
)

ORDERING = ("-size", "id")


def clusters(request: HttpRequest) -> HttpResponse:
    """List the clusters, the largest first, and say which run and profile they are of."""
    filterset = ClusterFilter(request.GET)
    page = page_of(filterset.qs.order_by(*ORDERING), request.GET.get("page"))
    # A separate query: joined, the articles of all clusters would be read and sorted.
    kept = Cluster.objects.with_kept().in_bulk([row.pk for row in page.rows])
    page = replace(page, rows=[kept[row.pk] for row in page.rows])
    context = {"filter": filterset, "page": page, "weak_tie": WEAK_PROBABILITY, "last_run": last_finished_run()}
    return render(request, "clusters/clusters.html", context)


def cluster(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Show the articles of a cluster, what connects them, and what contradicts it."""
    shown = find_cluster(cluster_id)
    if shown is None:
        return render(request, "clusters/cluster_gone.html", gone_cluster(cluster_id), status=404)
    details = cluster_details(shown, request.GET.get("page"), tick_part=request.GET.get("tick") == "part")
    selected = ClusterFilter(request.GET).qs
    context = {
        "cluster": shown,
        **details,
        "page": details["listing"].page,
        **neighbours(selected, ORDERING, shown),
        **note_of(request),
    }
    return render(request, "clusters/cluster.html", context)


class _Act(NamedTuple):
    """A decision on a cluster: its form, what makes it, what is said once it is made, and the words of its preview."""

    form: type[Form]
    make: Callable[..., Decision]
    said: str
    title: str = ""  # empty if it has no preview
    button: str = ""
    summary: str = ""


ACTS = {
    "split": _Act(
        SplitForm,
        split_cluster,
        "Cluster {} was split.",
        "Split the cluster",
        "Split it",
        "No article of the one part is a duplicate of any of the other. Each part stays together.",
    ),
    "merge": _Act(
        ClusterMergeForm,
        merge_clusters,
        "The clusters were merged.",
        "Merge two clusters",
        "Merge them",
        "The articles of both clusters are duplicates of each other.",
    ),
    "reject": _Act(
        ClusterForm,
        decisions.reject_cluster,
        "Cluster {} dissolved.",
        "Dissolve the cluster",
        "Dissolve it",
        "No two of its articles are duplicates of each other.",
    ),
    "take-out": _Act(
        MemberForm,
        decisions.take_out,
        "The article was taken out.",
        "Take an article out",
        "Take it out",
        "This article is not a duplicate of the others, which stay together.",
    ),
    "confirm": _Act(ClusterForm, decisions.confirm_cluster, "Cluster {} confirmed."),
    **{
        answer.value: _Act(
            ClusterForm,
            partial(decisions.reject_cluster, answer=answer),
            f"Answered: all articles of cluster {{}} are {answer.label}s.",
        )
        for answer in (Answer.VERSION, Answer.TEMPLATE)
    },
    "keep": _Act(MemberForm, decisions.keep_article, "This article now represents the cluster."),
    "keep-text": _Act(
        MemberForm,
        partial(decisions.keep_article, kind=Decision.Kind.KEEP_TEXT),
        "The text of this article now represents the cluster.",
    ),
}
_decision_view = decision_view("cluster", "cluster_id", query=True)


@_decision_view
def cluster_preview(request: EditorRequest, cluster_id: int, act: str) -> HttpResponse:
    """Show the clusters that a decision would lead to, and the decisions it contradicts; nothing is stored."""
    previewed = {name: shown for name, shown in ACTS.items() if shown.title}
    if act not in previewed:
        raise Http404(f"{act!r} is not a decision on a cluster; it can be one of {', '.join(previewed)}.")
    chosen = previewed[act]
    carried = [name for name in request.POST if name in ("seen", "tick", "other", "article")]
    with refusals(request, decisions.ReviewError, page=reverse("cluster", args=[cluster_id])):
        values = values_of(chosen.form(request.POST))
        members = Membership.objects.filter(cluster__in=[cluster_id, values.get("other", cluster_id)])
        articles = list(members.values_list("article", flat=True))
        context = {
            "cluster_number": cluster_id,
            "act": chosen,
            "address": reverse(f"cluster_{act.replace('-', '_')}", args=[cluster_id]),
            "preview": preview(lambda: chosen.make(cluster_id, **values, user=request.user), articles),
            "fields": [(name, value) for name in carried for value in request.POST.getlist(name)],
            "note": values["note"],
            "note_length": decisions.MAX_NOTE_CHARACTERS,
        }
        return render(request, "clusters/cluster_preview.html", context)
    return redirect(address_of(request, "cluster", cluster_id))


@_decision_view
def cluster_settle(request: EditorRequest, cluster_id: int, act: str) -> HttpResponse:
    """Answer for a whole cluster as it was shown, and go to the next question, or the next proposed cluster."""
    decided = find_cluster(cluster_id)
    waiting = ClusterFilter(request.GET).qs.filter(state=Cluster.State.PROPOSED)
    # Looked up before the decision, after which the cluster has no place among the others.
    following = next_of(waiting, ORDERING, decided) if decided else None
    if not _decide(request, cluster_id, act):
        return redirect(address_of(request, "cluster", cluster_id))
    if tab_of(request):
        return redirect(after_answer(request, Question("cluster", cluster_id)))
    if following is None and find_cluster(cluster_id) is None:
        return redirect(address_of(request, "clusters"))
    return redirect(address_of(request, "cluster", following or cluster_id))


@_decision_view
def cluster_part(request: EditorRequest, cluster_id: int, act: str) -> HttpResponse:
    """Split the ticked articles of a cluster off, or take one out, and go to what remains; each part stays together."""
    _decide(request, cluster_id, act)
    if find_cluster(cluster_id):
        return redirect(f"{address_of(request, 'cluster', cluster_id)}#members")
    messages.info(request, f"Cluster {cluster_id} no longer exists.")
    return redirect(address_of(request, "clusters"))


@_decision_view
def cluster_merge(request: EditorRequest, cluster_id: int) -> HttpResponse:
    """Merge a cluster with another one, and go to the merged cluster."""
    merged = _decide(request, cluster_id, "merge")
    found = cluster_of_decision(merged) if merged else None
    return redirect(address_of(request, "cluster", found or cluster_id))


@_decision_view
def cluster_keep(request: EditorRequest, cluster_id: int, act: str) -> HttpResponse:
    """Choose the article that represents the cluster, or the one whose text does."""
    _decide(request, cluster_id, act)
    return redirect(f"{address_of(request, 'cluster', cluster_id)}#members")


def _decide(request: EditorRequest, cluster_id: int, act: str) -> Decision | None:
    """Make the decision and show a message, or the reason why it failed; return it if it was made."""
    chosen = ACTS[act]
    with refusals(request, decisions.ReviewError, page=reverse("cluster", args=[cluster_id])):
        decision = chosen.make(cluster_id, **values_of(chosen.form(request.POST)), user=request.user)
        say_decided(request, chosen.said.format(cluster_id), decision)
        return decision
    return None


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


def series_list(request: HttpRequest) -> HttpResponse:
    """List the series, the largest first."""
    filterset = SeriesFilter(request.GET, Series.objects.select_related("newspaper"))
    page = page_of(filterset.qs.order_by("-articles", "id"), request.GET.get("page"))
    # Only an empty list asks when somebody looked for series.
    context = {"filter": filterset, "page": page, "last_run": last_finished_run, "least_days": LEAST_DAYS}
    return render(request, "series/series_list.html", context)


def series(request: HttpRequest, series_id: int) -> HttpResponse:
    """Show the articles of a series, the verdicts of its pairs, and its rule."""
    shown = get_object_or_404(Series.objects.select_related("newspaper", "ruled_by"), pk=series_id)
    page = page_of(articles_of(shown), request.GET.get("page"))
    return render(request, "series/series.html", {"series": shown, "page": page, **series_details(shown)})


def groups(request: HttpRequest) -> HttpResponse:
    """List the dense groups, the largest first."""
    filterset = GroupFilter(request.GET, listed_groups())
    page = page_of(filterset.qs.order_by("-size", "id"), request.GET.get("page"))
    context = {"filter": filterset, "page": page, "confirmed": confirmed_among(page.rows)}
    return render(request, "groups/groups.html", context)


def group(request: HttpRequest, group_id: int) -> HttpResponse:
    """Show a dense group: its articles, some of its pairs, where passes left out pairs, and what editors decided."""
    shown = get_object_or_404(listed_groups().select_related("ruled_by"), pk=group_id)
    context = {
        "group": shown,
        "page": page_of(members_of_group(shown), request.GET.get("page")),
        **group_details(shown),
        **note_of(request),
    }
    return render(request, "groups/group.html", context)


@decision_view("group", "group_id", query=True)
def group_confirm(request: EditorRequest, group_id: int) -> HttpResponse:
    """Confirm that all articles of a dense group are the same, as it was shown."""
    with refusals(request, decisions.ReviewError, page=reverse("group", args=[group_id])):
        decision = decisions.confirm_group(group_id, user=request.user, **values_of(GroupConfirmForm(request.POST)))
        say_decided(request, f"Confirmed: all {len(decision.articles):,} articles are the same.", decision)
    return _back(request, "group", group_id)


@decision_view(lambda request, page, number, **_: address_of(request, page, number))
def rule(request: EditorRequest, page: str, number: int, act: str) -> HttpResponse:
    """Make or end the rule that the articles of a series, or of a dense group, are never duplicates of each other."""
    with refusals(request, RuleError):
        if act == "make":
            parted = RULES[page].make(number, user=request.user)
            found = "1 pair was" if parted == 1 else f"{parted:,} pairs were"
            messages.success(request, f"Rule made: never duplicates of each other. {found} taken apart.")
        else:
            RULES[page].end(number, user=request.user)
            messages.success(request, "Rule ended. The next run judges these pairs again.")
    return _back(request, page, number)


def _back(request: HttpRequest, page: str, number: int) -> HttpResponse:
    rows, listed = (Series.objects, "series_list") if page == "series" else (DenseGroup.objects, "groups")
    return redirect(address_of(request, page, number) if rows.filter(pk=number).exists() else listed)
