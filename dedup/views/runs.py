"""The dashboard, the detection runs, and the background jobs: their lists, the page of each, and cancelling one."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from articles.jobs.kinds import KINDS
from articles.jobs.work import cancel, may_cancel
from articles.models import Job
from articles.paging import page_of
from dedup.detection.runs.requests import Wanted, cancel_run, request_run
from dedup.forms.base import RunForm
from dedup.models import DetectionRun, Profile
from dedup.review.answers.history import progress_of
from dedup.review.queries.runs import latest_runs, overview, queue, run_details, run_progress
from dedup.review.questions.tabs import DEFAULT, TABS
from dedup.review.readings.second_readings import agreements, in_dispute
from dedup.views.requests import EditorRequest, decision_view, safe_next, say


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
    if not form.is_valid():
        context = {"form": form, "queue": queue()}
        return render(request, "runs/run_new.html", context, status=400 if form.is_bound else 200)
    asked, fresh = request_run(Wanted(**form.cleaned_data), user=request.user)
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


def jobs(request: EditorRequest) -> HttpResponse:
    """List the jobs that this user may see, the latest first."""
    return render(request, "jobs/jobs.html", {"page": page_of(_seen(request), request.GET.get("page"))})


def _seen(request: EditorRequest) -> QuerySet[Job]:
    hidden = [kind.name for kind in KINDS.values() if kind.is_private and not request.user.has_perm(kind.permission)]
    mine = Q(requested_by=request.user)
    return Job.objects.filter(mine | ~Q(kind__in=hidden)).select_related("requested_by").order_by("-pk")


def _job(request: EditorRequest, job_id: int) -> Job:
    return get_object_or_404(_seen(request), pk=job_id)


def job(request: EditorRequest, job_id: int) -> HttpResponse:
    """Show how far a job is, or what became of it."""
    return render(request, "jobs/job.html", {"job": _job(request, job_id)})


def job_state(request: EditorRequest, job_id: int) -> HttpResponse:
    """Answer a page that asks how far its job is.

    When it has ended, the page loads itself again. The job's own page leads to that of what it makes.
    """
    shown = _job(request, job_id)
    on_its_own = request.htmx.current_url_abs_path == reverse("job", args=[job_id])
    if on_its_own and shown.page and shown.state != Job.State.WAITING:
        return HttpResponseClientRedirect(shown.page)
    return render(request, "jobs/_polled.html", {"job": shown}) if shown.is_active else HttpResponseClientRefresh()


@decision_view("job", "job_id")
def job_cancel(request: EditorRequest, job_id: int) -> HttpResponse:
    """Take a job from the queue, or stop it."""
    shown = _job(request, job_id)
    if not may_cancel(request.user, shown):
        raise PermissionDenied("Only who asked for this job, or an admin, may cancel it.")
    say(request, cancel(shown, request.user), "It was cancelled.", "It had ended before.", messages.INFO)
    return redirect(safe_next(request, shown.page or reverse("job", args=[job_id])))
