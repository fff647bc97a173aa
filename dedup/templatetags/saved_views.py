"""The saved views of the list that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template

from dedup.models import SavedView
from dedup.review.saved_views import view_query

register = template.Library()


@dataclass(frozen=True)
class ViewsOfPage:
    """The user's views of a page, what the page shows now, and which of the views that is."""

    page: str
    query: str
    views: list[SavedView]

    @property
    def current(self) -> SavedView | None:
        """The view that the page shows."""
        return next((view for view in self.views if view.query == self.query), None)


@register.simple_tag(takes_context=True)
def views_of_page(context: dict[str, Any]) -> ViewsOfPage:
    """Return the saved views of this page."""
    request = context["request"]
    page = request.resolver_match.url_name
    views = SavedView.objects.filter(user=request.user, page=page)
    return ViewsOfPage(page, view_query(request.GET.urlencode()), list(views))
