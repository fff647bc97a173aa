"""The writer of revisions: what later visits to the pages of stored articles found.

The article stays as it was first stored. Each revision is stored once, under the next number; a page that shows the
same text and headline as before stores nothing.
"""

import datetime
import gzip
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction

from articles.extraction.extract import EXTRACTOR_VERSION
from articles.extraction.kept_pages import KeptPage, extract_kept
from articles.models import Article, ArticlePage, ArticleRevision, Newspaper
from articles.storage.extraction_rules import kept_page, rule_of
from articles.storage.renormalization import articles_of

MAX_NOTE_CHARACTERS = 200
Kind = ArticleRevision.Kind


@dataclass(frozen=True, slots=True)
class Version:
    """What is known of an article so far: its newest text, the page it was on, and whether it was gone since.

    `revision` is the number of the newest revision; 0 if there is none.
    """

    article_id: int
    revision: int
    is_gone: bool
    headline: str
    content: str
    page: KeptPage


@dataclass(frozen=True, slots=True)
class SeenAgain:
    """The page of a stored article, fetched again. `updated_at` is the change that a feed or sitemap gave, or None."""

    seen_at: datetime.datetime
    updated_at: datetime.datetime | None
    url: str
    content_type: str = ""
    body: bytes = field(default=b"", repr=False)


def newest_version(article_id: int) -> Version:
    """Return the newest version of an article that has its page. Raises ArticlePage.DoesNotExist."""
    page = _stored_page(article_id)
    revisions = ArticleRevision.objects.filter(article_id=article_id).order_by("-number")
    newest = revisions.first()
    number, is_gone = (newest.number, newest.kind == Kind.GONE) if newest else (0, False)
    read = revisions.exclude(kind=Kind.GONE).first()
    if read:
        page = _read_again(page, bytes(read.body), read)
    shown = read or Article.objects.only("headline", "content").get(pk=article_id)
    return Version(article_id, number, is_gone, shown.headline, shown.content, page)


def _read_again(page: KeptPage, body: bytes, seen: ArticleRevision | SeenAgain) -> KeptPage:
    """Return the page with another body, compressed; the further pages of its article stay as they were."""
    return page._replace(body=body, url=seen.url, content_type=seen.content_type, fetched=seen.seen_at.date())


def compare_page(before: Version, seen: SeenAgain) -> ArticleRevision | None:
    """Return what is new on a page; None if it shows the newest version. It uses no database, but half a CPU second.

    The revision has its kind, and its text or why the article counts as gone; store_revision adds the rest. Both pages
    are extracted by the rules of today, so that no rule that changed since counts as a change of the page.
    """
    if not before.is_gone and gzip.decompress(before.page.body) == seen.body:
        return None
    found = extract_kept(_read_again(before.page, gzip.compress(seen.body), seen))
    if isinstance(found, str):
        return gone(before, f"the page has no article: {found}")
    then = extract_kept(before.page)
    headline, content = (before.headline, before.content) if isinstance(then, str) else (then.headline, then.text)
    same = _words(found.headline) == _words(headline) and _words(found.text) == _words(content)
    if same and not before.is_gone:
        return None
    kind = Kind.BACK if before.is_gone else Kind.CHANGED
    return ArticleRevision(kind=kind, headline=found.headline, content=found.text)


def gone(before: Version, note: str) -> ArticleRevision | None:
    """Return that the article is gone, for the reason in `note`; None if that is known."""
    return None if before.is_gone else ArticleRevision(kind=Kind.GONE, note=note[:MAX_NOTE_CHARACTERS])


def store_revision(before: Version, seen: SeenAgain, found: ArticleRevision) -> bool:
    """Store what was found; return False, and store nothing, if another process has stored a revision since.

    The same if an admin has withheld or removed the article since.
    """
    found.article_id, found.number = before.article_id, before.revision + 1
    found.seen_at, found.updated_at, found.url = seen.seen_at, seen.updated_at, seen.url
    if found.kind != Kind.GONE:
        found.content_type, found.body = seen.content_type, gzip.compress(seen.body, mtime=0)
        found.extractor_version = EXTRACTOR_VERSION
    with transaction.atomic():
        # The row is locked, so that two crawls do not give the same number.
        locked = Article.objects.select_for_update(of=("self",)).filter(pk=before.article_id, withheld=False)
        if not locked.values_list("pk"):
            return False
        newest = ArticleRevision.objects.filter(article_id=before.article_id).order_by("-number").first()
        if (newest.number if newest else 0) != before.revision:
            return False
        found.save()
    return True


def reextract_revisions(newspapers: Sequence[Newspaper] | None = None) -> int:
    """Extract revisions again that another version of the extraction has read; return how many have changed.

    A revision whose page yields no article any more stays as it is.
    """
    outdated = ArticleRevision.objects.filter(article__in=articles_of(newspapers)).exclude(kind=Kind.GONE)
    # Pages that were kept too long are gone: manage.py remove_pages.
    outdated = outdated.exclude(extractor_version=EXTRACTOR_VERSION).exclude(body=b"").exclude(article__page=None)
    changed = 0
    # The list of ids is short; the pages are read one by one.
    for pk in list(outdated.order_by("pk").values_list("pk", flat=True)):
        revision = ArticleRevision.objects.get(pk=pk)
        found = extract_kept(_read_again(_stored_page(revision.article_id), bytes(revision.body), revision))
        values: dict[str, object] = {"extractor_version": EXTRACTOR_VERSION}
        if not isinstance(found, str) and (found.headline, found.text) != (revision.headline, revision.content):
            values |= {"headline": found.headline, "content": found.text}
            changed += 1
        ArticleRevision.objects.filter(pk=pk).update(**values)
    return changed


def _stored_page(article_id: int) -> KeptPage:
    """Return the pages of an article as it was first stored, without what a feed carried of it.

    Only the first page is fetched again, and a feed does not show that the page has changed.
    """
    pages = ArticlePage.objects.select_related("article__newspaper__extraction_rule").prefetch_related("following")
    stored = pages.get(pk=article_id)
    return kept_page(stored, rule_of(stored.article.newspaper))._replace(feed_entry=b"")


def _words(text: str) -> str:
    """Return the text without its line breaks, which pages change without an editor."""
    return " ".join(text.split())
