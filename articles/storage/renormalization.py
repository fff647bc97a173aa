"""Brings the normalised forms of stored articles up to the current rules.

It works in batches ordered by id, one transaction each, and only on articles that carry another version: an
interrupted run resumes, and finished articles cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields

from django.db.models import F, Q, QuerySet

from articles.models import Article, ArticleURL, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.urls import has_decoration
from articles.storage.ingest import writing
from articles.storage.preparing import Forms
from articles.storage.url_parameters import learn_parameters, update_url_forms

FORMS = [field.name for field in fields(Forms)]
# The version of forms that are outdated because their newspaper has changed, not the rules.
MARKED = 0


@dataclass(frozen=True, slots=True)
class UpdatedBatch:
    """Counts of a batch: articles checked, articles changed, and failures, whose articles are unchanged."""

    articles: int
    changed: int
    failures: Sequence[tuple[int, str]] = ()  # article ids and reasons


def outdated_forms(newspapers: Sequence[Newspaper] | None = None) -> QuerySet[Article]:
    """Return the articles whose forms were normalised by another version of the rules."""
    # Not by exclude: the index article_normalizer finds lower and higher versions, and there are usually none.
    other = Q(normalizer_version__lt=NORMALIZER_VERSION) | Q(normalizer_version__gt=NORMALIZER_VERSION)
    return articles_of(newspapers).filter(other)


def mark_outdated(newspaper: Newspaper) -> int:
    """Mark the forms of a newspaper's articles as outdated after its affixes changed; return their number.

    All of them count as changed, because the displayed headlines are compared too.
    """
    # A trigger increases the revision of a row whose title is written, even if it stays the same.
    return Article.objects.filter(newspaper=newspaper).update(
        normalizer_version=MARKED, normalized_title=F("normalized_title")
    )


def renormalize(newspapers: Sequence[Newspaper] | None = None, *, batch_size: int = 500) -> Iterator[UpdatedBatch]:
    """Bring the forms of titles, texts and URLs up to date; yield after each batch is stored."""
    outdated = outdated_forms(newspapers).select_related("newspaper").order_by("id")
    last_id = 0
    while True:
        # Read inside the lock, so that no newspaper's affixes or parameters change in the meantime.
        with writing():
            articles = list(outdated.filter(id__gt=last_id)[:batch_size])
            if not articles:
                return
            changed = _update_forms(articles) | _update_urls(articles)
            Article.objects.filter(id__in=[article.pk for article in articles]).update(
                normalizer_version=NORMALIZER_VERSION
            )
        last_id = articles[-1].pk
        yield UpdatedBatch(len(articles), len(changed))


def articles_of(newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
    """Return the articles of these newspapers; None: all."""
    return Article.objects.all() if newspapers is None else Article.objects.filter(newspaper__in=newspapers)


def _update_forms(articles: Sequence[Article]) -> set[int]:
    """Write the forms that changed; return the ids of their articles.

    Only those, because every written row gets a new revision, and runs compare it again.
    """
    changed = [article for article in articles if _set_forms(article)]
    Article.objects.bulk_update(changed, FORMS)
    return {article.pk for article in changed}


def _set_forms(article: Article) -> bool:
    return set_fields(article, asdict(Forms.of(article.newspaper.affixes, article.headline, article.content)))


def _update_urls(articles: Sequence[Article]) -> set[int]:
    by_id = {article.pk: article for article in articles}
    urls = list(ArticleURL.objects.filter(article_id__in=by_id))
    for url in urls:
        url.article = by_id[url.article_id]
    changed = update_url_forms(urls)
    decorated = {url.normalized_url for url in urls if has_decoration(url.url)}
    return changed | learn_parameters(decorated, {url.article_id for url in urls})


def set_fields(article: Article, values: dict[str, object]) -> bool:
    """Set these fields of the article; return whether any of them changed."""
    changed = False
    for name, value in values.items():
        if getattr(article, name) != value:
            setattr(article, name, value)
            changed = True
    return changed
