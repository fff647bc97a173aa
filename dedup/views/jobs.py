"""The pages of background jobs: the list, how far one is, and cancelling it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from articles.jobs.kinds import KINDS
from articles.jobs.work import cancel, may_cancel
from articles.models import Job
from articles.paging import page_of
from dedup.views.requests import EditorRequest, decision_view, safe_next, say


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
