"""The pages of background jobs: the list, how far one is, and cancelling it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from articles.jobs.kinds import KINDS
from articles.jobs.work import cancel, may_cancel
from articles.models import Job
from articles.paging import page_of
from dedup.views.requests import EditorRequest, decision_view, safe_next


def jobs(request: EditorRequest) -> HttpResponse:
    """List the jobs that this user may see, the latest first."""
    return render(request, "jobs/jobs.html", {"page": page_of(_seen(request), request.GET.get("page"))})


def _seen(request: EditorRequest) -> QuerySet[Job]:
    hidden = [kind.name for kind in KINDS.values() if kind.is_private and not request.user.has_perm(kind.permission)]
    mine = Q(requested_by=request.user)
    return Job.objects.filter(mine | ~Q(kind__in=hidden)).select_related("requested_by").order_by("-pk")


def _job(request: EditorRequest, job_id: int) -> Job:
    job = _seen(request).filter(pk=job_id).first()
    if job is None:
        raise Http404(f"There is no job {job_id}")
    return job


def job(request: EditorRequest, job_id: int) -> HttpResponse:
    """Show how far a job is, or what became of it."""
    return render(request, "jobs/job.html", {"job": _job(request, job_id)})


def job_state(request: EditorRequest, job_id: int) -> HttpResponse:
    """Answer a page that asks how far its job is.

    When it has ended, the page loads itself again. The job's own page leads to that of what it makes.
    """
    shown = _job(request, job_id)
    on_its_own = request.htmx.current_url_abs_path == _address(request, job_id)
    if on_its_own and shown.page and shown.state != Job.State.WAITING:
        return HttpResponseClientRedirect(shown.page)
    return render(request, "jobs/_polled.html", {"job": shown}) if shown.is_active else HttpResponseClientRefresh()


def _address(_request: HttpRequest, job_id: int) -> str:
    return reverse("job", args=[job_id])


@decision_view(_address)
def job_cancel(request: EditorRequest, job_id: int) -> HttpResponse:
    """Take a job from the queue, or stop it."""
    shown = _job(request, job_id)
    if not may_cancel(request.user, shown):
        raise PermissionDenied("Only who asked for this job, or an admin, may cancel it.")
    if cancel(shown, request.user):
        messages.success(request, "It was cancelled.")
    else:
        messages.info(request, "It had ended before.")
    return redirect(safe_next(request, shown.page or reverse("job", args=[job_id])))
