"""The state of a job, on every page that shows one."""

from typing import Any

from django import template

from articles.jobs.kinds import KINDS
from articles.jobs.work import is_at_work, may_cancel
from articles.models import Job
from dedup.detection.runs.requests import is_worker_alive

register = template.Library()


@register.inclusion_tag("jobs/_job.html", takes_context=True)
def job_state(context: dict[str, Any], job: Job) -> dict[str, Any]:
    """Show how far a job is, why it failed, and a button that cancels it."""
    request, kind = context["request"], KINDS.get(job.kind)
    return {
        "job": job,
        "here": request.htmx.current_url_abs_path if request.htmx else request.get_full_path(),
        "label": kind.label if kind else "job",
        "unit": kind.unit if kind else "",
        "worker_alive": is_worker_alive(),
        "is_left": job.state == Job.State.RUNNING and not is_at_work(job),
        "may_cancel": job.is_active and may_cancel(request.user, job),
        "csrf_token": context.get("csrf_token"),
    }
