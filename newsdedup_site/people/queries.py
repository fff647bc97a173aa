"""What the pages about people show."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import QuerySet

from newsdedup_site.logins.failures import Locked
from newsdedup_site.people.actions import role_of

SHOWN_CHANGES = 20


def people() -> QuerySet[User]:
    """Return everybody except superusers, whom only superusers manage, in the settings; blocked people come last."""
    return User.objects.filter(is_superuser=False).prefetch_related("groups").order_by("-is_active", "username")


def describe(person: User, locks: Sequence[Locked]) -> dict[str, object]:
    """Return a person with their role and state, given all that is locked by wrong passwords."""
    return {"user": person, "role": role_of(person), "state": _state(person, {lock.name for lock in locks})}


def _state(person: User, locked_names: set[str]) -> str:
    if not person.is_active:
        return "blocked"
    if person.get_username() in locked_names:
        return "locked"
    if not person.has_usable_password():
        return "invited"
    return "active"


def changes() -> QuerySet[LogEntry]:
    """Return all changes of people, the newest first."""
    of_users = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User))
    return of_users.select_related("user").order_by("-pk")
