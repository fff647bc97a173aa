"""What a removal would take, counted before anybody confirms it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import LiteralString, NamedTuple

from django.db import connection
from django.db.models import QuerySet

from articles.models import (
    Article,
    ArticlePage,
    ArticleRevision,
    ArticleURL,
    DeclaredURL,
    HeadlineVariant,
    Newspaper,
)
from crawlers.models import PendingLink, Visit
from dedup.models import Cluster, GroupMember, Series
from newsdedup_site.privacy.removal import family_of

# The articles of a newspaper are read once, as an array; each table finds them by its index, or is read once.
_COUNTS_SQL: LiteralString = """
WITH gone AS MATERIALIZED (
    SELECT unnest(%(articles)s::bigint[]) AS id
), pairs AS MATERIALIZED (
    SELECT pair.id FROM dedup_pair AS pair JOIN gone ON gone.id = pair.left_id
    UNION SELECT pair.id FROM dedup_pair AS pair JOIN gone ON gone.id = pair.right_id
), sampled AS (
    SELECT drawn.id FROM dedup_sampledpair AS drawn JOIN gone ON gone.id = drawn.left_id
    UNION SELECT drawn.id FROM dedup_sampledpair AS drawn JOIN gone ON gone.id = drawn.right_id
)
SELECT (SELECT count(*) FROM pairs),
    (SELECT count(*) FROM dedup_evidence AS evidence JOIN pairs ON pairs.id = evidence.pair_id),
    (SELECT count(*) FROM sampled),
    (SELECT count(*) FROM dedup_decision WHERE articles && %(articles)s::bigint[])
"""


class Preview(NamedTuple):
    """What a removal would take: labels with numbers above 0, in reading order, and what would only change."""

    goes: list[tuple[str, int]]
    changes: list[tuple[str, int]]


def preview_newspaper(newspaper: Newspaper) -> Preview:
    """Return what removing a newspaper would take. Raises RemovalError."""
    family = family_of(newspaper)
    of_newspaper = [
        ("merged newspapers", len(family) - 1),
        ("series", Series.objects.filter(newspaper__in=family).count()),
        ("links that wait or were refused", PendingLink.objects.filter(newspaper__in=family).count()),
        ("visits of crawls", Visit.objects.filter(newspaper__in=family).count()),
    ]
    return _preview(Article.objects.filter(newspaper__in=family), of_newspaper)


def preview_article(article_id: int) -> Preview:
    """Return what removing this article would take."""
    return _preview(Article.objects.filter(pk=article_id))


def _preview(articles: QuerySet[Article], more: Iterable[tuple[str, int]] = ()) -> Preview:
    ids = articles.order_by().values("pk")
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS_SQL, {"articles": list(articles.order_by().values_list("pk", flat=True))})
        pairs, evidence, sampled, decisions = cursor.fetchone()
    goes = [
        ("articles", articles.count()),
        ("URLs", _of(ArticleURL, ids) + _of(DeclaredURL, ids)),
        ("other headlines", _of(HeadlineVariant, ids)),
        ("kept pages", _of(ArticlePage, ids)),
        ("later versions", _of(ArticleRevision, ids)),
        ("pairs", pairs),
        ("evidence", evidence),
        ("pairs of validation samples", sampled),
        ("places in dense groups", _of(GroupMember, ids)),
        *more,
    ]
    changes = [
        ("decisions that become tombstones", decisions),
        ("clusters that lose articles", Cluster.objects.filter(memberships__article__in=ids).distinct().count()),
    ]
    return Preview(*([entry for entry in entries if entry[1]] for entries in (goes, changes)))


def _of(model: type, ids: QuerySet) -> int:  # type: ignore[type-arg]
    return int(model.objects.filter(article__in=ids).count())  # type: ignore[attr-defined]
