"""Brings the texts of stored articles up to today's extraction, from the pages that were kept.

It goes like the renewal of forms: batch by batch, and what was interrupted goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace

from django.db.models import QuerySet

from articles.extraction.extract import EXTRACTOR_VERSION, ExtractionError
from articles.extraction.kept_pages import Extraction, KeptPage, extract_kept
from articles.models import Article, ArticlePage, Newspaper
from articles.processes import Workers
from articles.storage.incoming import Details, IncomingArticle, RejectedArticleError, check_article, extracted_details
from articles.storage.ingest import Forms, writing
from articles.storage.publication_day import dated_details
from articles.storage.renormalization import FORMS, Renewed, articles_of, set_fields

_DETAILS = [field.name for field in fields(Details)]


def outdated_texts(newspapers: Sequence[Newspaper] | None = None) -> QuerySet[Article]:
    """Return the articles whose page is kept and was extracted otherwise than today."""
    return articles_of(newspapers).filter(page__isnull=False).exclude(extractor_version=EXTRACTOR_VERSION)


def reextract(
    newspapers: Sequence[Newspaper] | None = None, *, batch_size: int = 100, workers: int = 1
) -> Iterator[Renewed]:
    """Extract stored pages again, in so many processes; yield after each batch, which is stored then.

    Where a page gives no article any more, or one that cannot be stored, the article stays as it is. Raises
    WorkerDiedError where a process was killed.
    """
    pages = ArticlePage.objects.filter(article__in=outdated_texts(newspapers)).order_by("pk")
    last_id = 0
    with Workers(workers, extract_kept) as processes:
        while batch := list(pages.filter(pk__gt=last_id)[:batch_size]):
            kept = [KeptPage(bytes(page.body), page.url, page.content_type, page.fetched_at.date()) for page in batch]
            yield _store_extracted(dict(zip(batch, processes.in_order(kept), strict=True)))
            last_id = batch[-1].pk


def _store_extracted(extracted: Mapping[ArticlePage, Extraction]) -> Renewed:
    """Store what pages give today; what another process has stored meanwhile is passed over."""
    changed: list[Article] = []
    failures: list[tuple[int, str]] = []
    # Read by the one writer, so that no newspaper learns anything meanwhile.
    with writing():
        outdated = outdated_texts().filter(page__in=extracted).select_related("newspaper")
        articles = {article.pk: article for article in outdated}
        for page, extraction in extracted.items():
            if article := articles.get(page.pk):
                try:
                    if set_fields(article, _values(article, page, extraction)):
                        changed.append(article)
                except (ExtractionError, RejectedArticleError) as error:
                    failures.append((article.pk, str(error)))
        Article.objects.bulk_update(changed, ["headline", "content", "date", *FORMS, *_DETAILS])
        Article.objects.filter(id__in=articles).update(extractor_version=EXTRACTOR_VERSION)
    return Renewed(len(articles), len(changed), failures)


def _values(article: Article, page: ArticlePage, extraction: Extraction) -> dict[str, object]:
    """Return the fields of the article by what its page gives today.

    Raises ExtractionError or RejectedArticleError where the article cannot be stored with that.
    """
    if isinstance(extraction, str):
        raise ExtractionError(extraction)
    if extraction.date is None and page.published is None:  # then the day came from elsewhere, and is as good as it was
        day, details = article.date, extracted_details(extraction)
        details = replace(details, date_source=article.date_source, date_doubt=article.date_doubt)
    else:
        day, details = dated_details(extraction, page.published, page.fetched_at.date())
    headline, content = extraction.headline, extraction.text
    check_article(IncomingArticle(date=day, headline=headline, url=article.url, content=content, details=details))
    forms = Forms.of(article.newspaper, headline, content)
    return {"headline": headline.strip(), "content": content, "date": day, **asdict(details), **asdict(forms)}
