"""The base class of read-only admin pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Admin pages on which rows can be viewed, but not added, changed or deleted."""

    def has_add_permission(self, *_args: Any) -> bool:
        return False

    def has_change_permission(self, *_args: Any) -> bool:
        return False

    def has_delete_permission(self, *_args: Any) -> bool:
        return False
