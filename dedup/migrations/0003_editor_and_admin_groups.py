"""The two roles: editors decide on pairs and clusters, admins also change newspapers, profiles and users."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

EDITOR = {
    "articles": ["view_newspaper", "view_article", "view_articleurl"],
    "dedup": [
        "view_profile",
        "view_detectionrun",
        "view_pair",
        "view_evidence",
        "view_cluster",
        "view_membership",
        "view_decision",
        "add_decision",
    ],
}
ADMIN = {
    "articles": ["add_newspaper", "change_newspaper"],
    "dedup": ["add_profile", "change_profile", "delete_profile", "add_detectionrun"],
    "auth": ["view_user", "add_user", "change_user", "view_group"],
}


def make_groups(apps, schema_editor):
    # Permissions are made after the last migration; the groups want them now.
    for label in (*EDITOR, "auth", "contenttypes"):
        create_permissions(installed.get_app_config(label), apps=apps, verbosity=0)
    Group = apps.get_model("auth", "Group")
    Permission = apps.get_model("auth", "Permission")
    editor, _ = Group.objects.get_or_create(name="editor")
    admin, _ = Group.objects.get_or_create(name="admin")
    for group, wanted in ((editor, [EDITOR]), (admin, [EDITOR, ADMIN])):
        for permissions in wanted:
            for label, codenames in permissions.items():
                found = Permission.objects.filter(content_type__app_label=label, codename__in=codenames)
                if found.count() != len(codenames):
                    raise LookupError(f"permissions of {label} are missing among {codenames}")
                group.permissions.add(*found)


def remove_groups(apps, schema_editor):
    apps.get_model("auth", "Group").objects.filter(name__in=["editor", "admin"]).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("dedup", "0002_standing_links"),
        ("articles", "0001_newspapers_and_articles"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(make_groups, remove_groups)]
