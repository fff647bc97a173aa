"""The one writer of articles: checks, normalises, stores, and attaches further URLs to known articles.

An article is stored once, as it was first seen; it is never fetched again or deleted. Only renormalization.py and
reextraction.py change it, when the rules change. A URL belongs to one article permanently. Near-duplicates are stored
like any other article: the detection passes find them, and editors can review and undo the results.
"""

from __future__ import annotations

import dataclasses
import gzip
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Self
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max

from articles.extraction.bylines import text_bylines
from articles.models import Article, ArticlePage, ArticleURL, HeadlineVariant, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.language import detect_language
from articles.normalization.text import normalize_text, text_digest
from articles.normalization.titles import normalize_title
from articles.normalization.urls import comparable_url, url_key
from articles.querysets import LONG_TEXTS, TIME_COLUMNS
from articles.storage.incoming import (
    Details,
    IncomingArticle,
    PageCopy,
    RejectedArticleError,
    SeenHeadline,
    SeenURL,
    check_article,
    story_url,
    url_fault,
)
from articles.storage.locks import Lock, lock_transaction
from articles.storage.newspapers import newspapers_for
from articles.storage.url_parameters import learn_parameters

# After this many new or changed articles, call refresh_statistics.
MANY = 1_000
_TIME_FIELDS = (*TIME_COLUMNS, "date_source")
# Other headlines that an article keeps, the first ones: a live page changes its headline every few minutes.
MAX_HEADLINE_VARIANTS = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """The result for an incoming article: created, known by its URL, or rejected with a reason.

    `headline` is whether a known article came under a headline that it did not have, which is now kept with it, or not
    kept because it has MAX_HEADLINE_VARIANTS.
    """

    outcome: Literal["created", "known", "rejected"]
    article_id: int | None = None
    reason: str = ""
    headline: Literal["", "kept", "not kept"] = ""


@dataclass(frozen=True, slots=True)
class Forms:
    """The normalised forms of an article, which are compared; named as their columns."""

    normalized_title: str
    normalized_text: str
    text_digest: UUID | None

    @classmethod
    def of(cls, newspaper: Newspaper, headline: str, content: str) -> Self:
        """Return the forms by the rules of today and the newspaper's affixes."""
        text = normalize_text(content)
        return cls(normalize_title(headline, newspaper.affixes), text, text_digest(text))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A checked article with everything that can be computed outside the lock."""

    incoming: IncomingArticle
    newspaper: Newspaper
    forms: Forms
    url: str  # of the article, without redirects
    own_keys: Sequence[UUID]  # of that URL, and of the redirect that led to it
    urls: dict[UUID, SeenURL]  # its own first


@contextmanager
def writing() -> Iterator[None]:
    """Be the only writer of articles for the duration of a transaction."""
    with transaction.atomic():
        lock_transaction(Lock.INGEST)
        yield


def store_article(incoming: IncomingArticle) -> Stored:
    """Store one article. Raises RejectedArticleError; see store_articles."""
    [stored] = store_articles([incoming])
    if stored.outcome == "rejected":
        raise RejectedArticleError(stored.reason)
    return stored


def store_articles(batch: Sequence[IncomingArticle]) -> list[Stored]:
    """Store a batch in one transaction and return the result for each, in the same order.

    A batch has up to some hundred articles. Invalid ones are rejected, the others stored.
    """
    results: list[Stored | None] = [None] * len(batch)
    prepared: dict[int, _Prepared] = {}
    for position, incoming in enumerate(batch):
        try:
            check_article(incoming)
        except RejectedArticleError as rejection:
            results[position] = Stored("rejected", reason=str(rejection))
    valid = [position for position, result in enumerate(results) if result is None]
    newspapers = newspapers_for([(batch[position].newspaper, batch[position].url) for position in valid])
    for position, newspaper in zip(valid, newspapers, strict=True):
        prepared[position] = _prepare(batch[position], newspaper)
    with writing():
        for position, stored in _write(_as_of_now(prepared)).items():
            results[position] = stored
    return [stored for stored in results if stored is not None]


def known_urls(urls: Iterable[str]) -> set[str]:
    """Return those of the URLs that belong to a stored article or redirect to one; they need no fetching."""
    keys = {url: {url_key(url), url_key(story_url(url))} for url in urls}
    wanted = {key for either in keys.values() for key in either}
    known = set(ArticleURL.objects.filter(key__in=wanted).values_list("key", flat=True))
    return {url for url, either in keys.items() if not known.isdisjoint(either)}


def attach_urls(urls: Sequence[SeenURL], *, known_as: str) -> bool:
    """Attach URLs to the article that `known_as` belongs to; return whether there is one."""
    with writing():
        names = {url_key(known_as), url_key(story_url(known_as))}
        owner = Article.objects.filter(urls__key__in=names).only("newspaper_id").first()
        if owner is None:
            return False
        seen = {url_key(each.url): each for each in urls if not url_fault(each.url)}
        owners = _owners(seen)
        _attach([(key, each, owner) for key, each in seen.items() if key not in owners])
    return True


def newest_revision() -> int:
    """Return the highest revision of an article; 0 if there is none. All articles up to it are visible.

    It waits for the current writer, whose articles already have revisions but are not committed yet.
    """
    with writing():
        newest: int | None = Article.objects.aggregate(newest=Max("revision"))["newest"]
    return newest or 0


def refresh_statistics() -> None:
    """Update PostgreSQL's statistics after many changes, so that it does not choose slow query plans."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE articles_article, articles_articleurl")


