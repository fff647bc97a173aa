"""Admins see alarms, their history and what can be done."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations


def let_see(apps, schema_editor):
    # Permissions are made after the last migration; the group wants this one now.
    create_permissions(installed.get_app_config("newsdedup_site"), apps=apps, verbosity=0)
    found = apps.get_model("auth", "Permission").objects.get(
        content_type__app_label="newsdedup_site", codename="view_alarm"
    )
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(found)


class Migration(migrations.Migration):

    dependencies = [
        ("newsdedup_site", "0003_alarms"),
        ("auth", "0012_alter_user_first_name_max_length"),
        # It made the groups, or one before it did.
        ("dedup", "0050_admins_import_files"),
    ]

    operations = [migrations.RunPython(let_see, migrations.RunPython.noop)]
