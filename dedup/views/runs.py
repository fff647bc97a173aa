"""The dashboard, the list of detection runs, the page of a run, and starting and cancelling one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from articles.paging import page_of
from dedup.detection.runs.requests import Wanted, cancel_run, request_run
from dedup.forms.base import RunForm
from dedup.models import DetectionRun, Profile
from dedup.review.answers.history import progress_of
from dedup.review.queries.runs import latest_runs, overview, queue, run_details, run_progress
from dedup.review.questions.tabs import DEFAULT, TABS
from dedup.review.readings.second_readings import agreements, in_dispute
from dedup.views.requests import EditorRequest, say


def runs(request: HttpRequest) -> HttpResponse:
    """List what waits for a worker, and the runs, the latest first."""
    nightly = Profile.objects.filter(nightly_due__isnull=False).order_by("nightly_due")
    context = {"page": page_of(latest_runs(), request.GET.get("page")), "nightly": nightly, "queue": queue()}
    return render(request, "runs/runs.html", context)


def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the options, progress and results of a run."""
    shown = get_object_or_404(DetectionRun.objects.select_related("requested_by", "profile"), pk=run_id)
    context = {"run": shown, "progress": run_progress(shown), **run_details(shown)}
    return render(request, "runs/run.html", context)


def run_phases(request: HttpRequest, run_id: int) -> HttpResponse:
    """Answer the page of a run, which asks how far it is; when it has ended, the page loads itself again."""
    shown = get_object_or_404(DetectionRun, pk=run_id)
    progress = run_progress(shown)
    if not progress.at_work:
        return HttpResponseClientRefresh()
    return render(request, "runs/_progress.html", {"run": shown, "progress": progress})


@require_POST
def run_cancel(request: EditorRequest, run_id: int) -> HttpResponse:
    """Ask a run to stop."""
    shown = get_object_or_404(DetectionRun, pk=run_id)
    done = "The run is being cancelled. What it has finished is kept."
    say(request, cancel_run(shown, user=request.user), done, "The run has ended already.", messages.ERROR)
    return redirect("run", shown.pk)


def run_new(request: EditorRequest) -> HttpResponse:
    """Queue a run; a worker executes it."""
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _requested(request, form.cleaned_data)
    context = {"form": form, "queue": queue()}
    return render(request, "runs/run_new.html", context, status=400 if form.is_bound else 200)


def _requested(request: EditorRequest, values: dict[str, Any]) -> HttpResponse:
    asked, fresh = request_run(Wanted(**values), user=request.user)
    if isinstance(asked, DetectionRun):
        messages.warning(request, "This run is already under way. It was not queued again.")
        return redirect("run", asked.pk)
    say(request, fresh, "The run is queued.", "The same run already waits for a worker. It was not queued again.")
    return redirect("job", asked.pk)


def dashboard(request: EditorRequest) -> HttpResponse:
    """Show the numbers of articles, clusters and duplicates, and where to begin reviewing."""
    questions = TABS[DEFAULT].count(request.user)
    context = {
        "questions": questions,
        "progress": progress_of(request.user, questions) if request.user.has_perm("dedup.add_decision") else None,
        "agreement": agreements().all,
        "disagreements": in_dispute(is_open=True).count(),
        **overview(),
    }
    return render(request, "dashboard/dashboard.html", context)