def _prepare(incoming: IncomingArticle, newspaper: Newspaper) -> _Prepared:
    url, own_keys, urls = _restored_urls(incoming) if incoming.restored else _urls(incoming)
    forms = Forms.of(newspaper, incoming.headline, incoming.content)
    incoming = dataclasses.replace(incoming, details=_details(incoming, newspaper))
    return _Prepared(incoming=incoming, newspaper=newspaper, forms=forms, url=url, own_keys=own_keys, urls=urls)


def _urls(incoming: IncomingArticle) -> tuple[str, tuple[UUID, ...], dict[UUID, SeenURL]]:
    """Return the article's URL, the keys of its own URLs, and all its URLs by key."""
    came_under, url = SeenURL(incoming.url.strip(), incoming.kind), story_url(incoming.url.strip())
    own = [came_under] if url == came_under.url else [SeenURL(url, ArticleURL.Kind.REDIRECT), came_under]
    urls = {url_key(each.url): each for each in own}
    own_keys = tuple(urls)
    for seen in incoming.other_urls:
        if not url_fault(seen.url):
            urls.setdefault(url_key(seen.url), seen)
    return url, own_keys, urls


def _restored_urls(incoming: IncomingArticle) -> tuple[str, tuple[UUID, ...], dict[UUID, SeenURL]]:
    """Return the same for an article whose `other_urls` are all its URLs, in their order."""
    own = url_key(incoming.url)
    urls = {url_key(each.url): each for each in reversed(incoming.other_urls)}
    urls = dict(reversed(urls.items()))  # of two URLs with one key, the first
    urls.setdefault(own, SeenURL(incoming.url, incoming.kind))
    return incoming.url, (own,), urls


def _as_of_now(prepared: Mapping[int, _Prepared]) -> dict[int, _Prepared]:
    """Prepare those again whose newspaper was merged, or got other affixes, while they waited for the lock."""
    now = Newspaper.objects.in_bulk({each.newspaper.pk for each in prepared.values()})
    current = dict(prepared)
    for position, each in prepared.items():
        newspaper = now[each.newspaper.pk].current
        if (newspaper.pk, newspaper.affixes) != (each.newspaper.pk, each.newspaper.affixes):
            current[position] = _prepare(each.incoming, newspaper)
    return current


def _details(incoming: IncomingArticle, newspaper: Newspaper) -> Details:
    """Return the article's details; if it came without its page, completed from its text."""
    details = incoming.details
    if incoming.page is not None or incoming.restored:
        return details
    found = text_bylines(incoming.content, (newspaper.name, newspaper.host))
    return dataclasses.replace(
        details,
        language=details.language or detect_language(incoming.content),
        byline=details.byline or found.byline,
        agency=details.agency or found.agency,
        dateline=details.dateline or found.dateline,
    )


def _write(prepared: dict[int, _Prepared]) -> dict[int, Stored]:
    """Store the prepared articles, inside the lock; return the result for each."""
    owners = _owners({key for each in prepared.values() for key in each.urls})
    outcomes: dict[int, tuple[Literal["created", "known"], Article]] = {}
    new_urls: list[tuple[UUID, SeenURL, Article]] = []
    for position, each in prepared.items():
        known = _known_article(each, owners)
        article = known or _new_article(each)
        outcomes[position] = ("known" if known else "created", article)
        for key, seen in each.urls.items():
            if key not in owners:
                owners[key] = article
                new_urls.append((key, seen, article))
    Article.objects.bulk_create([article for outcome, article in outcomes.values() if outcome == "created"])
    _attach(new_urls)
    _fill_times(
        (prepared[position].incoming, article)
        for position, (outcome, article) in outcomes.items()
        if outcome == "known"
    )
    headlines = _keep_headlines(
        (position, article, seen)
        for position, (outcome, article) in outcomes.items()
        for seen in _other_headlines(prepared[position], outcome, article)
    )
    ArticlePage.objects.bulk_create(
        _new_page(page, article.pk)
        for position, (outcome, article) in outcomes.items()
        if outcome == "created" and (page := prepared[position].incoming.page)
    )
    return {
        position: Stored(outcome, article.pk, headline=headlines.get(position, "") if outcome == "known" else "")
        for position, (outcome, article) in outcomes.items()
    }


