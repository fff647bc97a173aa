"""The list of detection runs, the page of a run, and starting a run."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from articles.paging import page_of
from dedup.forms import RunForm
from dedup.models import DetectionRun
from dedup.review.queries.runs import latest_runs, nightly_profiles, run_details
from dedup.views.requests import EditorRequest


def runs(request: HttpRequest) -> HttpResponse:
    """List the runs, the latest first."""
    context = {"page": page_of(latest_runs(), request.GET.get("page")), "nightly": nightly_profiles()}
    return render(request, "runs/runs.html", context)


def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the options, progress and results of a run."""
    shown = get_object_or_404(DetectionRun.objects.select_related("requested_by", "profile"), pk=run_id)
    return render(request, "runs/run.html", {"run": shown, **vars(run_details(shown))})


def run_new(request: EditorRequest) -> HttpResponse:
    """Queue a run; a worker executes it."""
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        _enqueue(form.cleaned_data, user_id=request.user.pk)
        messages.success(
            request,
            "The run is queued. It appears here when a worker starts it, or with the reason if it cannot start.",
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
