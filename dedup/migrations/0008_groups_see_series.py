"""Editors and admins see the series and the fitted models in the admin."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

SEEN = ("view_series", "view_fittedmodel")


def let_see(apps, schema_editor):
    # Permissions are made after the last migration; the groups want them now.
    create_permissions(installed.get_app_config("dedup"), apps=apps, verbosity=0)
    found = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="dedup", codename__in=SEEN)
    if found.count() != len(SEEN):
        raise LookupError(f"permissions of dedup are missing among {SEEN}")
    for group in apps.get_model("auth", "Group").objects.filter(name__in=["editor", "admin"]):
        group.permissions.add(*found)


class Migration(migrations.Migration):
    dependencies = [("dedup", "0007_default_profile_proposes_more"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(let_see, migrations.RunPython.noop)]
