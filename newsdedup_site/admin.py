"""Users in the admin: only superusers can see, create or change superusers; other admins assign roles (groups)."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

# The import above registered Django's own.
admin.site.unregister(User)


@admin.register(User)
class UserAdmin(auth_admin.UserAdmin[User]):
    """Django's user admin, without what would let the role `admin` become a superuser."""

    list_display = ("username", "email", "is_staff", "is_active")
    list_filter = ("is_staff", "is_active", "groups")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Exclude superusers; every page about a user looks the user up here."""
        users = super().get_queryset(request)
        return users if request.user.is_superuser else users.filter(is_superuser=False)

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Leave out what only a superuser may grant; a field that is not shown is not in the form either."""
        boxes = super().get_fieldsets(request, obj)
        if request.user.is_superuser or obj is None:
            return boxes
        kept = ("is_active", "is_staff", "groups")
        return [(name, options | {"fields": kept} if name == "Permissions" else options) for name, options in boxes]
