"""Makes articles of all attached copies of a newspaper, in a worker."""

from typing import Any

from articles.jobs.work import Work, ask
from articles.models import AttachedCopy, Newspaper
from articles.storage.attached_copies import AttachedCopyError, store_separately
from articles.storage.ingest import refresh_statistics


def request_separation(newspaper: Newspaper, user: Any = None) -> bool:
    """Queue this for a worker; return False if it waits already."""
    title = f"Attached copies of {newspaper.name}"
    return ask("separation", {"newspaper": newspaper.pk}, title=title, user=user, even_if_running=True)[1]


def separation_job(work: Work) -> int:
    """Make articles of those that are attached now, each in a transaction; return how many. Raises JobEndedError."""
    newspapers = Newspaper.objects.filter(pk=work.job.arguments["newspaper"])
    of_newspaper = AttachedCopy.objects.filter(article__newspaper__in=[paper.current for paper in newspapers])
    numbers, made = list(of_newspaper.order_by("pk").values_list("pk", flat=True)), 0
    for done, number in enumerate(numbers, start=1):
        try:
            store_separately(number, user=work.job.requested_by)
            made += 1
        except AttachedCopyError:  # it stays attached, which its article's page shows
            pass
        work.advance(done, len(numbers))
    refresh_statistics(made)
    return made
