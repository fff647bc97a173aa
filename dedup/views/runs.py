"""The runs of the detection, the page of one, and starting one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from articles.paging import page_of
from dedup.forms import RunForm
from dedup.models import DetectionRun, Profile
from dedup.runs.facts import pass_counts, run_facts, run_settings
from dedup.views.requests import EditorRequest

BLOCKS_SHOWN = 200


def runs(request: HttpRequest) -> HttpResponse:
    """List the runs, the latest first."""
    every = DetectionRun.objects.select_related("requested_by").order_by("-started_at", "-id")
    nightly = Profile.objects.filter(nightly_due__isnull=False).order_by("nightly_due")
    return render(request, "runs/runs.html", {"page": page_of(every, request.GET.get("page")), "nightly": nightly})


def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show what a run was asked, how far it came, and what it counted."""
    shown = get_object_or_404(DetectionRun.objects.select_related("requested_by", "profile"), pk=run_id)
    context = {
        "run": shown,
        "passes": pass_counts(shown),
        "facts": run_facts(shown),
        "settings": run_settings(shown),
        "blocks": shown.blocks.order_by("-id")[:BLOCKS_SHOWN],
        "block_number": shown.blocks.count(),
        "blocks_shown": BLOCKS_SHOWN,
    }
    return render(request, "runs/run.html", context)


@permission_required("dedup.add_detectionrun", raise_exception=True)
def run_new(request: EditorRequest) -> HttpResponse:
    """Ask for a run; a worker executes it."""
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        _enqueue(form.cleaned_data, user_id=request.user.pk)
        messages.success(
            request,
            "The run is queued. Once a worker has taken it up, it appears here, or why it could not begin.",
        )
        return redirect("runs")
    return render(request, "runs/run_new.html", {"form": form}, status=400 if form.is_bound else 200)


def _enqueue(values: dict[str, Any], *, user_id: int) -> None:
    from dedup.runs.tasks import find_duplicates_task  # noqa: PLC0415 - the tasks import the pipeline and its numeric kernels

    since, until = values["since"], values["until"]
    find_duplicates_task.enqueue(
        profile_id=values["profile"].pk,
        since=since and since.isoformat(),
        until=until and until.isoformat(),
        newspaper_ids=[newspaper.pk for newspaper in values["newspapers"]],
        user_id=user_id,
        new=values["new"],
    )
