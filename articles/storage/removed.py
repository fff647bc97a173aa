"""What admins take away: what keeps removed articles from coming back, and the texts of articles that are withheld.

Of what was removed, only digests are kept, so nobody can read it; whoever brings the same URL or name again is
recognised. Two digests of each URL: its key, and the MD5 of its reduced form, which other spellings of the URL share.

The rows with texts of a withheld article move to WithheldRow, which nothing reads but `put_back`, which puts them back
unchanged. What stays of the article is its number, its newspaper, its day and the digests of its URLs, by which it is
known if it comes again.
"""

from collections.abc import Collection, Iterable
from typing import Any, LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composed, Identifier

from articles.fields import FIELDS
from articles.models import Article, Removal, RemovedIdentity, Withholding
from articles.normalization.urls import comparable_url
from articles.querysets import executed
from articles.storage.fingerprints import md5
from articles.storage.incoming import keys_of
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
    executed(_KEEP_URLS_SQL, {"removal": removal.pk, "articles": list(articles)})


def keep_names(removal: Removal, names: Iterable[str]) -> None:
    """Keep the digests of the names and hosts of a newspaper."""
    rows = [RemovedIdentity(digest=_digest(_NAME, name), removal=removal) for name in set(names) if name]
    RemovedIdentity.objects.bulk_create(rows, ignore_conflicts=True)


def removed_names(namings: Collection[Naming]) -> set[Naming]:
    """Return those under which a newspaper was removed."""
    digests = {naming: _name_digest(naming) for naming in namings}
    found = _found(digests.values())
    return {naming for naming, digest in digests.items() if digest in found}


def are_removed(batch: Collection[Prepared]) -> list[bool]:
    """Return for each of these articles whether it, or its newspaper, was removed."""
    # To ask for thousands of digests takes a fifth of an import.
    if not RemovedIdentity.objects.exists():
        return [False] * len(batch)
    digests: list[set[UUID]] = []
    for prepared in batch:
        forms = {_digest(_FORM, url.form) for url in prepared.urls.values()}
        digests.append({*prepared.own_keys, *prepared.urls, *forms, _name_digest(prepared.naming)})
    found = _found(set().union(*digests))
    return [not found.isdisjoint(own) for own in digests]


def removed_urls(urls: Collection[str], kept: Collection[str] = ()) -> set[str]:
    """Return those of the URLs that are of removed articles; `kept` are the parameters that count there."""
    digests = {url: keys_of(url) | {_digest(_FORM, comparable_url(url, kept))} for url in urls}
    found = _found(set().union(*digests.values()))
    return {url for url, own in digests.items() if not found.isdisjoint(own)}


def lift(removal: Removal, **values: Any) -> int:
    """Let what a removal took come again; return how many digests went."""
    number, _ = RemovedIdentity.objects.filter(removal=removal).delete()
    Removal.objects.filter(pk=removal.pk).update(**values)
    return number


def _name_digest(naming: Naming) -> UUID:
    return _digest(_NAME, naming.name or naming.host)


def _found(digests: Collection[UUID]) -> set[UUID]:
    found = RemovedIdentity.objects.filter(digest__in=set(digests))  # of no digests, Django asks for none
    return set(found.values_list("digest", flat=True))


def _digest(kind: str, text: str) -> UUID:
    return UUID(md5(kind + text))


PLACEHOLDER = "Withheld"
# The columns of an article with words of it, or found in them, and what they hold without.
_EMPTY: dict[str, str | None] = {
    **dict.fromkeys((field.name for field in FIELDS if field.has_words), ""),
    **dict.fromkeys(("normalized_title", "normalized_text", "extra_columns"), ""),
    "text_digest": None,
}
# The trigger on articles empties these when the content changes, so they are written after it.
MARKS = ("boilerplate", "story_text", "story_digest", "topic_text", "topic_digest")

