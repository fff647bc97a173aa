"""The one writer of articles: checks, normalises, stores, and attaches further URLs and copies to known articles.

An article is stored once, as it was first seen. Only renormalization.py and reextraction.py change it, when the rules
change. What an admin removed is refused, and nothing is added to an article that is withheld. A URL belongs to one
article permanently; one that a page only declares as its own belongs to none before there is evidence: see
known_articles.py. Near-duplicates are stored like any other article: the detection passes find them, and editors can
review and undo the results. Unless a newspaper's policy is to attach a copy at once: all that came of it is kept in
AttachedCopy, and its URLs and headline become those of the stored article, by which it is known if it comes again.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias
from uuid import UUID

from django.core import serializers
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from articles.models import Article, ArticlePage, DeclaredURL, FollowingPage, HeadlineVariant, Newspaper
from articles.normalization.urls import comparable_url, url_key
from articles.querysets import TIME_COLUMNS, executed, fetched
from articles.storage.incoming import (
    IncomingArticle,
    PageCopy,
    RejectedArticleError,
    SeenHeadline,
    SeenURL,
    check_article,
    keys_of,
    url_fault,
)
from articles.storage.known_articles import Addresses, SameArticles, StoredArticle, known_keys, owners_of
from articles.storage.locks import Lock, lock_transaction
from articles.storage.newspapers import Naming, Paper, newspapers_for
from articles.storage.preparing import CAME_COLUMNS, FORM_COLUMNS, Prepared, PreparedURL, copy_into, copy_row, prepare
from articles.storage.removed import REFUSED, are_removed, removed_names
from articles.storage.url_parameters import learn_parameters

# After this many new or changed articles, PostgreSQL's statistics are refreshed.
MANY = 1_000
_TIME_FIELDS = (*TIME_COLUMNS, "date_source")
# Other headlines that an article keeps, the first ones: a live page changes its headline every few minutes.
MAX_HEADLINE_VARIANTS = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """The result for an incoming article: created, attached to another, known by its URL, or rejected with a reason.

    `headline` is whether a known article came under a headline that it did not have, which is now kept with it, or not
    kept because it has MAX_HEADLINE_VARIANTS.
    """

    outcome: Literal["created", "attached", "known", "rejected"]
    article_id: int | None = None
    reason: str = ""
    headline: Literal["", "kept", "not kept"] = ""


# Prepares an article of a batch, by its place, for a state of its newspaper.
ForPaper: TypeAlias = Callable[[int, Paper], Prepared]


@dataclass(slots=True)
class _Outcome:
    """A prepared article, and the article that it is stored as, or attached to by what; `urls` are new with it."""

    prepared: Prepared
    outcome: Literal["created", "attached", "known"]
    article: StoredArticle
    attached_by: str = ""
    urls: Sequence[PreparedURL] = ()


class _NewURLs(NamedTuple):
    """URLs that are new, with their articles; those seen with the newspaper that they were prepared for."""

    seen: list[tuple[UUID, PreparedURL, int, StoredArticle]]
    declared: list[tuple[UUID, PreparedURL, StoredArticle]]


# The articles of a batch get their ids in its order.
_IDS_SQL = """
SELECT nextval(pg_get_serial_sequence('articles_article', 'id')) FROM generate_series(1, %(count)s)
"""
_ARTICLE_COLUMNS = ("id", "newspaper_id", "stored_at", *CAME_COLUMNS, *FORM_COLUMNS)
_COPY_COLUMNS = ("article_id", "attached_by", "attached_at", "seen", "page", "page_fetched_at", *CAME_COLUMNS)
_URL_COLUMNS = ("article_id", "seen_at", "key", "url", "kind", "normalized_url")


@contextmanager
def writing() -> Iterator[None]:
    """Be the only writer of articles for the duration of a transaction."""
    with transaction.atomic():
        lock_transaction(Lock.INGEST)
        yield


def store_articles(batch: Sequence[IncomingArticle], *, attach: bool = True) -> list[Stored]:
    """Store a batch in one transaction and return the result for each, in the same order.

    A batch has up to some hundred articles. Invalid ones are rejected, the others stored, or attached to others if
    their newspapers want that and `attach`.
    """
    results: dict[int, Stored] = {}
    valid: list[tuple[IncomingArticle, Naming]] = []
    for position, incoming in enumerate(batch):
        try:
            check_article(incoming)
            valid.append((incoming, Naming.of(incoming.newspaper, incoming.url)))
        except RejectedArticleError as rejection:
            results[position] = Stored("rejected", reason=str(rejection))

    def prepared(place: int, paper: Paper) -> Prepared:
        return prepare(*valid[place], paper)

    stored = iter(_store([naming for _, naming in valid], prepared, prepared, attach=attach))
    return [results.get(position) or next(stored) for position in range(len(batch))]


def store_prepared(batch: Sequence[Prepared], again: ForPaper) -> list[Stored]:
    """Store a batch that was prepared in another process, as store_articles does.

    Those whose newspaper was, or is now, another one than they were prepared for are prepared again.
    """
    return _store([prepared.naming for prepared in batch], lambda place, _paper: batch[place], again)


def attach_urls(urls: Sequence[SeenURL], *, known_as: str) -> bool:
    """Attach URLs to the article that `known_as` belongs to; return whether there is one."""
    with writing():
        owner = Article.objects.filter(urls__key__in=keys_of(known_as)).only("newspaper_id", "withheld").first()
        if owner is None:
            return False
        if owner.withheld:
            return True
        kept = Newspaper.objects.only("kept_url_parameters").get(pk=owner.newspaper_id).kept_url_parameters
        seen = {url_key(url.url): PreparedURL.of(url, kept) for url in urls if not url_fault(url.url)}
        owners = owners_of(seen)
        _attach([(key, url, owner.pk) for key, url in seen.items() if key not in owners])
    return True


def newest_revision() -> int:
    """Return the highest revision of an article; 0 if there is none. All articles up to it are visible.

    It waits for the current writer, whose articles already have revisions but are not committed yet.
    """
    with writing():
        newest: int | None = Article.objects.aggregate(newest=Max("revision"))["newest"]
    return newest or 0


def refresh_statistics(changed: int | None = None) -> None:
    """Update PostgreSQL's statistics after many changes, so that it does not choose slow query plans.

    `changed` is the number of new or changed articles: fewer than MANY need none. None: certainly many.
    """
    if changed is None or changed >= MANY:
        executed("ANALYZE articles_article, articles_articleurl")


def _store(namings: Sequence[Naming], ready: ForPaper, again: ForPaper, *, attach: bool = True) -> list[Stored]:
    """Store the articles with these namings: as they are ready, or as they are prepared again inside the lock."""
    removed = removed_names(set(namings))
    left = [place for place, naming in enumerate(namings) if naming not in removed]
    newspapers = dict(zip(left, newspapers_for([namings[place] for place in left]), strict=True))
    batch = {place: ready(place, Paper.of(newspaper)) for place, newspaper in newspapers.items()}
    with writing():
        are_refused = dict(zip(batch, are_removed(batch.values()), strict=True))
        batch = {place: prepared for place, prepared in batch.items() if not are_refused[place]}
        now = _as_of_now(batch, newspapers, again)
        if not attach:
            for _, newspaper in now.values():
                newspaper.attach = Newspaper.Attach.OFF  # for this batch
        stored = _write(now)
    return [stored.get(place, Stored("rejected", reason=REFUSED)) for place in range(len(namings))]


def _as_of_now(
    batch: Mapping[int, Prepared], newspapers: Mapping[int, Newspaper], again: ForPaper
) -> dict[int, tuple[Prepared, Newspaper]]:
    """Return the articles with their newspapers, by place.

    Prepares those again whose newspaper was merged, or got other affixes or parameters, while they waited for the lock,
    and those that were known and are not.
    """
    now = Newspaper.objects.in_bulk({newspapers[place].pk for place in batch})
    current = {pk: newspaper.current for pk, newspaper in now.items()}
    papers = {pk: Paper.of(newspaper) for pk, newspaper in current.items()}
    known = known_keys({key for prepared in batch.values() if prepared.is_known for key in prepared.own_keys})
    found: dict[int, tuple[Prepared, Newspaper]] = {}
    for place, prepared in batch.items():
        pk = newspapers[place].pk
        is_current = prepared.paper == papers[pk] and (not prepared.is_known or not known.isdisjoint(prepared.own_keys))
        found[place] = (prepared if is_current else again(place, papers[pk])), current[pk]
    return found


def _write(prepared: Mapping[int, tuple[Prepared, Newspaper]]) -> dict[int, Stored]:
    """Store the prepared articles of these newspapers, inside the lock; return the result for each."""
    outcomes, new = _decide(prepared)
    created = [outcome for outcome in outcomes.values() if outcome.outcome == "created"]
    _create(created)
    _keep_copies([outcome for outcome in outcomes.values() if outcome.outcome == "attached"])
    _attach(
        (key, url if paper_id == article.newspaper_id else _of_another(url, article.newspaper_id), article.pk)
        for key, url, paper_id, article in new.seen
    )
    DeclaredURL.objects.bulk_create(
        (DeclaredURL(article_id=article.pk, key=key, url=url.url, kind=url.kind) for key, url, article in new.declared),
        ignore_conflicts=True,
    )
    _fill_times([outcome for outcome in outcomes.values() if outcome.outcome == "known"])
    headlines = _keep_headlines(
        (place, outcome.article.pk, seen) for place, outcome in outcomes.items() for seen in _other_headlines(outcome)
    )
    _keep_pages([(page, outcome.article.pk) for outcome in created if (page := outcome.prepared.page) is not None])
    return {
        place: Stored(
            found.outcome, found.article.pk, headline=headlines.get(place, "") if found.outcome == "known" else ""
        )
        for place, found in outcomes.items()
    }


def _decide(prepared: Mapping[int, tuple[Prepared, Newspaper]]) -> tuple[dict[int, _Outcome], _NewURLs]:
    """Return what becomes of each article, one after the other, and the URLs that are new."""
    addresses, same = Addresses.of(article for article, _ in prepared.values()), SameArticles.of(prepared.values())
    outcomes: dict[int, _Outcome] = {}
    new = _NewURLs([], [])
    for place, (ready, newspaper) in prepared.items():
        outcome = outcomes[place] = _outcome(ready, newspaper, addresses, same)
        article = outcome.article
        if article.withheld:
            continue
        urls = {key: url for key, url in ready.urls.items() if key not in addresses.owners}
        addresses.owners |= dict.fromkeys(urls, article)
        new.seen.extend((key, url, newspaper.pk, article) for key, url in urls.items())
        outcome.urls = tuple(urls.values())
        if outcome.outcome != "attached":
            new.declared.extend((key, url, article) for key, url in addresses.declare(ready, article))
    return outcomes, new


def _outcome(ready: Prepared, newspaper: Newspaper, addresses: Addresses, same: SameArticles) -> _Outcome:
    if known := addresses.known(ready, newspaper.pk):
        return _Outcome(ready, "known", known)
    if newspaper.attach and (found := same.find(ready, newspaper)):
        return _Outcome(ready, "attached", *found)
    article = StoredArticle.of(ready, newspaper.pk)
    if newspaper.attach:
        same.add(article, [url.form for url in ready.urls.values()])
    return _Outcome(ready, "created", article)


def _create(created: Sequence[_Outcome]) -> None:
    """Store new articles, and set their ids."""
    if not created:
        return
    ids = sorted(pk for (pk,) in fetched(_IDS_SQL, {"count": len(created)}))
    for pk, outcome in zip(ids, created, strict=True):
        outcome.article.pk = pk
    now = timezone.now()
    # The row is a prepared one with these columns before it.
    rows = (
        copy_row((new.article.pk, new.article.newspaper_id, now), end="\t") + new.prepared.columns + new.prepared.forms
        for new in created
    )
    copy_into("articles_article", _ARTICLE_COLUMNS, rows)


def _keep_copies(attached: Sequence[_Outcome]) -> None:
    """Keep all that came of the articles that are attached to others."""
    rows = []
    for outcome in attached:
        prepared, page = outcome.prepared, outcome.prepared.page
        seen = {
            "urls": [(url.url, url.kind) for url in outcome.urls],
            "declared": [(url.url, url.kind) for url in prepared.declared.values()],
            "headlines": [(seen.headline, str(seen.day), seen.url) for seen in prepared.headlines],
        }
        packed: tuple[object, ...] = ("", None)
        if page is not None:
            first, *others = (_new_page(page, 0), *_following_pages(page, 0))
            packed = (serializers.serialize("json", (first, *others)), first.fetched_at)
        own = (outcome.article.pk, outcome.attached_by, timezone.now())
        rows.append(copy_row((*own, json.dumps(seen), *packed), end="\t") + prepared.columns + b"\n")
    if rows:
        copy_into("articles_attachedcopy", _COPY_COLUMNS, rows)


def _attach(new_urls: Iterable[tuple[UUID, PreparedURL, int]]) -> None:
    """Store new URLs of articles, and learn from them which parameters distinguish a newspaper's stories."""
    new_urls = list(new_urls)
    if not new_urls:
        return
    now = timezone.now()
    rows = (
        copy_row((article_id, now, key, address.url, address.kind, address.form))
        for key, address, article_id in new_urls
    )
    copy_into("articles_articleurl", _URL_COLUMNS, rows)
    decorated = {address.form for _, address, _ in new_urls if address.decorated}
    learn_parameters(decorated, {article_id for _, _, article_id in new_urls})


