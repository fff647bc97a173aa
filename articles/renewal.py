"""Brings stored articles up to date: normal forms by today's rules, texts by today's extraction.

Both go batch by batch in the order of ids, each in a transaction of its own, and take up only articles that carry an
older version: what was interrupted goes on, and what is done costs nothing to do again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from django.db.models import F, QuerySet

from articles.dating import dated_details
from articles.extraction import EXTRACTOR_VERSION, ExtractionError
from articles.extraction_workers import Extraction, extractor
from articles.incoming import Details, IncomingArticle, RejectedArticleError, check_article, extracted_details
from articles.ingest import Forms, writing
from articles.models import Article, ArticlePage, ArticleURL, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.url_guard import learn_parameters, renew_url_forms

_FORMS = [field.name for field in fields(Forms)]
_DETAILS = [field.name for field in fields(Details)]


@dataclass(frozen=True, slots=True)
class Renewed:
    """What became of a batch: articles looked at, those that changed, and what kept others as they were."""

    articles: int
    changed: int
    failures: Sequence[tuple[int, str]] = ()  # article ids, and why their pages gave nothing better


def outdated_forms(newspapers: Sequence[Newspaper] | None = None) -> QuerySet[Article]:
    """Return the articles whose normal forms are of other rules than today's."""
    return _of(newspapers).exclude(normalizer_version=NORMALIZER_VERSION)


def outdated_texts(newspapers: Sequence[Newspaper] | None = None) -> QuerySet[Article]:
    """Return the articles whose page is kept and was extracted otherwise than today."""
    return _of(newspapers).filter(page__isnull=False).exclude(extractor_version=EXTRACTOR_VERSION)


def mark_outdated(newspaper: Newspaper) -> int:
    """Have the forms of a newspaper's articles renewed, after its habits have changed; return their number.

    All of them count as changed, for headlines are also compared as they are read.
    """
    # The database counts up the revision of a row whose title is written, whatever it is.
    return Article.objects.filter(newspaper=newspaper).update(
        normalizer_version=0, normalized_title=F("normalized_title")
    )


def renormalize(newspapers: Sequence[Newspaper] | None = None, *, batch_size: int = 500) -> Iterator[Renewed]:
    """Bring the forms of titles, texts and URLs up to date; yield after each batch, which is stored then."""
    outdated = outdated_forms(newspapers).select_related("newspaper").order_by("id")
    last_id = 0
    while True:
        # Read by the one writer, so that no newspaper learns anything meanwhile.
        with writing():
            articles = list(outdated.filter(id__gt=last_id)[:batch_size])
            if not articles:
                return
            changed = _renew_forms(articles) | _renew_urls(articles)
            Article.objects.filter(id__in=[article.pk for article in articles]).update(
                normalizer_version=NORMALIZER_VERSION
            )
        last_id = articles[-1].pk
        yield Renewed(len(articles), len(changed))


def reextract(
    newspapers: Sequence[Newspaper] | None = None, *, batch_size: int = 100, workers: int = 1
) -> Iterator[Renewed]:
    """Extract stored pages again, in so many processes; yield after each batch, which is stored then.

    Where a page gives no article any more, or one that cannot be stored, the article stays as it is.
    """
    pages = ArticlePage.objects.filter(article__in=outdated_texts(newspapers)).order_by("pk")
    last_id = 0
    with extractor(workers) as extract:
        while batch := list(pages.filter(pk__gt=last_id)[:batch_size]):
            kept = [(bytes(page.body), page.url, page.content_type, page.fetched_at.date()) for page in batch]
            yield _store_extracted(dict(zip(batch, extract(kept), strict=True)))
            last_id = batch[-1].pk


def _of(newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
    return Article.objects.all() if newspapers is None else Article.objects.filter(newspaper__in=newspapers)


def _renew_forms(articles: Sequence[Article]) -> set[int]:
    """Write the forms that changed; return the ids of their articles.

    Only those, because the database counts up the revision of every row that is written, and runs look at it again.
    """
    changed = [article for article in articles if _set_forms(article)]
    Article.objects.bulk_update(changed, _FORMS)
    return {article.pk for article in changed}


def _set_forms(article: Article) -> bool:
    return _set(article, asdict(Forms.of(article.newspaper, article.headline, article.content)))


def _renew_urls(articles: Sequence[Article]) -> set[int]:
    by_id = {article.pk: article for article in articles}
    urls = list(ArticleURL.objects.filter(article_id__in=by_id))
    for url in urls:
        url.article = by_id[url.article_id]
    return renew_url_forms(urls) | learn_parameters(urls)


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
                    if _set(article, _values(article, page, extraction)):
                        changed.append(article)
                except (ExtractionError, RejectedArticleError) as error:
                    failures.append((article.pk, str(error)))
        Article.objects.bulk_update(changed, ["headline", "content", "date", *_FORMS, *_DETAILS])
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


def _set(article: Article, values: dict[str, object]) -> bool:
    """Set these fields of the article; return whether one of them was another."""
    changed = False
    for name, value in values.items():
        if getattr(article, name) != value:
            setattr(article, name, value)
            changed = True
    return changed
