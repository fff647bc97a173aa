"""Template tags and filters for every page: numbers, durations, links, the query string of lists, the state of jobs."""

from datetime import datetime
from typing import Any

from django import template
from django.forms import BoundField
from django.template.defaultfilters import pluralize
from django.utils.timesince import timesince

from articles.jobs.kinds import KINDS
from articles.jobs.work import is_at_work, may_cancel
from articles.models import Job
from articles.normalization.language import language_name
from dedup.detection.runs.requests import is_worker_alive
from dedup.views.requests import query_with

register = template.Library()
register.filter("language", language_name)


@register.filter
def percent(share: float) -> str:
    """Write a share of 0..1 as a percentage with one decimal."""
    return f"{share * 100:.1f}%"


@register.filter
def duration(started: datetime, finished: datetime) -> str:
    """Write a duration: in seconds below two minutes, otherwise in the two largest of days, hours and minutes."""
    seconds = round((finished - started).total_seconds())
    return f"{seconds} second{pluralize(seconds)}" if seconds < 120 else timesince(started, finished)


@register.filter
def entries(mapping: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the items of a mapping, whatever its keys are: in a template, a key "items" hides .items."""
    return list(mapping.items())


@register.filter
def have_errors(fields: list[BoundField]) -> bool:
    """Return whether a form refuses one of these fields: what is folded around them is open then."""
    return any(field.errors for field in fields)


@register.filter
def is_web_address(url: str) -> bool:
    """Return whether a URL from outside may become a link; `javascript:` and the like may not."""
    return url.lower().startswith(("http://", "https://"))


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: Any) -> str:
    """Return this page's query string with these changes, without empty fields; None removes a field."""
    return query_with(context["request"], **changes)


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
