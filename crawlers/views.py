"""The pages about crawls: each newspaper's visits and why they failed; crawls by the worker; adding newspapers."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from articles.forms import UserRequest
from articles.models import Job, Newspaper
from articles.paging import page_of
from articles.storage.audit_log import logged_actions
from crawlers.discovery.found import FoundNewspaper
from crawlers.fetching.sites import site_of
from crawlers.models import Trial
from crawlers.reports import crawl_jobs, crawls_now, newspaper_report, newspapers_by_need, reports_of, tried
from crawlers.requested import queue, trials
from crawlers.requested.forms import AddForm, DraftForm, NewspapersForm, ScheduleForm

VISITS_SHOWN = 60
CHANGES_SHOWN = 10
MAX_SEARCHED_CHARACTERS = 200


def crawls(request: HttpRequest) -> HttpResponse:
    """List the newspapers, or those that were searched for, below the crawls that run and wait."""
    words = " ".join(request.GET.get("q", "").replace("\0", "").split())[:MAX_SEARCHED_CHARACTERS]
    page = page_of(newspapers_by_need(words), request.GET.get("page"))
    context = {"page": page, "reports": reports_of(page.rows), "crawls": crawls_now(), "words": words}
    return render(request, "crawlers/crawls.html", context)


def newspaper_crawls(request: HttpRequest, newspaper_id: int, form: ScheduleForm | None = None) -> HttpResponse:
    """Show the visits of a newspaper, the latest first, and how many links wait or were refused.

    `form` is one that was not accepted.
    """
    newspaper = get_object_or_404(newspapers_by_need(), pk=newspaper_id)
    report = newspaper_report(newspaper, VISITS_SHOWN)
    context = {
        "newspaper": newspaper,
        "report": report,
        "form": form or ScheduleForm.showing(report.schedule),
        "changes": logged_actions(Newspaper, object_id=newspaper.pk)[:CHANGES_SHOWN],
    }
    return render(request, "crawlers/newspaper.html", context, status=400 if form else 200)


def crawl_progress(request: HttpRequest) -> HttpResponse:
    """Answer the page of crawls, which asks how far the crawl is; if more has changed, the page loads itself again."""
    now = crawls_now()
    if request.GET.get("state") != now.state:
        return HttpResponseClientRefresh()
    return render(request, "crawlers/_progress.html", {"crawls": now})


def crawl_log(request: HttpRequest) -> HttpResponse:
    """List the crawls of the worker that ended, the latest first."""
    ended = crawl_jobs().exclude(state__in=Job.ACTIVE)
    return render(request, "crawlers/log.html", {"page": page_of(ended, request.GET.get("page"))})


@require_POST
def crawl_new(request: UserRequest) -> HttpResponse:
    """Have the worker crawl the newspapers named in the form; without any, all that are marked for crawl."""
    form = NewspapersForm(request.POST)
    every = "newspaper" not in request.POST
    if not every and not form.is_valid():
        messages.error(request, "That newspaper does not exist any more.")
        return redirect("crawls")
    wanted = list(queue.crawlable() if every else form.cleaned_data["newspaper"])
    added = queue.request_crawl(wanted, user=request.user)
    if not wanted:
        messages.error(request, "No newspaper that is marked for crawl has a feed, sitemap or section page.")
    elif added:
        names = str(added[0]) if len(added) == 1 else f"{len(added)} newspapers"
        messages.success(request, f"A crawl of {names} is queued.")
    else:
        messages.warning(request, "That crawl waits or runs already. It was not queued again.")
    return redirect("newspaper_crawls", wanted[0].pk) if len(wanted) == 1 and not every else redirect("crawls")


@require_POST
def crawl_take_back(request: UserRequest, newspaper_id: int) -> HttpResponse:
    newspaper = get_object_or_404(Newspaper, pk=newspaper_id)
    if queue.take_back(newspaper):
        messages.success(request, f"{newspaper} was taken from the queue.")
    else:
        messages.error(request, f"{newspaper} does not wait any more.")
    return redirect("newspaper_crawls", newspaper.pk)


@require_POST
def crawl_schedule(request: UserRequest, newspaper_id: int) -> HttpResponse:
    newspaper = get_object_or_404(Newspaper.objects.in_use(), pk=newspaper_id)
    form = ScheduleForm(request.POST)
    if not form.is_valid():
        return newspaper_crawls(request, newspaper.pk, form)
    messages.success(request, f"{newspaper} is crawled {form.set_for(newspaper, user=request.user)}.")
    return redirect("newspaper_crawls", newspaper.pk)


# -- Adding a newspaper: from its home page to sources, to ten articles, to a schedule -------------------------------


def newspaper_add(request: UserRequest) -> HttpResponse:
    """Ask for the home page of a newspaper, and have a worker look for its sources; or add one that is not crawled."""
    form = AddForm(request.POST or None)
    if form.is_valid():
        if form.is_plain:
            values = {"name": form.cleaned_data["name"], "host": site_of(form.cleaned_data["url"])}
            added = trials.add_newspaper(values, crawl=False, user=request.user)
            messages.success(request, f"{added} is added. It is not crawled.")
            return redirect("newspaper_crawls", added.pk)
        return redirect("trial", trials.look_for_sources(form.cleaned_data["url"], user=request.user).pk)
    latest = Trial.objects.filter(newspaper=None).select_related("job__requested_by")[:5]
    return render(request, "crawlers/add.html", {"form": form, "latest": latest}, status=400 if form.is_bound else 200)


@require_POST
def newspaper_try(request: UserRequest, newspaper_id: int) -> HttpResponse:
    newspaper = get_object_or_404(Newspaper.objects.in_use(), pk=newspaper_id)
    return redirect("trial", trials.try_stored(newspaper, user=request.user).pk)


def trial(request: UserRequest, trial_id: int) -> HttpResponse:
    """Show how far a trial is, what it found, and the form that tries it again or saves the newspaper."""
    shown = get_object_or_404(Trial.objects.select_related("newspaper", "job__requested_by"), pk=trial_id)
    found = FoundNewspaper.of_json(shown.found) if shown.found else None
    if request.method == "POST" and shown.newspaper is None:
        form = DraftForm(request.POST, found=found)
        if form.is_valid() and "save" in request.POST:
            newspaper = trials.save_newspaper(shown, form.draft, user=request.user)
            when = form.set_for(newspaper, user=request.user)
            messages.success(request, f"{newspaper} is saved. It is crawled {when}.")
            return redirect("newspaper_crawls", newspaper.pk)
        if form.is_valid():
            trials.try_draft(shown, form.draft, user=request.user)
            return redirect("trial", shown.pk)
    else:
        form = DraftForm.of(shown.draft, found)
    context = {"trial": shown, "found": found, "form": form, "tried": tried(shown)}
    return render(request, "crawlers/trial.html", context, status=400 if form.is_bound else 200)
