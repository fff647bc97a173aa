"""What keeps removed articles from coming back: digests of their URLs, and of the names of removed newspapers.

Only digests are kept, so nobody can read what was removed; whoever brings the same URL or name again is recognised. Two
digests of each URL: its key, and the MD5 of its reduced form, which other spellings of the URL share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any, LiteralString
from uuid import UUID

from django.db import connection

from articles.models import Removal, RemovedIdentity
from articles.normalization.urls import comparable_url, url_key
from articles.storage.incoming import story_url
from articles.storage.newspapers import Naming
from articles.storage.preparing import Prepared

REFUSED = "an admin removed this article or its newspaper; the page Removals can allow it again"

_FORM, _NAME = "form ", "name "
# The same digests as below, of all URLs of articles.
_KEEP_URLS_SQL: LiteralString = """
INSERT INTO articles_removedidentity (digest, removal_id)
SELECT DISTINCT digest, %(removal)s::bigint
FROM (
    SELECT key AS digest FROM articles_articleurl WHERE article_id = ANY (%(articles)s::bigint[])
    UNION
    SELECT md5('form ' || normalized_url)::uuid FROM articles_articleurl
    WHERE article_id = ANY (%(articles)s::bigint[])
    UNION
    SELECT key FROM articles_declaredurl WHERE article_id = ANY (%(articles)s::bigint[])
) AS found
WHERE NOT EXISTS (
    SELECT FROM articles_articleurl AS other
    WHERE other.key = found.digest AND other.article_id <> ALL (%(articles)s::bigint[])
)
ON CONFLICT (digest) DO NOTHING
"""


def keep_urls(removal: Removal, articles: Collection[int]) -> None:
    """Keep the digests of all URLs of these articles, in the caller's transaction, before the URLs go."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_URLS_SQL, {"removal": removal.pk, "articles": list(articles)})


def keep_names(removal: Removal, names: Iterable[str]) -> None:
    """Keep the digests of the names and hosts of a newspaper."""
    rows = [RemovedIdentity(digest=_digest(_NAME, name), removal=removal) for name in set(names) if name]
    RemovedIdentity.objects.bulk_create(rows, ignore_conflicts=True)


def removed_names(namings: Collection[Naming]) -> set[Naming]:
    """Return those under which a newspaper was removed."""
    digests = {naming: _digest(_NAME, naming.name or naming.host) for naming in namings}
    found = _found(digests.values())
    return {naming for naming, digest in digests.items() if digest in found}


def refused(batch: Iterable[Prepared]) -> list[bool]:
    """Return for each of these articles whether it, or its newspaper, was removed. Costs one query."""
    digests = [_digests_of(prepared) for prepared in batch]
    found = _found({digest for own in digests for digest in own})
    return [not found.isdisjoint(own) for own in digests]


def removed_urls(urls: Collection[str], kept: Collection[str] = ()) -> set[str]:
    """Return those of the URLs that are of removed articles; `kept` are the parameters that count there."""
    digests = {url: {url_key(url), url_key(story_url(url)), _digest(_FORM, comparable_url(url, kept))} for url in urls}
    found = _found({digest for own in digests.values() for digest in own})
    return {url for url, own in digests.items() if not found.isdisjoint(own)}


def lift(removal: Removal, **values: Any) -> int:
    """Let what a removal took come again; return how many digests went."""
    number, _ = RemovedIdentity.objects.filter(removal=removal).delete()
    Removal.objects.filter(pk=removal.pk).update(**values)
    return number


def _digests_of(each: Prepared) -> set[UUID]:
    forms = {_digest(_FORM, url.form) for url in each.urls.values()}
    return {*each.own_keys, *each.urls, *forms, _digest(_NAME, each.naming.name or each.naming.host)}


def _found(digests: Collection[UUID]) -> set[UUID]:
    if not digests:
        return set()
    rows = RemovedIdentity.objects.filter(digest__in=set(digests))
    return set(rows.values_list("digest", flat=True))


def _digest(kind: str, text: str) -> UUID:
    return UUID(hashlib.md5((kind + text).encode(), usedforsecurity=False).hexdigest())
