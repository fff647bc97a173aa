"""The admin of newspapers, which can also be merged."""

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from articles.admin import NewspaperAdmin
from articles.models import Newspaper

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
