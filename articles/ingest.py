"""The one writer of articles: checks, normalises, stores, and attaches URLs that are already known.

An article is stored once, as it was first seen; it is never fetched again, overwritten or deleted. A URL
names one article for good. Near-duplicates are stored like any other article: finding them is the
business of the detection passes, which can be looked at and undone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max

from articles.models import Article, ArticleURL, Newspaper
from articles.normalization import (
    NORMALIZER_VERSION,
    host_of,
    normalize_text,
    normalize_title,
    normalize_url,
    text_digest,
    url_key,
)

MAX_CONTENT_CHARACTERS = 1_000_000
MAX_HEADLINE_CHARACTERS = 2_000
MAX_URL_CHARACTERS = 2_000
MAX_EXTERNAL_ID_CHARACTERS = 200
MAX_NEWSPAPER_CHARACTERS = 200
# The first printed newspaper is of 1605 (Relation, Strasbourg); an earlier day is a reading error.
FIRST_DAY = datetime.date(1605, 1, 1)
# Tomorrow has begun in the east when it is today in UTC; the second day is for clocks that are wrong.
MAX_DAYS_AHEAD = 2

# The host at the beginning of a normalised URL, if a newspaper can carry it as its name.
_HOST = re.compile(rf"[^/?#]{{1,{MAX_NEWSPAPER_CHARACTERS}}}(?![^/?#])")
# One writer at a time, so that two who bring the same URL end with one article. Arbitrary, but fixed.
_INGEST_LOCK = 5_112_001


class RejectedArticleError(ValueError):
    """An article that cannot be stored; the message names the value, the bound and the remedy."""


@dataclass(frozen=True, slots=True)
class SeenURL:
    """A URL under which an article was seen, and how."""

    url: str
    kind: ArticleURL.Kind


@dataclass(frozen=True, slots=True)
class IncomingArticle:
    """An article on its way into the store. `newspaper` is a name; empty: the newspaper of the URL's host."""

    date: datetime.date
    headline: str
    url: str
    content: str
    newspaper: str = ""
    external_id: str = ""
    kind: ArticleURL.Kind = ArticleURL.Kind.PAGE
    other_urls: Sequence[SeenURL] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of an incoming article: stored anew, its URL already known, or rejected with a reason."""

    outcome: Literal["created", "known", "rejected"]
    article_id: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A checked article with everything that can be computed outside the lock."""

    incoming: IncomingArticle
    newspaper: Newspaper
    normalized_title: str
    normalized_text: str
    digest: UUID | None
    urls: dict[UUID, SeenURL]  # its own URL first


def store_article(incoming: IncomingArticle) -> Stored:
    """Store one article. Raises RejectedArticleError; see store_articles."""
    [stored] = store_articles([incoming])
    if stored.outcome == "rejected":
        raise RejectedArticleError(stored.reason)
    return stored


def store_articles(batch: Sequence[IncomingArticle]) -> list[Stored]:
    """Store a batch in one transaction and return what became of each, in the order given.

    A batch holds up to some hundreds of articles. Bad ones are rejected and the rest is kept.
    """
    results: list[Stored | None] = [None] * len(batch)
    prepared: dict[int, _Prepared] = {}
    for position, incoming in enumerate(batch):
        try:
            check_article(incoming)
        except RejectedArticleError as rejection:
            results[position] = Stored("rejected", reason=str(rejection))
    sound = [position for position, result in enumerate(results) if result is None]
    newspapers = _newspapers([(batch[position].newspaper, batch[position].url) for position in sound])
    for position, newspaper in zip(sound, newspapers, strict=True):
        prepared[position] = _prepare(batch[position], newspaper)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_INGEST_LOCK])
        for position, stored in _write(prepared).items():
            results[position] = stored
    return [stored for stored in results if stored is not None]


def known_urls(urls: Iterable[str]) -> set[str]:
    """Return those of the URLs that already belong to an article, and need no fetching."""
    keys = {url: url_key(url) for url in urls}
    known = set(ArticleURL.objects.filter(key__in=set(keys.values())).values_list("key", flat=True))
    return {url for url, key in keys.items() if key in known}


