"""The writer of trials, and of the newspapers that are saved from them."""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Mapping
from typing import Any

from django.contrib.admin.models import ADDITION
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from articles.extraction.rules import NO_RULE
from articles.models import Newspaper
from articles.storage.audit_log import log_action
from articles.storage.extraction_rules import rule_of
from crawlers.desk.trying import LONGEST, Draft, TrialError, try_newspaper
from crawlers.discovery.asking import discover
from crawlers.discovery.found import FIELDS as KINDS
from crawlers.discovery.found import FoundNewspaper
from crawlers.models import Trial

# A trial whose worker was killed counts as failed after this time.
_GIVEN_UP_AFTER = datetime.timedelta(seconds=LONGEST + 20)
_KEPT = datetime.timedelta(days=7)
_PAUSE = 2.0
FIELDS = ("name", "host", "article_url_pattern", "feed_urls", "sitemap_urls", "section_urls", "teasers")

logger = logging.getLogger(__name__)


def look_for_sources(url: str, *, user: User) -> Trial:
    """Have a worker look for the sources of the newspaper with this home page."""
    return Trial.objects.create(url=url, step=Trial.Step.DISCOVER, asked_by=user)


def try_stored(newspaper: Newspaper, *, user: User) -> Trial:
    """Have a worker try a newspaper that is stored, with its sources."""
    draft = {name: getattr(newspaper, name) for name in FIELDS}
    return Trial.objects.create(newspaper=newspaper, step=Trial.Step.TRY, draft=draft, asked_by=user)


def try_draft(trial: Trial, draft: Mapping[str, Any]) -> None:
    """Have a worker try these fields of a newspaper, instead of what was tried before."""
    values = {"draft": draft, "step": Trial.Step.TRY, "state": Trial.State.WAITING, "results": None, "error": ""}
    Trial.objects.filter(pk=trial.pk, newspaper=None).update(**values)


def save_newspaper(trial: Trial, draft: Mapping[str, Any], *, user: User) -> Newspaper:
    """Store a newspaper with these fields, which are valid; return the one saved before if there is one."""
    with transaction.atomic():
        locked = Trial.objects.select_for_update().get(pk=trial.pk)
        if locked.newspaper is not None:
            return locked.newspaper
        newspaper = Newspaper.objects.create(**draft, crawl=True)
        locked.newspaper = newspaper
        locked.save(update_fields=["newspaper"])
        log_action(newspaper, ADDITION, "was added on the page Crawls.", user=user, object_id=str(newspaper.pk))
    return newspaper


# -- For the worker -------------------------------------------------------------------------------------------


def go_on_trying(ended: threading.Event) -> None:
    """Do the trials that wait, one after the other, until `ended`."""
    while not ended.wait(_PAUSE):
        try:
            while not ended.is_set() and do_next():
                pass
        except (OperationalError, InterfaceError):
            logger.info("Trials wait for the database.")
        except Exception:
            logger.exception("A trial failed.")
        connection.close()


def do_next() -> bool:
    """Do the next step of the trial that has waited longest; return False if none waits."""
    _tidy()
    trial = Trial.objects.filter(state=Trial.State.WAITING).order_by("pk").first()
    if trial is None:
        return False
    mine = Trial.objects.filter(pk=trial.pk, state=Trial.State.WAITING)
    if mine.update(state=Trial.State.RUNNING, begun_at=timezone.now()):
        values = _discovered(trial) if trial.step == Trial.Step.DISCOVER else _tried(trial)
        Trial.objects.filter(pk=trial.pk, state=Trial.State.RUNNING).update(**values)
    return True


def _discovered(trial: Trial) -> dict[str, Any]:
    try:
        found = discover(trial.url)
    except ValueError as error:
        return {"state": Trial.State.FAILED, "error": str(error)}
    return {"state": Trial.State.DONE, "found": found.as_json(), "draft": _proposed(found)}


def _proposed(found: FoundNewspaper) -> dict[str, Any]:
    """Return the fields of a newspaper as discovery recommends them."""
    urls = {name: found.recommended(kind) for kind, name in KINDS.items()}
    return {"name": found.name, "host": found.host, "article_url_pattern": found.article_url_pattern, **urls}


def _tried(trial: Trial) -> dict[str, Any]:
    draft = {name: value for name, value in trial.draft.items() if name != "host"}
    rule = rule_of(trial.newspaper) if trial.newspaper else NO_RULE
    try:
        results = try_newspaper(Draft(**draft, rule=rule))
    except TrialError as error:
        return {"state": Trial.State.FAILED, "error": str(error)}
    return {"state": Trial.State.DONE, "results": results}


def _tidy() -> None:
    """Delete old trials, and mark those whose worker was killed as failed."""
    now = timezone.now()
    Trial.objects.filter(asked_at__lt=now - _KEPT).delete()
    silent = Trial.objects.filter(state=Trial.State.RUNNING, begun_at__lt=now - _GIVEN_UP_AFTER)
    silent.update(state=Trial.State.FAILED, error="The worker ended during the trial. Try again.")