def _fill_times(known: Iterable[tuple[IncomingArticle, Article]]) -> None:
    """Give imported articles that have no time of publication the time of a row on the same day.

    So a file that was imported before times were kept can be imported again. An article with its page gets its time
    from there, by reextraction.
    """
    filled: dict[int, Article] = {}
    for incoming, article in known:
        from_page = article.extractor_version or incoming.page is not None
        if not (from_page or article.published_at) and incoming.details.published_day == article.date:
            for name in _TIME_FIELDS:
                setattr(article, name, getattr(incoming.details, name))
            filled[article.pk] = article
    Article.objects.bulk_update(filled.values(), _TIME_FIELDS)


def _other_headlines(each: _Prepared, outcome: Literal["created", "known"], article: Article) -> list[SeenHeadline]:
    """Return the headlines under which an article came and which are not its own."""
    if outcome == "created":
        return list(each.incoming.headlines)
    came = SeenHeadline(each.incoming.headline.strip(), each.incoming.date, each.url)
    return [seen for seen in (came, *each.incoming.headlines) if seen.headline not in ("", article.headline)]


def _keep_headlines(others: Iterable[tuple[int, Article, SeenHeadline]]) -> dict[int, Literal["kept", "not kept"]]:
    """Keep headlines with their articles, each once; return by position which are new, and whether they are kept."""
    others = list(others)
    kept: dict[int, set[str]] = defaultdict(set)
    if ids := {article.pk for _, article, _ in others}:
        for variant in HeadlineVariant.objects.filter(article_id__in=ids).only("article_id", "headline"):
            kept[variant.article_id].add(variant.headline)
    results: dict[int, Literal["kept", "not kept"]] = {}
    new: list[HeadlineVariant] = []
    for position, article, seen in others:
        if seen.headline in kept[article.pk]:
            continue
        if len(kept[article.pk]) == MAX_HEADLINE_VARIANTS:
            results[position] = "not kept"
            continue
        kept[article.pk].add(seen.headline)
        new.append(HeadlineVariant(article=article, headline=seen.headline, day=seen.day, url=seen.url))
        results.setdefault(position, "kept")
    HeadlineVariant.objects.bulk_create(new)
    return results


def _attach(new_urls: Sequence[tuple[UUID, SeenURL, Article]]) -> None:
    """Store new URLs, and learn from them which parameters distinguish a newspaper's stories."""
    papers = {article.newspaper_id for _, _, article in new_urls}
    # Read inside the lock, because another writer may have learnt a parameter since the newspapers were read.
    kept = dict(Newspaper.objects.filter(pk__in=papers).values_list("pk", "kept_url_parameters"))
    learn_parameters(
        ArticleURL.objects.bulk_create(
            ArticleURL(
                article=article,
                url=seen.url,
                key=key,
                normalized_url=comparable_url(seen.url, kept[article.newspaper_id]),
                kind=seen.kind,
            )
            for key, seen, article in new_urls
        )
    )


def _owners(keys: Collection[UUID]) -> dict[UUID, Article]:
    """Return the stored article that each of these URLs belongs to."""
    rows = ArticleURL.objects.filter(key__in=keys).select_related("article")
    rows = rows.defer(*(f"article__{name}" for name in LONG_TEXTS if name != "normalized_title"))
    return {row.key: row.article for row in rows}


def _known_article(each: _Prepared, owners: dict[UUID, Article]) -> Article | None:
    """Return the stored article with the same URL, or with another URL of this one; None if it is new.

    Another URL, such as a canonical link, counts only within the newspaper and for the same headline or text: a site
    that names its front page as the canonical URL of every article must not lose them all, nor a newspaper its wire
    copy because it points to the agency.
    """
    for key in each.own_keys:
        if key in owners:
            return owners[key]
    for key in each.urls:
        owner = owners.get(key)
        if owner is None or owner.newspaper_id != each.newspaper.pk:
            continue
        forms = each.forms
        same_title = bool(forms.normalized_title) and owner.normalized_title == forms.normalized_title
        if same_title or (forms.text_digest is not None and owner.text_digest == forms.text_digest):
            return owner
    return None


def _new_article(each: _Prepared) -> Article:
    return Article(
        newspaper=each.newspaper,
        external_id=each.incoming.external_id,
        date=each.incoming.date,
        headline=each.incoming.headline.strip(),
        url=each.url,
        content=each.incoming.content,
        extra_columns=each.incoming.extra_columns,
        **dataclasses.asdict(each.forms),
        normalizer_version=NORMALIZER_VERSION,
        extractor_version=each.incoming.page.extractor_version if each.incoming.page else 0,
        **dataclasses.asdict(each.incoming.details),
    )


def _new_page(page: PageCopy, article_id: int) -> ArticlePage:
    # Without a time in the header, so that the same page gives the same bytes.
    body = gzip.compress(page.body, mtime=0)
    kept = ArticlePage(article_id=article_id, url=page.url, content_type=page.content_type, body=body)
    if listed := page.published:
        kept.published, kept.in_sitemap = listed.day, listed.in_sitemap
        kept.published_time = str(listed.time) if listed.time else ""
    return kept
