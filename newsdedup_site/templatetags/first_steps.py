"""The dashboard: the first steps of an installation, up to the first run without a shell, and what is wrong now."""

from dataclasses import dataclass, replace
from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Exists
from django.urls import reverse

from articles.models import Article, Job
from crawlers.requested.queue import KIND, crawlable
from dedup.detection.runs.requests import is_worker_alive, waiting_runs
from dedup.models import DetectionRun
from newsdedup_site.access.addresses import ADDRESSES, SHOWN_ADMINS, admins, has_right
from newsdedup_site.alarms.views import present

register = template.Library()


@dataclass(frozen=True)
class Step:
    """Something to do first: the button for it, what is done of it, and what is under way with its page."""

    label: str
    explains: str
    name: str  # of the address of the button
    done: int  # how many of `things` there are
    things: str
    now: str = ""
    now_at: str = ""
    allowed: bool = True
    is_next: bool = False


@register.simple_tag(takes_context=True)
def first_steps(context: dict[str, Any]) -> dict[str, Any] | None:
    """Return the first steps as the user sees them, and who can take those that they may not.

    None once a run has compared articles.
    """
    if DetectionRun.objects.filter(Exists(Article.objects.all()), state=DetectionRun.State.DONE).exists():
        return None
    user: User | AnonymousUser = context["request"].user
    found = [_bring(), _crawl(), _compare()]
    following = found[-1] if found[0].done else found[0]
    steps = [
        replace(step, allowed=has_right(user, ADDRESSES[step.name].right), is_next=step is following) for step in found
    ]
    return {
        "steps": steps,
        "articles": steps[0].done,
        "allowed": any(step.allowed for step in steps),
        "worker_alive": is_worker_alive(),
        "admins": [] if all(step.allowed for step in steps) else list(admins()[:SHOWN_ADMINS]),
    }


def _bring() -> Step:
    under_way = Job.objects.filter(kind="import", state__in=Job.ACTIVE).order_by("-pk").first()
    return Step(
        name="imports",
        label="Import a file",
        explains="A CSV or JSON Lines file with the URL, the day, the headline and the text of an article in each row.",
        done=Article.objects.count(),
        things="article",
        now=f"{under_way.title}: {under_way.get_state_display()}" if under_way else "",
        now_at=under_way.page if under_way else "",
    )


def _crawl() -> Step:
    under_way = Job.objects.filter(kind=KIND, state__in=Job.ACTIVE).order_by("-pk").first()
    return Step(
        name="newspaper_add",
        label="Add a newspaper",
        explains="Instead of a file, or as well: enter a home page, and its articles are fetched as they appear.",
        done=len(crawlable()),
        things="newspaper",
        now=f"A crawl: {under_way.get_state_display()}" if under_way else "",
        now_at=reverse("crawls"),
    )


def _compare() -> Step:
    waiting = waiting_runs().first()
    latest = DetectionRun.objects.first()
    now, now_at = "", ""
    if waiting:
        now, now_at = "A run: waiting for a worker", reverse("job", args=[waiting.pk])
    elif latest:
        now, now_at = f"{latest}: {latest.get_state_display()}", reverse("run", args=[latest.pk])
    return Step(
        name="run_new",
        label="Start a run",
        explains="A run compares the articles with each other and puts what it is not sure of into the queue.",
        done=0,
        things="run",
        now=now,
        now_at=now_at,
    )


@register.simple_tag(takes_context=True)
def alarms(context: dict[str, Any]) -> dict[str, Any]:
    """Return what is wrong now, as far as the user may know it."""
    return present(context["request"].user)
