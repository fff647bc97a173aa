"""The rights that an address can ask for, and which role has them."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

# Groups of these names, each with the rights of those before it; made by migrations of `dedup`.
ROLES = ("viewer", "editor", "admin")
# Where a page names whom to ask, it names so many.
SHOWN_ADMINS = 5


@dataclass(frozen=True)
class Right:
    """What a user must be allowed to do. `role` is the least role that may; the permission itself decides.

    So a permission that was given to a user or to a group of your own counts as well.
    """

    allows: str
    role: str = ""
    permission: str = ""
    needs_login: bool = True
    staff_only: bool = False
    # The name of the setting that gives this right to everybody, also without a login.
    opened_by: str = ""


ANYONE = Right("see what is open to all", needs_login=False)
LOGIN = Right("manage their own login")
READ = Right("read", role="viewer", permission="articles.view_article")
READ_STORIES = Right("read stories", role="viewer", permission="articles.view_article", opened_by="STORIES_PUBLIC")
DECIDE = Right("decide on pairs and clusters", role="editor", permission="dedup.add_decision")
WHITELIST = Right("whitelist boilerplate", role="editor", permission="articles.add_whitelistedsentence")
START_RUNS = Right("start runs", role="admin", permission="dedup.add_detectionrun")
START_CRAWLS = Right("start, stop and schedule crawls", role="admin", permission="crawlers.add_crawl")
ADD_NEWSPAPERS = Right("try and add newspapers", role="admin", permission="articles.add_newspaper")
CHANGE_PROFILES = Right("change profiles", role="admin", permission="dedup.change_profile")
MANAGE_PEOPLE = Right("manage people", role="admin", permission="auth.change_user")
MERGE = Right("merge newspapers", role="admin", permission="articles.add_newspapermerge")
IMPORT = Right("import files", role="admin", permission="articles.add_fileimport")
REMOVE = Right("remove and withhold what is stored", role="admin", permission="articles.add_removal")
EXTRACT = Right("change extraction rules", role="admin", permission="articles.add_extractionrule")
SEE_ALARMS = Right("see alarms and what helps", role="admin", permission="newsdedup_site.view_alarm")
# Which rows a user may see or change there is up to the permissions of the admin's models.
CONFIGURE = Right("open the settings", role="admin", staff_only=True)


def has_right(user: User | AnonymousUser, right: Right) -> bool:
    """Return whether a user has a right. Every right that belongs to a role includes reading."""
    if not right.needs_login or (right.opened_by and getattr(settings, right.opened_by)):
        return True
    if not user.is_authenticated:
        return False
    if not right.role:
        return True
    # A page with a menu asks dozens of times, and each time Django would ask all backends.
    held: dict[str, bool] = vars(user).setdefault("_held_permissions", {})
    if right.permission not in held:
        held[right.permission] = user.has_perms(
            permission for permission in (READ.permission, right.permission) if permission
        )
    return held[right.permission] and (user.is_staff or not right.staff_only)


def admins() -> QuerySet[User]:
    """Return the users with the role admin who can log in, by name."""
    return User.objects.filter(is_active=True, groups__name="admin").order_by("username")
