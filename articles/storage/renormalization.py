"""Brings the normalised forms of stored articles up to the current rules.

It works in batches ordered by id, one transaction each, and only on articles that carry another version: an
interrupted run resumes, and finished articles cost nothing. Worker processes compute the forms, and this process
stores them.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from typing import NamedTuple
from uuid import UUID

from django.db.models import F, Q, QuerySet

from articles.models import Article, ArticleURL, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.urls import comparable_url, has_decoration, url_key
from articles.processes import THIS_PROCESS, Pool
from articles.querysets import executed, in_portions
from articles.storage.ingest import writing
from articles.storage.newspapers import Paper
from articles.storage.preparing import Forms
from articles.storage.url_parameters import learn_parameters

FORMS = [field.name for field in fields(Forms)]
# Starting processes takes longer than normalising this many articles.
FEW_ARTICLES = 2_000
# The version of forms that are outdated because their newspaper has changed, not the rules.
MARKED = 0
# They change with the headline and the text, too.
_FACTS = ("newspaper_id", "revision", "extractor_version")
# The primary keys find the rows.
_FORMS_SQL = """
UPDATE articles_article AS article
SET normalized_title = found.title, normalized_text = found.text, text_digest = found.digest,
    normalizer_version = %(version)s
FROM unnest(%(ids)s::bigint[], %(titles)s::text[], %(texts)s::text[], %(digests)s::uuid[])
    AS found (id, title, text, digest)
