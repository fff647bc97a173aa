"""Users in the admin, which superusers change here; admins see them, and manage them on the page People."""

from typing import Any

from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from newsdedup_site.people.actions import end_sessions

# The import above registered Django's own.
admin.site.unregister(User)


@admin.register(User)
class UserAdmin(auth_admin.UserAdmin[User]):
    """Django's user admin. Only superusers see superusers, or change anything: what else the page People refuses
    could be done here, such as blocking the last admin.
    """

    list_display = ("username", "email", "is_staff", "is_active")
    list_filter = ("is_staff", "is_active", "groups")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Exclude superusers; every page about a user looks the user up here."""
        users = super().get_queryset(request)
        return users if request.user.is_superuser else users.filter(is_superuser=False)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, _obj: User | None = None) -> bool:
        return request.user.is_superuser

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save the user; one who is not active any more is logged out for good."""
        super().save_model(request, obj, form, change)
        if not obj.is_active:
            end_sessions(obj)
