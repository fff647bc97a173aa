"""Routes: about which newspapers and languages each editor is asked."""

import json
from collections.abc import Sequence
from typing import Any, LiteralString

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q
from django.db.models.expressions import RawSQL

from articles.models import Article
from articles.querysets import given
from dedup.models import OpenQuestion, Route
from dedup.review.queries.lists import IsAnyOf

# A newspaper that was merged leads to the one that has its articles now. Read once for a statement, not for each row.
_NEWSPAPERS_SQL: LiteralString = """
ARRAY(
    WITH RECURSIVE unit (id) AS (
        SELECT unnest(%s::bigint[])
        UNION
        SELECT paper.merged_into_id FROM unit JOIN articles_newspaper AS paper ON paper.id = unit.id
    )
    SELECT id FROM unit WHERE id > 0
    UNION ALL
    SELECT newspaper_id FROM unit JOIN articles_collection_newspapers ON collection_id = -unit.id
)
"""


def route_of(user: Any) -> Route | None:
    """Return the route of a user; None if they are asked everything, or the address asks for everything."""
    if hasattr(user, "route_read"):  # with the user, by newsdedup_site/access/backend.py
        return Route(**json.loads(user.route_read)) if user.route_read else None
    return Route.objects.filter(pk=user.pk).first()


def on_route(route: Route) -> Q:
    """Return the condition for open questions with an article of these newspapers and languages."""
    articles = Article.objects.filter(given(language__in=route.languages or None))
    if route.units:
        articles = articles.filter(IsAnyOf("newspaper", RawSQL(_NEWSPAPERS_SQL, [route.units])))  # noqa: S611 - constant
    left, right = (Exists(articles.filter(pk=OuterRef(f"pair__{side}"))) for side in ("left", "right"))
    return Q(left) | Q(right) | Q(Exists(articles.filter(membership__cluster=OuterRef("cluster"))))


def set_route(user: User, units: Sequence[int] = (), languages: Sequence[str] = ()) -> str:
    """Ask a user about these units and languages, without any about everything; return what changed, in words."""
    before = Route.objects.filter(pk=user.pk).first() or Route(units=[], languages=[])
    route = Route(user=user, units=units, languages=languages)
    if route.words == before.words:
        return ""
    (route.save if units or languages else route.delete)()
    return f"is asked about {route.words} now"


def left_out() -> list[str]:
    """Return the newspapers with open questions that nobody is asked; none while an editor is asked everything."""
    active = User.objects.filter(is_active=True)
    routes = Route.objects.filter(user__in=active.filter(groups__name__in=["editor", "admin"]))
    if not routes or active.filter(groups__name="editor", route=None).exists():
        return []
    rows = OpenQuestion.objects.filter(*(~on_route(route) for route in routes))
    sides = ("pair__left", "pair__right", "cluster__memberships__article")
    names = (rows.values_list(f"{side}__newspaper__name", flat=True).distinct() for side in sides)
    return sorted({name for found in names for name in found if name})
