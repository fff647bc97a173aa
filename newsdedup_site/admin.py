"""Users in Django's admin, which only superusers open; everybody else is managed on the page People."""

from typing import Any

from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import User
from django.http import HttpRequest

from newsdedup_site.people.actions import end_sessions

# The import above registered Django's own.
admin.site.unregister(User)


@admin.register(User)
class UserAdmin(auth_admin.UserAdmin[User]):
    """Django's user admin, which refuses nothing that the page People refuses, such as blocking the last admin."""

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save the user; one who is not active any more is logged out for good."""
        super().save_model(request, obj, form, change)
        if not obj.is_active:
            end_sessions(obj)
