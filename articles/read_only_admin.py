"""What admin pages of several apps share: the base class of read-only ones, and the filter by newspaper."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Admin pages on which rows can be viewed, but not added, changed or deleted."""

    def has_add_permission(self, *_args: Any) -> bool:
        return False

    def has_change_permission(self, *_args: Any) -> bool:
        return False

    def has_delete_permission(self, *_args: Any) -> bool:
        return False


class NewspaperFilter(admin.RelatedFieldListFilter):
    """Filters rows by newspaper, without offering those that were merged into another one."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        ordering = self.field_admin_ordering(field, request, model_admin)
        return field.get_choices(include_blank=False, ordering=ordering, limit_choices_to={"merged_into": None})