def attach_urls(urls: Sequence[SeenURL], *, known_as: str) -> bool:
    """Attach URLs to the article that `known_as` belongs to; return whether there is one."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_INGEST_LOCK])
        owner = ArticleURL.objects.filter(key=url_key(known_as)).values_list("article_id", flat=True).first()
        if owner is None:
            return False
        seen = {url_key(each.url): each for each in urls if not _url_fault(each.url)}
        ArticleURL.objects.bulk_create(
            [_new_url(key, each, owner) for key, each in seen.items()], ignore_conflicts=True
        )
    return True


def newest_revision() -> int:
    """Return the highest revision of an article; 0 for an empty store. All articles up to it can be seen.

    It waits for the writer of the moment, whose articles have numbers already that nobody sees yet.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_INGEST_LOCK])
        newest: int | None = Article.objects.aggregate(newest=Max("revision"))["newest"]
    return newest or 0


def refresh_statistics() -> None:
    """Have PostgreSQL look at the articles again, after many have come: else it reads them in a slower way at first."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE articles_article, articles_articleurl")


def check_article(incoming: IncomingArticle) -> None:
    """Raise RejectedArticleError unless the article can be stored as it is."""
    if fault := _url_fault(incoming.url):
        raise RejectedArticleError(fault)
    if not incoming.content.strip():
        raise RejectedArticleError("content is empty; an article needs its text")
    bounds = (
        ("content", incoming.content, MAX_CONTENT_CHARACTERS),
        ("headline", incoming.headline, MAX_HEADLINE_CHARACTERS),
        ("id", incoming.external_id, MAX_EXTERNAL_ID_CHARACTERS),
        ("newspaper", incoming.newspaper, MAX_NEWSPAPER_CHARACTERS),
    )
    for name, value, limit in bounds:
        if fault := _text_fault(name, value, limit):
            raise RejectedArticleError(fault)
    if incoming.date < FIRST_DAY:
        raise RejectedArticleError(f"date {incoming.date} is before {FIRST_DAY}, when there were no newspapers")
    last_day = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=MAX_DAYS_AHEAD)
    if incoming.date > last_day:
        raise RejectedArticleError(
            f"date {incoming.date} is after {last_day}, {MAX_DAYS_AHEAD} days from today (UTC); correct the date"
        )


def newspaper_for(name: str, url: str) -> Newspaper:
    """Return the newspaper of this name, else the one of the URL's host; made if missing."""
    [newspaper] = _newspapers([(name, url)])
    return newspaper


def newspaper_host(url: str) -> str:
    """Return the host of the site that published the URL; of a redirect or an archived page, the target's."""
    host = host_of(url)
    target = _HOST.match(normalize_url(url))
    # The normal form of a plain URL only drops labels such as m. from its host.
    if target is None or f".{host}".endswith(f".{target[0]}"):
        return host
    return target[0]


def _url_fault(url: str) -> str:
    if not url.strip():
        return "url is missing; every article needs the URL it stands at"
    if fault := _text_fault("url", url, MAX_URL_CHARACTERS):
        return fault
    host = host_of(url)
    if not host:
        return f"url {url[:100]!r} names no host; it must begin with http:// or https://"
    if len(host) > MAX_NEWSPAPER_CHARACTERS:
        return f"url has a host of {len(host):,} characters; at most {MAX_NEWSPAPER_CHARACTERS:,} are stored"
    return ""


def _text_fault(name: str, value: str, limit: int) -> str:
    if len(value) > limit:
        return f"{name} has {len(value):,} characters; at most {limit:,} are stored"
    if "\0" in value:
        return f"{name} holds a NUL byte at character {value.index(chr(0)) + 1}; remove it"
    try:
        value.encode()
    except UnicodeEncodeError:
        # JSON can carry half of a UTF-16 pair; PostgreSQL cannot store it.
        return f"{name} holds half a surrogate pair, which is no text; encode it as UTF-8"
    return ""


