"""Extracts and stores the pages of web archives, as a crawl would have stored them on the day of their fetch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from articles.extraction.extract import ExtractionError
from articles.extraction.kept_pages import RawPage
from articles.models import ArticleURL
from articles.normalization.logins import without_login
from articles.processes import THIS_PROCESS, Pool, in_batches
from articles.storage.extraction_rules import rule_for
from articles.storage.incoming import RejectedArticleError, story_url, url_fault
from articles.storage.ingest import Stored, store_prepared
from articles.storage.known_articles import known_urls
from articles.storage.newspapers import Naming, Paper, papers_for
from articles.storage.preparing import Prepared
from articles.warc import ArchivedPage
from crawlers.items import ArticleLink, FetchedPage, Source
from crawlers.page_articles import ReadyArticle, ready_article

# Pages that a process extracts at a time, and that are stored in one transaction; fewer if they are large.
BATCH = 50
MAX_BATCH_BYTES = 20_000_000


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
    known = known_urls([page.url for page in batch if not url_fault(page.url)])
    sources: dict[str, Source] = {}
    return [Stored("known") if page.url in known else _ready(page, sources) for page in batch]


def _ready(page: ArchivedPage, sources: dict[str, Source]) -> ReadyArticle | Stored:
    """Return the article of a page, or why there is none; `sources` are the newspapers of hosts that were looked up."""
    if fault := url_fault(page.url):
        return Stored("rejected", reason=fault)
    url = without_login(page.url)
    naming = Naming.of("", url)
    if naming.host not in sources:
        sources[naming.host] = Source(0, "", papers_for([naming])[0], rule_for(url))
    source = sources[naming.host]
    kind = ArticleURL.Kind.PAGE if story_url(url) == url else ArticleURL.Kind.REDIRECT
    following = tuple(RawPage(part.body, without_login(part.url), part.content_type) for part in page.following)
    link = ArticleLink(url=url, source=source, kind=kind)
    fetched = FetchedPage(link, url, (), page.content_type, page.body, following, fetched=page.fetched)
    try:
        return ready_article(fetched)
    except (ExtractionError, RejectedArticleError) as error:
        return Stored("rejected", reason=str(error))


def _size(page: ArchivedPage) -> int:
    return sum(len(part.body) for part in (page, *page.following))