def _of_another(url: PreparedURL, newspaper_id: int) -> PreparedURL:
    """Return a URL of an article of another newspaper than the one that it was prepared for."""
    kept = Newspaper.objects.only("kept_url_parameters").get(pk=newspaper_id).kept_url_parameters
    return url._replace(form=comparable_url(url.url, kept))


def _fill_times(known: Iterable[_Outcome]) -> None:
    """Give imported articles that have no time of publication the time of a row on the same day.

    So a file that was imported before times were kept can be imported again. An article with its page gets its time
    from there, by reextraction.
    """
    filled: list[Article] = []
    for outcome in known:
        article, time = outcome.article, outcome.prepared.time
        is_full = article.withheld or article.extractor_version or article.published_at
        if time is None or is_full or time.published_day != article.date:
            continue
        article.published_at = time.published_at
        filled.append(Article(pk=article.pk, **{name: getattr(time, name) for name in _TIME_FIELDS}))
    Article.objects.bulk_update(filled, _TIME_FIELDS)


def _other_headlines(outcome: _Outcome) -> list[SeenHeadline]:
    """Return the headlines under which an article came and which are not its own."""
    prepared, article = outcome.prepared, outcome.article
    if outcome.outcome == "created":
        return list(prepared.headlines)
    if article.withheld:
        return []
    came = SeenHeadline(prepared.headline, prepared.date, prepared.url)
    return [seen for seen in (came, *prepared.headlines) if seen.headline not in ("", article.headline)]


