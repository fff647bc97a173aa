"""Extracts and stores the pages of web archives, as a crawl would have stored them on the day of their fetch."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from articles.extraction.extract import ExtractionError
from articles.extraction.kept_pages import RawPage, extract_whole
from articles.extraction.rules import ExtractionRule
from articles.models import ArticleURL
from articles.normalization.logins import without_login
from articles.processes import THIS_PROCESS, Pool, in_batches
from articles.storage.extraction_rules import rule_for
from articles.storage.incoming import IncomingArticle, RejectedArticleError, check_article, story_url, url_fault
from articles.storage.ingest import Stored, store_prepared
from articles.storage.known_articles import known_urls
from articles.storage.newspapers import Naming, Paper, newspaper_host, papers_for
from articles.storage.preparing import Prepared, prepare_all
from articles.warc import ArchivedPage
from crawlers.items import ArticleLink, FetchedPage, Source
from crawlers.page_articles import ReadyArticle, incoming_article

# Pages that a process extracts at a time, and that are stored in one transaction; fewer if they are large.
BATCH = 50
MAX_BATCH_BYTES = 20_000_000
# The newspaper of each page is that of its host.
_NO_SOURCE = Source(0, "", Paper(""))


def store_pages(
    pages: Iterable[ArchivedPage], pool: Pool = THIS_PROCESS
) -> Iterator[list[tuple[ArchivedPage, Stored]]]:
    """Extract and store the pages, batch by batch, each in one transaction; yield them with their results.

    A page whose URL is stored already is known and not extracted: a run that was interrupted resumes quickly. Raises
    WorkerDiedError if a process was killed.
    """
    with closing(pool.stream(in_batches(pages, _size, MAX_BATCH_BYTES, count=BATCH), extract_batch)) as stream:
        for batch, found in stream:
            ready = [article for article in found if isinstance(article, ReadyArticle)]

            def again(place: int, paper: Paper, ready: Sequence[ReadyArticle] = ready) -> Prepared:
                return ready[place].for_paper(paper)

            stored = iter(store_prepared([article.prepared for article in ready], again))
            results = [outcome if isinstance(outcome, Stored) else next(stored) for outcome in found]
            yield list(zip(batch, results, strict=True))


def extract_batch(
    batch: Sequence[ArchivedPage], _on_progress: Callable[[int], None] = lambda _done: None
) -> list[ReadyArticle | Stored]:
    """Extract and prepare the articles of pages, or say why there is none; a task of a worker process."""
    results: list[ReadyArticle | Stored | IncomingArticle] = []
    valid = [page.url for page in batch if not url_fault(page.url)]
    known, rules = known_urls(valid), dict[str, ExtractionRule]()
    for page in batch:
        try:
            results.append(Stored("known") if page.url in known else _extracted(page, rules))
        except (ExtractionError, RejectedArticleError) as error:
            results.append(Stored("rejected", reason=str(error)))
    incoming = [result for result in results if isinstance(result, IncomingArticle)]
    namings = [Naming.of(article.newspaper, article.url) for article in incoming]
    prepared = prepare_all(list(zip(incoming, namings, papers_for(namings), strict=True)))
    ready = map(ReadyArticle.of, incoming, prepared)
    return [next(ready) if isinstance(result, IncomingArticle) else result for result in results]


def _extracted(page: ArchivedPage, rules: dict[str, ExtractionRule]) -> IncomingArticle:
    """Return the article of a page; `rules` are those of hosts that were looked up.

    Raises ExtractionError, and RejectedArticleError if it cannot be stored.
    """
    if fault := url_fault(page.url):
        raise RejectedArticleError(fault)
    page = dataclasses.replace(page, url=without_login(page.url))
    if (host := newspaper_host(page.url)) not in rules:
        rules[host] = rule_for(page.url)
    rule = rules[host]
    first, *following = (
        RawPage(part.body, without_login(part.url), part.content_type) for part in (page, *page.following)
    )
    found = extract_whole([first, *following], b"", page.fetched.date(), rule)
    if isinstance(found, str):
        raise ExtractionError(found)
    kind = ArticleURL.Kind.PAGE if story_url(page.url) == page.url else ArticleURL.Kind.REDIRECT
    link = ArticleLink(url=page.url, source=_NO_SOURCE, kind=kind)
    fetched = FetchedPage(link, page.url, (), page.content_type, page.body, tuple(following))
    incoming = incoming_article(fetched, found, rule.number)
    check_article(incoming)
    copy = incoming.page and dataclasses.replace(incoming.page, fetched=page.fetched)
    return dataclasses.replace(incoming, page=copy)


def _size(page: ArchivedPage) -> int:
    return sum(len(part.body) for part in (page, *page.following))
