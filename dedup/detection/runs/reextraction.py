"""Extracting a newspaper's stored pages again, by a worker, after its rule has changed."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from articles.jobs.work import Work, ask
from articles.models import Newspaper
from articles.storage.ingest import refresh_statistics
from articles.storage.reextraction import reextract


def reextraction_job(work: Work) -> int:
    """Extract the outdated pages of a newspaper; return how many articles changed."""
    newspaper = Newspaper.objects.filter(pk=work.job.arguments["newspaper"]).first()
    if newspaper is None:
        return 0
    changed = sum(batch.changed for batch in reextract([newspaper.current]))
    refresh_statistics(changed)
    return changed


def request_reextraction(newspaper: Newspaper, user: Any = None) -> bool:
    """Queue it for a worker; return False if it waits already."""
    title, page = f"Pages of {newspaper.name}", reverse("extraction_rule", args=[newspaper.pk])
    # One that runs, or was killed while it ran, may have read the rule of before.
    return ask("reextraction", {"newspaper": newspaper.pk}, title=title, user=user, page=page, even_if_running=True)[1]
