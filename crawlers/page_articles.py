"""From a fetched page to an article that is ready to be stored: all of it that needs no database, in any process."""

import dataclasses
import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from articles.extraction.extract import EXTRACTOR_VERSION, ExtractedArticle, ExtractionError
from articles.extraction.kept_pages import RawPage, extract_whole
from articles.models import ArticleURL
from articles.normalization.language import detect_language
from articles.storage.incoming import Details, IncomingArticle, PageCopy, SeenURL, check_article, story_url
from articles.storage.newspapers import Naming, Paper
from articles.storage.preparing import Prepared, prepare, prepare_again
from articles.storage.publication_day import dated_details, judge_day
from crawlers.fetching.sites import same_site
from crawlers.items import ArticleLink, FetchedPage


@dataclass(frozen=True, slots=True)
class ReadyArticle:
    """An article that is ready to be stored, without the bytes of its page, which `prepared` has compressed."""

    incoming: IncomingArticle
    prepared: Prepared

    @classmethod
    def of(cls, incoming: IncomingArticle, prepared: Prepared) -> Self:
        """Return it without the bytes of its page."""
        bare = incoming.page and dataclasses.replace(incoming.page, body=b"", following=(), feed_entry=b"")
        return cls(dataclasses.replace(incoming, page=bare), prepared)

    def for_paper(self, paper: Paper) -> Prepared:
        """Return it prepared for another newspaper, or for a newer state of its own."""
        return prepare_again(self.prepared, self.incoming, paper)._replace(page=self.prepared.page)


def ready_article(page: FetchedPage, _on_progress: Callable[[int], None] = lambda _done: None) -> ReadyArticle:
    """Extract the article of a page and prepare it; a task of a worker process.

    Raises ExtractionError if the page has no article, and RejectedArticleError if it cannot be stored.
    """
    incoming = incoming_article(page, extracted_article(page))
    check_article(incoming)
    naming = Naming.of(incoming.newspaper, incoming.url)
    # Without a name, the host decides. If that is another newspaper, the writer has the article prepared again.
    paper = page.link.source.paper if incoming.newspaper else Paper(naming.host, naming.host)
    return ReadyArticle.of(incoming, prepare(incoming, naming, paper))


def extracted_article(page: FetchedPage) -> ExtractedArticle:
    """Return the article of a page and its further pages. Raises ExtractionError."""
    pages = (RawPage(page.body, page.url, page.content_type), *page.following)
    day = (page.fetched or datetime.datetime.now(datetime.UTC)).date()
    found = extract_whole(pages, page.link.feed_entry, day, page.link.source.rule)
    if isinstance(found, str):
        raise ExtractionError(page.missing or found)
    return found


def is_alert(page: FetchedPage) -> bool:
    """Return whether the link is from a feed of alerts or a list: its article belongs to the newspaper of its host."""
    return page.link.kind == ArticleURL.Kind.IMPORT or story_url(page.link.url) != page.link.url


def incoming_article(page: FetchedPage, article: ExtractedArticle) -> IncomingArticle:
    """Return the article to store. Raises ExtractionError if neither page nor source gives a possible day."""
    day, details = dated_details(article, page.link.published, datetime.datetime.now(datetime.UTC).date())
    details = dataclasses.replace(details, language=details.language or page.link.language)
    redirected = page.url != page.link.url
    seen = [SeenURL(page.link.url, page.link.kind)] if redirected else []
    seen += [SeenURL(url, ArticleURL.Kind.REDIRECT) for url in page.redirects]
    seen += [SeenURL(further.url, ArticleURL.Kind.PAGE) for further in page.following if further.body]
    # A page of another site is another article, which must not count as known because a copy links to it.
    declared = ((article.canonical_url, ArticleURL.Kind.CANONICAL), (article.amp_url, ArticleURL.Kind.AMP))
    seen += [SeenURL(url, kind) for url, kind in declared if url and same_site(url, page.url)]
    return IncomingArticle(
        date=day,
        headline=article.headline or page.link.headline,
        url=page.url,
        content=article.text,
        newspaper="" if is_alert(page) else page.link.source.paper.name,
        kind=ArticleURL.Kind.REDIRECT if redirected else page.link.kind,
        other_urls=seen,
        details=details,
        page=PageCopy(
            url=page.url,
            content_type=page.content_type,
            body=page.body,
            extractor_version=EXTRACTOR_VERSION,
            published=page.link.published,
            rule=page.link.source.rule.number,
            following=page.following,
            feed_entry=page.link.feed_entry,
            fetched=page.fetched,
        ),
    )


def teaser_article(link: ArticleLink, today: datetime.date) -> IncomingArticle:
    """Return the article of a feed's entry: its description, or its headline if it has none.

    An entry of a feed of alerts belongs to the newspaper that its host names. Raises ExtractionError if there is no
    possible day or no text.
    """
    text = link.summary or link.headline
    if not text:
        raise ExtractionError("no article text")
    day, doubt = judge_day(None, link.published, today)
    details = Details(
        language=detect_language(f"{link.headline}\n{text}", link.language) or link.language,
        date_source=link.published.source if link.published else "",
        date_doubt=doubt,
    )
    return IncomingArticle(
        date=day,
        headline=link.headline,
        url=link.url,
        content=text,
        newspaper="" if story_url(link.url) != link.url else link.source.paper.name,
        kind=link.kind,
        details=details.with_time(link.published.time if link.published else None),
    )
