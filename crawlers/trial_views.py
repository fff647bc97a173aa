"""Adding a newspaper in the browser: from its home page to sources, to ten articles, to a schedule."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from articles.models import Newspaper
from crawlers.desk import queue, trials
from crawlers.desk.forms import DraftForm, HomePageForm
from crawlers.desk.reports import tried
from crawlers.discovery.found import FoundNewspaper
from crawlers.models import Trial


class AdminRequest(HttpRequest):
    """A request of somebody who is logged in, as the table of addresses asks for."""

    user: User


def newspaper_add(request: AdminRequest) -> HttpResponse:
    """Ask for the home page of a newspaper, and have a worker look for its sources."""
    form = HomePageForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return redirect("trial", trials.look_for_sources(form.cleaned_data["url"], user=request.user).pk)
    latest = Trial.objects.filter(newspaper=None).select_related("asked_by")[:5]
    context = {"form": form, "latest": latest}
    return render(request, "crawlers/add.html", context, status=400 if form.is_bound else 200)


@require_POST
def newspaper_try(request: AdminRequest, newspaper_id: int) -> HttpResponse:
    """Have a worker try a newspaper that is stored."""
    newspaper = get_object_or_404(Newspaper.objects.in_use(), pk=newspaper_id)
    return redirect("trial", trials.try_stored(newspaper, user=request.user).pk)


def trial(request: AdminRequest, trial_id: int) -> HttpResponse:
    """Show how far a trial is, what it found, and the form that tries it again or saves the newspaper."""
    shown = get_object_or_404(Trial.objects.select_related("newspaper"), pk=trial_id)
    found = FoundNewspaper.of_json(shown.found) if shown.found else None
    if request.method == "POST" and shown.newspaper is None:
        form = DraftForm(request.POST, found=found)
        if form.is_valid() and (answer := _answer(request, shown, form)):
            return answer
    else:
        form = DraftForm.of(shown.draft, found)
    context = {"trial": shown, "found": found, "form": form, "tried": tried(shown), "attended": queue.is_attended()}
    return render(request, "crawlers/trial.html", context, status=400 if form.is_bound else 200)


def _answer(request: AdminRequest, shown: Trial, form: DraftForm) -> HttpResponse | None:
    """Try or save what was entered; return None if it cannot be saved."""
    if "save" not in request.POST:
        trials.try_draft(shown, form.draft)
        return redirect("trial", shown.pk)
    if not form.is_free():
        return None
    newspaper = trials.save_newspaper(shown, form.draft, user=request.user)
    every_hours, daily_at = form.chosen
    schedule = queue.set_schedule(newspaper, every_hours=every_hours, daily_at=daily_at, user=request.user)
    words = f"It is crawled {schedule}." if schedule else "It is crawled only when asked to."
    messages.success(request, f"{newspaper} is saved. {words}")
    return redirect("newspaper_crawls", newspaper.pk)


def trial_state(request: HttpRequest, trial_id: int) -> HttpResponse:
    """Answer the page of a trial, which asks how far it is; when it has ended, the page loads itself again."""
    shown = Trial.objects.filter(pk=trial_id).first()
    if shown is None or request.GET.get("state") != shown.state:
        return HttpResponseClientRefresh()
    return render(request, "crawlers/_trial_state.html", {"trial": shown, "attended": queue.is_attended()})
