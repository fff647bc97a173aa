"""Reading becomes a right of its own: the role viewer. Everybody who could read until now can read afterwards."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

ROLES = ("viewer", "editor", "admin")
READ = {
    "articles": ["view_newspaper", "view_article", "view_articleurl", "view_repeatedsentence", "view_whitelistedsentence"],
    "dedup": [
        "view_profile",
        "view_detectionrun",
        "view_pair",
        "view_evidence",
        "view_cluster",
        "view_membership",
        "view_decision",
        "view_series",
    ],
}


def make_viewers(apps, schema_editor):
    """Make the group, give its rights to the other roles too, and add active users who have no role."""
    Group = apps.get_model("auth", "Group")
    User = apps.get_model("auth", "User")
    viewer, _ = Group.objects.get_or_create(name="viewer")
    permissions = _permissions(apps)
    for group in Group.objects.filter(name__in=ROLES):
        group.permissions.add(*permissions)
    # A superuser has every right without a role.
    without = User.objects.filter(is_active=True, is_superuser=False).exclude(groups__name__in=ROLES)
    viewer.user_set.add(*without)


def _permissions(apps):
    found = []
    for label, codenames in READ.items():
        # Permissions are made after the last migration; the group wants them now.
        create_permissions(installed.get_app_config(label), apps=apps, verbosity=0)
        of_app = apps.get_model("auth", "Permission").objects.filter(
            content_type__app_label=label, codename__in=codenames
        )
        if of_app.count() != len(codenames):
            raise LookupError(f"permissions of {label} are missing among {codenames}")
        found += of_app
    return found


def remove_viewers(apps, schema_editor):
    apps.get_model("auth", "Group").objects.filter(name="viewer").delete()


class Migration(migrations.Migration):
    dependencies = [
        ("dedup", "0016_models_of_other_features"),
        ("articles", "0006_boilerplate"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [migrations.RunPython(make_viewers, remove_viewers)]
