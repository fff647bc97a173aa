"""Extracts stored articles again from their stored pages with the current extraction.

Like renormalization, it works batch by batch and resumes after an interruption.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from itertools import islice, tee

from django.db.models import F, Q, QuerySet

from articles.extraction.extract import EXTRACTOR_VERSION, ExtractionError
from articles.extraction.kept_pages import Extraction, extract_kept
from articles.extraction.rules import ExtractionRule
from articles.models import Article, ArticlePage, Newspaper
from articles.normalization.times import possible_time
from articles.processes import Pool
from articles.querysets import in_portions
from articles.storage.extraction_rules import kept_page, rule_of
from articles.storage.incoming import (
    IncomingArticle,
    ListedDate,
    RejectedArticleError,
    check_article,
    extracted_details,
)
from articles.storage.ingest import writing
from articles.storage.preparing import DETAILS, Forms
from articles.storage.publication_day import dated_details
from articles.storage.renormalization import FORMS, UpdatedBatch, articles_of


def outdated_texts(newspapers: Sequence[Newspaper] | None = None) -> QuerySet[Article]:
    """Return the articles whose page is stored and was extracted by another version, or by another rule."""
    by_same = Q(page__rule=F("newspaper__extraction_rule")) | Q(page__rule=None, newspaper__extraction_rule=None)
    return articles_of(newspapers).filter(~Q(extractor_version=EXTRACTOR_VERSION) | ~by_same, page__isnull=False)


def reextract(
    newspapers: Sequence[Newspaper] | None = None, *, batch_size: int = 100, workers: int = 1
) -> Iterator[UpdatedBatch]:
    """Extract stored pages again in up to `workers` processes; yield after each batch is stored.

    If a page no longer yields an article, or one that cannot be stored, the article is left unchanged. Raises
    WorkerDiedError if a process was killed.
    """
    outdated = ArticlePage.objects.filter(article__in=outdated_texts(newspapers)).prefetch_related("following")
    pages, same = tee(_with_rules(outdated, batch_size))
    # The pages are read and the articles stored here while the processes extract.
    with (
        Pool(min(workers, outdated.count())) as pool,
        closing(pool.stream((kept_page(*page) for page in same), extract_kept)) as stream,
    ):
        extracted = zip(pages, (extraction for _, extraction in stream), strict=True)
        while batch := list(islice(extracted, batch_size)):
            rules = {page.pk: rule for (page, rule), _ in batch}
            yield _store_extracted({page: extraction for (page, _), extraction in batch}, rules)


def _with_rules(pages: QuerySet[ArticlePage], size: int) -> Iterator[tuple[ArticlePage, ExtractionRule]]:
    """Yield the pages with the rules of their newspapers, as they are when a portion is read."""
    for portion in in_portions(pages, size):
        of_page = dict(Article.objects.filter(page__in=portion).values_list("pk", "newspaper_id"))
        newspapers = Newspaper.objects.select_related("extraction_rule").in_bulk(set(of_page.values()))
        rules = {pk: rule_of(newspaper) for pk, newspaper in newspapers.items()}
        yield from ((page, rules[of_page[page.pk]]) for page in portion)


def _store_extracted(extracted: Mapping[ArticlePage, Extraction], rules: Mapping[int, ExtractionRule]) -> UpdatedBatch:
    """Store the extracted articles; skip those that another process has updated in the meantime."""
    changed: list[Article] = []
    failures: list[tuple[int, str]] = []
    # Read inside the lock, so that no newspaper's affixes or parameters change in the meantime.
    with writing():
        outdated = outdated_texts().filter(page__in=extracted).select_related("newspaper")
        articles = {article.pk: article for article in outdated}
        for page, extraction in extracted.items():
            if article := articles.get(page.pk):
                try:
                    values = _values(article, page, extraction)
                except (ExtractionError, RejectedArticleError) as error:
                    failures.append((article.pk, str(error)))
                    continue
                if any(getattr(article, name) != value for name, value in values.items()):
                    changed.append(article)
                    for name, value in values.items():
                        setattr(article, name, value)
        Article.objects.bulk_update(changed, ["headline", "content", "date", *FORMS, *DETAILS])
        Article.objects.filter(id__in=articles).update(extractor_version=EXTRACTOR_VERSION)
        _store_rules({pk: rules[pk].number for pk in articles})
    return UpdatedBatch(len(articles), len(changed), failures)


def _store_rules(numbers: Mapping[int, int | None]) -> None:
    """Store which rule extracted these pages, without writing their bodies again."""
    for number in set(numbers.values()):
        pages = [pk for pk, rule in numbers.items() if rule == number]
        ArticlePage.objects.filter(pk__in=pages).exclude(rule=number).update(rule=number)


def listed_date(page: ArticlePage) -> ListedDate | None:
    """Return the date that a feed or sitemap gave for a page; None if none did."""
    if not page.published:
        return None
    return ListedDate(page.published, possible_time(page.published_time, page.published), page.in_sitemap)


def _values(article: Article, page: ArticlePage, extraction: Extraction) -> dict[str, object]:
    """Return the fields of the article according to its extracted page.

    Raises ExtractionError or RejectedArticleError if the article cannot be stored with them.
    """
    if isinstance(extraction, str):
        raise ExtractionError(extraction)
    listed = listed_date(page)
    if extraction.date is None and listed is None:  # the day has another source: keep it
        day, details = article.date, extracted_details(extraction)
        details = replace(details, date_source=article.date_source, date_doubt=article.date_doubt)
        details = details.with_time(article.publication_time)
    else:
        day, details = dated_details(extraction, listed, page.fetched_at.date())
    # Its feed or sitemap may have given what the page lacks.
    details = replace(details, language=details.language or article.language)
    headline, content = extraction.headline or article.headline, extraction.text
    check_article(IncomingArticle(date=day, headline=headline, url=article.url, content=content, details=details))
    forms = Forms.of(article.newspaper.affixes, headline, content)
    return {"headline": headline.strip(), "content": content, "date": day, **asdict(details), **asdict(forms)}