def _newspapers(wanted: Sequence[tuple[str, str]]) -> list[Newspaper]:
    """Return the newspaper of each name, or without one of each URL; those that are missing are made.

    A newspaper that is named anywhere in the batch is found by its host in all of it, in whatever order.
    """
    keys = [(name.strip(), "" if name.strip() else newspaper_host(url)) for name, url in wanted]
    first_urls = {name: url for (name, _), (_, url) in zip(reversed(keys), reversed(wanted), strict=True) if name}
    by_name = _named({name: newspaper_host(url) for name, url in first_urls.items()})
    hosts = {host for _, host in keys if host}
    by_host = {each.host: each for each in Newspaper.objects.filter(host__in=hosts).order_by("-id")}
    by_host |= _named({host: host for host in hosts if host not in by_host})
    return [by_name[name] if name else by_host[host] for name, host in keys]


def _named(hosts: Mapping[str, str]) -> dict[str, Newspaper]:
    """Return the newspapers of these names; one that is missing is made with the host that is given for it."""
    found = {each.name: each for each in Newspaper.objects.filter(name__in=hosts)}
    if missing := sorted(name for name in hosts if name not in found):
        # In one order for all, so that two writers of the same names never wait for each other.
        rows = [Newspaper(name=name, host=hosts[name]) for name in missing]
        Newspaper.objects.bulk_create(rows, ignore_conflicts=True)
        found |= {each.name: each for each in Newspaper.objects.filter(name__in=missing)}
    return found


def _prepare(incoming: IncomingArticle, newspaper: Newspaper) -> _Prepared:
    text = normalize_text(incoming.content)
    urls = {url_key(incoming.url): SeenURL(incoming.url.strip(), incoming.kind)}
    for seen in incoming.other_urls:
        if not _url_fault(seen.url):
            urls.setdefault(url_key(seen.url), seen)
    return _Prepared(
        incoming=incoming,
        newspaper=newspaper,
        normalized_title=normalize_title(incoming.headline, [newspaper.name, *newspaper.title_affixes]),
        normalized_text=text,
        digest=text_digest(text),
        urls=urls,
    )


def _write(prepared: dict[int, _Prepared]) -> dict[int, Stored]:
    """Store the prepared articles, inside the lock; return what became of each."""
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
    ArticleURL.objects.bulk_create([_new_url(key, seen, article.pk) for key, seen, article in new_urls])
    return {position: Stored(outcome, article.pk) for position, (outcome, article) in outcomes.items()}


def _owners(keys: Collection[UUID]) -> dict[UUID, Article]:
    """Return the stored article that each of these URLs belongs to."""
    rows = ArticleURL.objects.filter(key__in=keys).select_related("article")
    rows = rows.defer("article__content", "article__normalized_text")
    return {row.key: row.article for row in rows}


def _known_article(each: _Prepared, owners: dict[UUID, Article]) -> Article | None:
    """Return the article that this one is, by its own URL or by another that it was seen under.

    Another URL (a canonical link, say) is believed only within the newspaper and for the same headline or
    text: a site that names its front page as the canonical URL of every article must not lose them all,
    nor a paper its wire copy because it points to the agency.
    """
    own_key, *other_keys = each.urls
    if own_key in owners:
        return owners[own_key]
    for key in other_keys:
        owner = owners.get(key)
        if owner is None or owner.newspaper_id != each.newspaper.pk:
            continue
        same_title = bool(each.normalized_title) and owner.normalized_title == each.normalized_title
        if same_title or (each.digest is not None and owner.text_digest == each.digest):
            return owner
    return None


def _new_article(each: _Prepared) -> Article:
    return Article(
        newspaper=each.newspaper,
        external_id=each.incoming.external_id,
        date=each.incoming.date,
        headline=each.incoming.headline.strip(),
        url=each.incoming.url.strip(),
        content=each.incoming.content,
        normalized_title=each.normalized_title,
        normalized_text=each.normalized_text,
        text_digest=each.digest,
        normalizer_version=NORMALIZER_VERSION,
    )


def _new_url(key: UUID, seen: SeenURL, article_id: int) -> ArticleURL:
    return ArticleURL(
        article_id=article_id,
        url=seen.url,
        key=key,
        normalized_url=normalize_url(seen.url),
        kind=seen.kind,
    )