WHERE article.id = found.id
"""
# The trigger does not count these up: runs need not compare the articles again.
_SAME_SQL = "UPDATE articles_article SET normalizer_version = %(version)s WHERE id = ANY(%(ids)s)"
# The key of a URL is left as it is if it belongs to another URL: both articles stay, and the passes find them.
_KEYS_SQL = """
UPDATE articles_articleurl AS url SET key = found.key
FROM unnest(%(ids)s::bigint[], %(keys)s::uuid[]) AS found (id, key)
WHERE url.id = found.id AND NOT EXISTS (SELECT FROM articles_articleurl AS other WHERE other.key = found.key)
"""
_URLS_SQL = """
UPDATE articles_articleurl AS url SET normalized_url = found.form
FROM unnest(%(ids)s::bigint[], %(forms)s::text[]) AS found (id, form)
WHERE url.id = found.id
"""


@dataclass(frozen=True, slots=True)
class UpdatedBatch:
    """Counts of a batch: articles checked, articles changed, and failures, whose articles are unchanged."""

    articles: int
    changed: int
    failures: Sequence[tuple[int, str]] = ()  # article ids and reasons


class _Basis(NamedTuple):
    """What forms are computed from: of each article _FACTS, and the newspapers, all by id."""

    articles: dict[int, list[int]]
    papers: dict[int, Paper]


@dataclass(frozen=True, slots=True)
class FoundForms:
    """The forms of some articles that changed, and what they were computed from."""

    basis: _Basis
    forms: dict[int, Forms]  # by article
    urls: list[tuple[int, int, str]]  # the ids of a URL and of its article, and the URL's form
    keys: dict[UUID, int]  # that URLs have by the rules of today and are not stored: the id of the URL
    decorated: list[str]  # the forms of all URLs that have decoration


def outdated_forms(newspapers: Sequence[Newspaper] | None = None) -> QuerySet[Article]:
    """Return the articles whose forms were normalised by another version of the rules; those withheld have none."""
    # Not by exclude: the index article_normalizer finds lower and higher versions, and there are usually none.
    other = Q(normalizer_version__lt=NORMALIZER_VERSION) | Q(normalizer_version__gt=NORMALIZER_VERSION)
    return articles_of(newspapers).filter(other, withheld=False)


def mark_outdated(newspaper: Newspaper) -> int:
    """Mark the forms of a newspaper's articles as outdated after its affixes changed; return their number.

    All of them count as changed, because the displayed headlines are compared too.
    """
    # A trigger increases the revision of a row whose title is written, even if it stays the same.
    return Article.objects.filter(newspaper=newspaper).update(
        normalizer_version=MARKED, normalized_title=F("normalized_title")
    )


def newspapers_to_renormalize() -> list[Newspaper]:
    """Return the newspapers with articles whose forms are marked as outdated: the next run renews them."""
    marked = Article.objects.filter(normalizer_version=MARKED, withheld=False)
    return list(Newspaper.objects.filter(pk__in=marked.values("newspaper")))


def renormalize(
    newspapers: Sequence[Newspaper] | None = None, *, batch_size: int = 500, pool: Pool = THIS_PROCESS
) -> Iterator[UpdatedBatch]:
    """Bring the forms of titles, texts and URLs, and the keys of URLs, up to date; yield after each batch is stored.

    The processes of the pool, which use this database, compute the forms. Raises WorkerDiedError if one was killed.
    """
    outdated = in_portions(outdated_forms(newspapers).only("pk"), batch_size)
    tasks = ([article.pk for article in portion] for portion in outdated)
    with closing(pool.stream(tasks, find_forms, few=-(-FEW_ARTICLES // batch_size))) as stream:
        yield from (updated for _, found in stream if (updated := _store_forms(found)))


def articles_of(newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
    """Return the articles of these newspapers; None: all."""
    return Article.objects.all() if newspapers is None else Article.objects.filter(newspaper__in=newspapers)


def find_forms(ids: Sequence[int], _on_progress: object = None) -> FoundForms:
    """Compute the forms of those of these articles that are outdated; a task of a worker process."""
    found = FoundForms(_basis(ids), {}, [], {}, [])
    papers, articles = found.basis.papers, found.basis.articles
    rows = Article.objects.filter(pk__in=articles).values_list("pk", "newspaper_id", "headline", "content", *FORMS)
    for pk, newspaper_id, headline, content, *stored in rows:
        forms = Forms.of(papers[newspaper_id].affixes, headline, content)
        if forms != Forms(*stored):
            found.forms[pk] = forms
    urls = ArticleURL.objects.filter(article_id__in=articles)
    rows_of_urls = urls.order_by("id").values_list("pk", "article_id", "url", "key", "normalized_url")
    for pk, article_id, url, stored_key, stored_form in rows_of_urls:
        if stored_key != (key := url_key(url)):
            found.keys.setdefault(key, pk)
        form = comparable_url(url, papers[articles[article_id][0]].kept_url_parameters)
        if stored_form != form:
            found.urls.append((pk, article_id, form))
        if has_decoration(url):
            found.decorated.append(form)
    return found


def _basis(ids: Sequence[int]) -> _Basis:
    """Return what the forms of those of the articles are computed from whose forms are outdated."""
    rows = outdated_forms().filter(pk__in=ids).order_by("id")
    articles = {pk: facts for pk, *facts in rows.values_list("id", *_FACTS)}
    newspapers = Newspaper.objects.in_bulk({newspaper_id for newspaper_id, *_ in articles.values()})
    return _Basis(articles, {pk: Paper.of(newspaper) for pk, newspaper in newspapers.items()})


def _store_forms(found: FoundForms) -> UpdatedBatch | None:
    """Write the forms that changed in one transaction; None if another process has done so.

    Only those, because every written row gets a new revision, and runs compare it again.
    """
    with writing():
        ids = list(found.basis.articles)
        if found.basis != _basis(ids):
            # An article, or the affixes or parameters of a newspaper, have changed meanwhile.
            found = find_forms(ids)
        if not found.basis.articles:
            return None
        changed = {article_id for _, article_id, _ in found.urls} | found.forms.keys()
        _write(found)
        changed |= learn_parameters(found.decorated, found.basis.articles)
    return UpdatedBatch(len(found.basis.articles), len(changed))


def _write(found: FoundForms) -> None:
    columns = [astuple(form) for form in found.forms.values()]
    titles, texts, digests = zip(*columns, strict=True) if columns else ((), (), ())
    same = [pk for pk in found.basis.articles if pk not in found.forms]
    if columns:
        forms = {"titles": list(titles), "texts": list(texts), "digests": list(digests)}
        executed(_FORMS_SQL, {"ids": list(found.forms), "version": NORMALIZER_VERSION, **forms})
    if same:
        executed(_SAME_SQL, {"ids": same, "version": NORMALIZER_VERSION})
    if found.urls:
        ids, _, urls = zip(*found.urls, strict=True)
        executed(_URLS_SQL, {"ids": list(ids), "forms": list(urls)})
    if found.keys:
        executed(_KEYS_SQL, {"ids": list(found.keys.values()), "keys": list(found.keys)})
