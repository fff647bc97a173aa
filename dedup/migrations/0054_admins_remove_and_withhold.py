"""Admins may remove newspapers and articles, and withhold articles."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

ADMIN = ("add_removal", "view_removal")


def let_remove(apps, schema_editor):
    # Permissions are made after the last migration; the groups want them now.
    create_permissions(installed.get_app_config("articles"), apps=apps, verbosity=0)
    found = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="articles", codename__in=ADMIN)
    if found.count() != len(ADMIN):
        raise LookupError(f"permissions of articles are missing among {ADMIN}")
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(*found)


class Migration(migrations.Migration):

    dependencies = [
        ("articles", "0028_removals_and_withheld_articles"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("dedup", "0053_decisions_become_tombstones"),
    ]

    operations = [migrations.RunPython(let_remove, migrations.RunPython.noop)]
