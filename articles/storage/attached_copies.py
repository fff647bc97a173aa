"""Makes articles of attached copies: it undoes what a newspaper's policy has attached, one by one."""

import datetime
import gzip
from typing import Any, cast

from django.contrib.admin.models import CHANGE
from django.core import serializers

from articles.extraction.kept_pages import RawPage
from articles.models import ArticleURL, AttachedCopy, HeadlineVariant
from articles.storage.audit_log import log_action
from articles.storage.incoming import Details, IncomingArticle, PageCopy, SeenHeadline, SeenURL
from articles.storage.ingest import store_articles, writing
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
