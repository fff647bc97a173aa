"""Brings the normal forms of stored articles up to today's rules.

It goes batch by batch in the order of ids, each in a transaction of its own, and takes up only articles that carry an
older version: what was interrupted goes on, and what is done costs nothing to do again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields

from django.db.models import F, QuerySet

from articles.models import Article, ArticleURL, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.storage.ingest import Forms, writing
from articles.storage.url_parameters import learn_parameters, renew_url_forms

FORMS = [field.name for field in fields(Forms)]


@dataclass(frozen=True, slots=True)
class Renewed:
    """What became of a batch: articles looked at, those that changed, and what kept others as they were."""

    articles: int
    changed: int
    failures: Sequence[tuple[int, str]] = ()  # article ids, and why their pages gave nothing better


def outdated_forms(newspapers: Sequence[Newspaper] | None = None) -> QuerySet[Article]:
    """Return the articles whose normal forms are of other rules than today's."""
    return articles_of(newspapers).exclude(normalizer_version=NORMALIZER_VERSION)


def mark_outdated(newspaper: Newspaper) -> int:
    """Have the forms of a newspaper's articles renewed, after its affixes have changed; return their number.

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


def articles_of(newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
    """Return the articles of these newspapers; None: of all."""
    return Article.objects.all() if newspapers is None else Article.objects.filter(newspaper__in=newspapers)


def _renew_forms(articles: Sequence[Article]) -> set[int]:
    """Write the forms that changed; return the ids of their articles.

    Only those, because the database counts up the revision of every row that is written, and runs look at it again.
    """
    changed = [article for article in articles if _set_forms(article)]
    Article.objects.bulk_update(changed, FORMS)
    return {article.pk for article in changed}


def _set_forms(article: Article) -> bool:
    return set_fields(article, asdict(Forms.of(article.newspaper, article.headline, article.content)))


def _renew_urls(articles: Sequence[Article]) -> set[int]:
    by_id = {article.pk: article for article in articles}
    urls = list(ArticleURL.objects.filter(article_id__in=by_id))
    for url in urls:
        url.article = by_id[url.article_id]
    return renew_url_forms(urls) | learn_parameters(urls)


def set_fields(article: Article, values: dict[str, object]) -> bool:
    """Set these fields of the article; return whether one of them was another."""
    changed = False
    for name, value in values.items():
        if getattr(article, name) != value:
            setattr(article, name, value)
            changed = True
    return changed
