"""The writer of trials, and of the newspapers that are saved from them."""

import datetime
from collections.abc import Mapping
from typing import Any

from django.contrib.admin.models import ADDITION
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.jobs.work import JobError, Work, ask
from articles.models import Job, Newspaper
from articles.normalization.url_patterns import pattern_fault
from articles.storage.audit_log import log_action
from articles.storage.extraction_rules import rule_of
from crawlers.discovery.found import TRIED, discover
from crawlers.fetching.elsewhere import NO_ANSWER, ask_spider
from crawlers.models import Trial

JOBS = DISCOVERY, TRIAL = "discovery", "trial"
_KEPT = datetime.timedelta(days=7)
# Seconds after which a trial is ended, and between two requests.
_LONGEST, _PAUSE = 100, 0.5


def look_for_sources(url: str, *, user: User) -> Trial:
    """Have a worker look for the sources of the newspaper with this home page."""
    return _request(DISCOVERY, Trial(url=url), f"Sources of {url}", user)


def try_stored(newspaper: Newspaper, *, user: User) -> Trial:
    """Have a worker try a newspaper that is stored, with its sources."""
    draft = {name: getattr(newspaper, name) for name in TRIED}
    return _request(TRIAL, Trial(newspaper=newspaper, draft=draft), f"Trial of {newspaper}", user)


def try_draft(trial: Trial, draft: Mapping[str, Any], *, user: User) -> None:
    """Have a worker try these fields of a newspaper, instead of what was tried before."""
    trial.draft, trial.results = dict(draft), None
    _request(TRIAL, trial, f"Trial of {draft['name']}", user)


@transaction.atomic
def _request(kind: str, trial: Trial, title: str, user: User) -> Trial:
    trial.save()
    page = reverse("trial", args=[trial.pk])
    trial.job, _ = ask(kind, {"trial": trial.pk}, title=title, user=user, page=page, even_if_running=True)
    trial.save(update_fields=["job"])
    return trial


def save_newspaper(trial: Trial, draft: Mapping[str, Any], *, user: User) -> Newspaper:
    """Store a newspaper with these fields, which are valid; return the one saved before if there is one."""
    with transaction.atomic():
        locked = Trial.objects.select_for_update().get(pk=trial.pk)
        if locked.newspaper is not None:
            return locked.newspaper
        locked.newspaper = add_newspaper(draft, crawl=True, user=user)
        locked.save(update_fields=["newspaper"])
    return locked.newspaper


@transaction.atomic
def add_newspaper(values: Mapping[str, Any], *, crawl: bool, user: User) -> Newspaper:
    """Store a newspaper with these values, which are valid; `crawl`: whether it is crawled with all others."""
    newspaper = Newspaper.objects.create(**values, crawl=crawl)
    log_action(newspaper, ADDITION, "was added on the page Newspapers.", user=user)
    return newspaper


# -- For the worker -------------------------------------------------------------------------------------------


def discovery_job(work: Work) -> None:
    """Look for the sources of a newspaper."""
    try:
        found = discover(_trial_of(work).url)
    except ValueError as error:
        raise JobError(str(error)) from error
    _store(work, found=found.as_json(), draft=found.fields())


def trial_job(work: Work) -> None:
    """Read the sources of a newspaper, and fetch ten of their articles."""
    trial = _trial_of(work)
    _store(work, results=try_newspaper(trial.draft, rule_of(trial.newspaper) if trial.newspaper else NO_RULE))


def try_newspaper(draft: Mapping[str, Any], rule: ExtractionRule = NO_RULE, *, pause: float = _PAUSE) -> dict[str, Any]:
    """Return what a crawl would find: `sources`, each with its number of links or a reason, and `articles`.

    An article has url, headline, day, byline, language, text, paywalled, date_doubt and text_doubt as they would be
    stored, or a reason why it would not be. `pause` is the time between two requests, in seconds. Raises JobError.
    """
    if fault := pattern_fault(draft["article_url_pattern"]):
        raise JobError(f"The article URL pattern cannot be used. {fault}")
    spider, values = "crawlers.requested.trial_spider.TrialSpider", {name: draft.get(name) for name in TRIED}
    found = ask_spider(spider, _LONGEST, pause=pause, draft=values, rule=rule)
    if found.get("reason") == NO_ANSWER:
        raise JobError(f"The site did not answer within {_LONGEST} seconds.")
    if "reason" in found:
        raise JobError("The trial failed because of an error in this program. The log of the worker has the details.")
    return found


def _trial_of(work: Work) -> Trial:
    """Return what a job tries; forget old trials."""
    Job.objects.filter(kind__in=JOBS, requested_at__lt=timezone.now() - _KEPT).exclude(pk=work.job.pk).delete()
    trial = Trial.objects.filter(job=work.job).select_related("newspaper").first()
    if trial is None:
        raise JobError("It was removed, or something else is tried instead.")
    return trial


@transaction.atomic
def _store(work: Work, **values: Any) -> None:
    Trial.objects.filter(job=work.job).update(**values)
    work.finish()
