"""What a removal would take, counted before anybody confirms it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet

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
from dedup.models import Cluster, Decision, Evidence, GroupMember, Link, Pair, SampledPair, Series
from newsdedup_site.privacy.removal import family_of


@dataclass(frozen=True, slots=True)
class Preview:
    """What a removal would take: labels with numbers, in reading order, and what would only change."""

    goes: list[tuple[str, int]]
    changes: list[tuple[str, int]]


def preview_newspaper(newspaper: Newspaper) -> Preview:
    """Return what removing a newspaper would take. Raises RemovalError."""
    family = family_of(newspaper)
    found = _preview(Article.objects.filter(newspaper__in=family))
    of_newspaper = [
        ("merged newspapers", len(family) - 1),
        ("series", Series.objects.filter(newspaper__in=family).count()),
        ("links that wait or were refused", PendingLink.objects.filter(newspaper__in=family).count()),
        ("visits of crawls", Visit.objects.filter(newspaper__in=family).count()),
    ]
    return Preview([*found.goes, *of_newspaper], found.changes)


def preview_articles(article_ids: list[int]) -> Preview:
    """Return what removing these articles would take."""
    return _preview(Article.objects.filter(pk__in=article_ids))


def _preview(articles: QuerySet[Article]) -> Preview:
    ids = articles.order_by().values("pk")
    touching = Q(left__in=ids) | Q(right__in=ids)
    pairs = Pair.objects.filter(touching).order_by()
    said = Link.objects.filter(touching).order_by().values("decision")
    about = Q(pair__in=pairs.values("pk")) | Q(article__in=ids) | Q(pk__in=said)
    goes = [
        ("articles", articles.count()),
        ("URLs", _of(ArticleURL, ids) + _of(DeclaredURL, ids)),
        ("other headlines", _of(HeadlineVariant, ids)),
        ("kept pages", _of(ArticlePage, ids)),
        ("later versions", _of(ArticleRevision, ids)),
        ("pairs", pairs.count()),
        ("evidence", Evidence.objects.filter(pair__in=pairs.values("pk")).count()),
        ("pairs of validation samples", SampledPair.objects.filter(touching).count()),
        ("places in dense groups", _of(GroupMember, ids)),
    ]
    changes = [
        ("decisions that become tombstones", Decision.objects.filter(about).count()),
        ("clusters that lose articles", Cluster.objects.filter(memberships__article__in=ids).distinct().count()),
    ]
    return Preview(goes, changes)


def _of(model: type, ids: QuerySet) -> int:  # type: ignore[type-arg]
    return int(model.objects.filter(article__in=ids).count())  # type: ignore[attr-defined]
