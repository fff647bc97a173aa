"""Makes articles of attached copies, of one or in a worker of all of a newspaper: what its policy has attached."""

import datetime
import gzip
from typing import Any, cast

from django.contrib.admin.models import CHANGE
from django.core import serializers

from articles.extraction.kept_pages import RawPage
from articles.jobs.work import Work, ask
from articles.models import ArticleURL, AttachedCopy, HeadlineVariant, Newspaper
from articles.storage.audit_log import log_action
from articles.storage.incoming import Details, IncomingArticle, PageCopy, SeenHeadline, SeenURL
from articles.storage.ingest import refresh_statistics, store_articles, writing
from articles.storage.preparing import DETAILS
from articles.storage.reextraction import listed_date


class AttachedCopyError(ValueError):
    """A copy that stays attached; the message says why."""


def store_separately(number: int, *, user: Any) -> int:
    """Store an attached copy as an article of its own, whatever the policy is; return the number of the article.

    Its URLs, and the headlines under them, leave the article that it was attached to. One transaction. Raises
    AttachedCopyError.
    """
    with writing():
        copy = AttachedCopy.objects.select_related("article__newspaper").filter(pk=number).first()
        if copy is None:
            raise AttachedCopyError("it is not attached any more")
        urls = [url for url, _ in copy.seen["urls"]]
        headlines = HeadlineVariant.objects.filter(article=copy.article_id, url__in=urls)
        incoming = _incoming(copy, [SeenHeadline(row.headline, row.day, row.url) for row in headlines])
        headlines.delete()
        ArticleURL.objects.filter(article=copy.article_id, url__in=urls).delete()
        copy.delete()
        [stored] = store_articles([incoming], attach=False)
        if stored.article_id is None or stored.outcome != "created":
            raise AttachedCopyError(stored.reason or f"a page declares its URL as one of article {stored.article_id}")
        if user is not None:
            log_action(copy.article, CHANGE, f"made its attached copy the article {stored.article_id}.", user=user)
    return stored.article_id


def _incoming(copy: AttachedCopy, headlines: list[SeenHeadline]) -> IncomingArticle:
    """Return the article as it came, with further headlines under which it has come since."""
    seen = copy.seen
    came = [SeenHeadline(headline, datetime.date.fromisoformat(day), url) for headline, day, url in seen["headlines"]]
    urls = [SeenURL(url, ArticleURL.Kind(kind)) for url, kind in (*seen["urls"], *seen["declared"])]
    return IncomingArticle(
        date=copy.date,
        headline=copy.headline,
        url=copy.url,
        content=copy.content,
        newspaper=copy.article.newspaper.name,
        external_id=copy.external_id,
        kind=next((url.kind for url in urls if url.url == copy.url), ArticleURL.Kind.PAGE),
        other_urls=urls,
        details=Details(**{name: getattr(copy, name) for name in DETAILS}),
        page=_page(copy) if copy.page else None,
        headlines=[seen for seen in (*came, *headlines) if seen.headline != copy.headline],
        extra_columns=copy.extra_columns,
        # Its URLs are complete, unless its page declares some that are not believed: an export has none of these.
        restored=not seen["declared"],
    )


def _page(copy: AttachedCopy) -> PageCopy:
    rows = serializers.deserialize("json", copy.page, ignorenonexistent=True)
    page, *following = (cast("Any", row.object) for row in rows)
    return PageCopy(
        url=page.url,
        content_type=page.content_type,
        body=gzip.decompress(page.body),
        extractor_version=copy.extractor_version,
        published=listed_date(page),
        rule=page.rule_id,
        following=[RawPage(gzip.decompress(row.body), row.url, row.content_type) for row in following],
        feed_entry=bytes(page.feed_entry),
        fetched=page.fetched_at,
    )


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