def _keep_headlines(others: Iterable[tuple[int, int, SeenHeadline]]) -> dict[int, Literal["kept", "not kept"]]:
    """Keep headlines of articles, each once; return by place which are new, and whether they are kept."""
    others = list(others)
    kept: dict[int, set[str]] = defaultdict(set)
    if ids := {article_id for _, article_id, _ in others}:
        for variant in HeadlineVariant.objects.filter(article_id__in=ids).only("article_id", "headline"):
            kept[variant.article_id].add(variant.headline)
    results: dict[int, Literal["kept", "not kept"]] = {}
    new: list[HeadlineVariant] = []
    for place, article_id, seen in others:
        if seen.headline in kept[article_id]:
            continue
        if len(kept[article_id]) == MAX_HEADLINE_VARIANTS:
            results[place] = "not kept"
            continue
        kept[article_id].add(seen.headline)
        new.append(HeadlineVariant(article_id=article_id, headline=seen.headline, day=seen.day, url=seen.url))
        results.setdefault(place, "kept")
    HeadlineVariant.objects.bulk_create(new)
    return results


def _keep_pages(pages: Sequence[tuple[PageCopy, int]]) -> None:
    """Keep the pages of articles, which these ids belong to, and their further pages."""
    ArticlePage.objects.bulk_create(_new_page(page, article_id) for page, article_id in pages)
    FollowingPage.objects.bulk_create(
        further for page, article_id in pages for further in _following_pages(page, article_id)
    )


def _following_pages(page: PageCopy, article_id: int) -> list[FollowingPage]:
    return [
        FollowingPage(article_page_id=article_id, number=number, **further._asdict())
        for number, further in enumerate(page.following, start=2)
    ]


def _new_page(page: PageCopy, article_id: int) -> ArticlePage:
    kept = ArticlePage(
        article_id=article_id,
        url=page.url,
        content_type=page.content_type,
        body=page.body,
        rule_id=page.rule,
        feed_entry=page.feed_entry,
    )
    if page.fetched:
        kept.fetched_at = page.fetched
    if listed := page.published:
        kept.published, kept.in_sitemap = listed.day, listed.in_sitemap
        kept.published_time = str(listed.time) if listed.time else ""
    return kept
