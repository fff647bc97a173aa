"""Logins by password, with all permissions of a user read along with the user: every page asks for both."""

from typing import Any, LiteralString

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, User

# Their own permissions and those of their groups, each as Django writes it: "dedup.add_decision"; keys and route.
_USER_SQL: LiteralString = """
SELECT member.*, ARRAY(
    SELECT kind.app_label || '.' || permission.codename
    FROM auth_permission AS permission
    JOIN django_content_type AS kind ON kind.id = permission.content_type_id
    WHERE permission.id IN (
        SELECT own.permission_id FROM auth_user_user_permissions AS own WHERE own.user_id = member.id
        UNION ALL
        SELECT role.permission_id
        FROM auth_user_groups AS membership
        JOIN auth_group_permissions AS role ON role.group_id = membership.group_id
        WHERE membership.user_id = member.id
    )
) AS permissions, (
    SELECT to_jsonb(chosen) FROM newsdedup_site_keymap AS chosen WHERE chosen.user_id = member.id
) AS chosen_keys, (
    SELECT to_jsonb(route) FROM dedup_route AS route WHERE route.user_id = member.id
) AS route_read
FROM auth_user AS member WHERE member.id = %s
"""
_READ = "permissions"


class RightsBackend(ModelBackend):
    """Django's backend, asking one query for the user of a session instead of three."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user with this id and `permissions`; None if there is none, or if they may not log in."""
        found = next(iter(User.objects.raw(_USER_SQL, [user_id])), None)
        if found is None or not self.user_can_authenticate(found):
            return None
        vars(found)[_READ] = set(vars(found)[_READ])
        return found

    def get_all_permissions(self, user_obj: User | AnonymousUser, obj: Any = None) -> set[str]:
        """Return all permissions of a user: those that were read with them, if they were."""
        read: set[str] | None = vars(user_obj).get(_READ)
        if read is None or obj is not None or not user_obj.is_active or user_obj.is_superuser:
            return super().get_all_permissions(user_obj, obj)
        return read