# The rows that go, and those of which only the URL goes: each with the column that has the article's number. The order
# is that in which they come back.
_WHOLE: tuple[tuple[LiteralString, LiteralString], ...] = (
    ("articles_headlinevariant", "article_id"),
    ("articles_attachedcopy", "article_id"),
    ("articles_articlepage", "article_id"),
    ("articles_followingpage", "article_page_id"),
    ("articles_articlerevision", "article_id"),
)
_ADDRESSES: tuple[tuple[LiteralString, LiteralString], ...] = (
    ("articles_articleurl", "article_id"),
    ("articles_declaredurl", "article_id"),
)

_KEEP_SQL: LiteralString = """
INSERT INTO articles_withheldrow (withholding_id, "table", row)
SELECT %(withholding)s, {name}, to_jsonb(kept) FROM {table} AS kept WHERE {column} = %(article)s
"""
_DELETE_SQL: LiteralString = "DELETE FROM {table} WHERE {column} = ANY (%(articles)s::bigint[])"
# The form is what the pass on URLs compares: no two articles may share it.
_BLANK_URLS_SQL: LiteralString = """
UPDATE articles_articleurl SET url = '', normalized_url = 'withheld ' || key
WHERE article_id = ANY (%(articles)s::bigint[])
"""
_BLANK_DECLARED_SQL: LiteralString = """
UPDATE articles_declaredurl SET url = '' WHERE article_id = ANY (%(articles)s::bigint[])
"""
_RESTORE_SQL: LiteralString = """
INSERT INTO {table} SELECT restored.* FROM articles_withheldrow AS kept
CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, kept.row) AS restored
WHERE kept.withholding_id = %(withholding)s AND kept."table" = {name}
ORDER BY kept.id
ON CONFLICT DO NOTHING
"""
_RESTORE_FIELDS_SQL: LiteralString = """
UPDATE {table} AS stored SET {fields}
FROM articles_withheldrow AS kept
CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, kept.row) AS restored
WHERE kept.withholding_id = %(withholding)s AND kept."table" = {name} AND stored.id = restored.id
"""


def take_away(withholding: Withholding) -> None:
    """Move the texts of an article to the rows of its withholding; inside ingest.writing()."""
    article = withholding.article_id
    for table, column in (("articles_article", "id"), *_ADDRESSES, *_WHOLE):
        statement = SQL(_KEEP_SQL).format(table=Identifier(table), name=table, column=Identifier(column))
        executed(statement, {"withholding": withholding.pk, "article": article})
    blank([article], PLACEHOLDER)


def blank(articles: Collection[int], placeholder: str) -> None:
    """Delete the texts of these articles for good, and show this instead; inside ingest.writing()."""
    values = {"articles": list(articles)}
    for table, column in reversed(_WHOLE):
        executed(SQL(_DELETE_SQL).format(table=Identifier(table), column=Identifier(column)), values)
    for statement in (_BLANK_URLS_SQL, _BLANK_DECLARED_SQL):
        executed(statement, values)
    shown: dict[str, Any] = {**_EMPTY, **dict.fromkeys(MARKS), "boilerplate": [], "headline": placeholder}
    Article.objects.filter(pk__in=articles).update(**shown, withheld=True)


def put_back(withholding: Withholding) -> None:
    """Restore the texts of an article from the rows of its withholding, which go; inside ingest.writing()."""
    values = {"withholding": withholding.pk}
    for fields in (tuple(_EMPTY), MARKS):
        executed(_restored("articles_article", fields), values)
    executed(_restored("articles_articleurl", ("url", "normalized_url")), values)
    executed(_restored("articles_declaredurl", ("url",)), values)
    for table, _ in _WHOLE:
        executed(SQL(_RESTORE_SQL).format(table=Identifier(table), name=table), values)
    Article.objects.filter(pk=withholding.article_id).update(withheld=False)
    withholding.rows.all().delete()


def _restored(table: LiteralString, fields: Collection[str]) -> Composed:
    assigned = SQL(", ").join(SQL("{0} = restored.{0}").format(Identifier(field)) for field in fields)
    return SQL(_RESTORE_FIELDS_SQL).format(table=Identifier(table), name=table, fields=assigned)
