"""Visits in the admin, read-only: only the crawl writes them."""

from django.contrib import admin

from articles.read_only_admin import NewspaperFilter, ReadOnlyAdmin
from crawlers.models import Visit


@admin.register(Visit)
class VisitAdmin(ReadOnlyAdmin):
    """The visits of newspapers, with the reasons for their failures."""

    list_display = ["newspaper", "spider", "started_at", "state", "stored", "known", "failed", "reasons"]
    list_filter = ["state", "spider", ("newspaper", NewspaperFilter)]
    list_select_related = ["newspaper"]
    date_hierarchy = "started_at"
    show_full_result_count = False

    @admin.display(description="failures by reason")
    def reasons(self, visit: Visit) -> str:
        return "; ".join(f"{failure['reason']}: {failure['number']}" for failure in visit.failures)
