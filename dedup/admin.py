"""The admin pages of the detection: what is only looked at, and the merging of newspapers."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from articles.admin import NewspaperAdmin
from articles.models import Newspaper
from articles.read_only_admin import NewspaperFilter, ReadOnlyAdmin
from dedup.models import Cluster, Decision, DetectionRun, Evidence, FittedModel, Pair, Series

# The import above registered it without the action: only this app knows the pairs of newspapers.
admin.site.unregister(Newspaper)


@admin.register(Newspaper)
class MergingNewspaperAdmin(NewspaperAdmin):
    """The admin of newspapers, which can also be merged."""

    actions = [*NewspaperAdmin.actions, "merge"]

    def has_merge_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("articles.add_newspapermerge")

    @admin.action(description="Merge one newspaper into another, or undo it…", permissions=["merge"])
    def merge(self, request: HttpRequest, newspapers: QuerySet[Newspaper]) -> HttpResponse | None:
        """Show what merging the selected newspapers would change; of two, the one with fewer articles moves."""
        if len(newspapers) > 2:
            self.message_user(request, "Select one or two newspapers to merge.", messages.ERROR)
            return None
        counted = newspapers.annotate(articles_stored=Count("articles")).order_by("articles_stored", "pk")
        chosen = dict(zip(("merged", "into"), (newspaper.pk for newspaper in counted), strict=False))
        return redirect(f"{reverse('newspaper_merges')}?{urlencode(chosen)}")


# What is only looked at, with the columns of its list and how that is made.
_LISTS: dict[type[Model], dict[str, Any]] = {
    DetectionRun: {
        "list_display": ("id", "state", "profile_name", "started_at", "finished_at", "requested_by"),
        "list_filter": ("state",),
    },
    Pair: {
        "list_display": ("id", "state", "verdict", "probability", "best_score", "days_apart", "same_newspaper"),
        "list_filter": ("state", "verdict", "same_newspaper"),
        "list_select_related": True,
        "show_full_result_count": False,
    },
    Evidence: {
        "list_display": ("id", "pair", "pass_name", "score", "stale", "run"),
        "list_filter": ("pass_name", "stale"),
        "list_select_related": ("pair", "run"),
        "show_full_result_count": False,
    },
    Cluster: {
        "list_display": ("id", "state", "size", "lowest_score", "first_day", "last_day"),
        "list_filter": ("state",),
    },
    Series: {
        "fields": (
            *("newspaper", "form", "headline", "articles", "days", "first_day", "last_day"),
            *("ruled_by", "ruled_at"),
        ),
        "list_display": ("headline", "newspaper", "articles", "last_day", "ruled_by", "ruled_at"),
        "list_filter": (("ruled_at", admin.EmptyFieldListFilter), ("newspaper", NewspaperFilter)),
        "list_select_related": ("newspaper", "ruled_by"),
        "search_fields": ("headline",),
    },
    FittedModel: {"list_display": ("id", "in_use", "decisions", "fitted_at")},
    Decision: {
        "list_display": ("id", "kind", "decided_by", "decided_at", "note"),
        "list_filter": ("kind", "decided_by"),
    },
}
for model, options in _LISTS.items():
    admin.site.register(model, ReadOnlyAdmin, **options)
