"""Rules of series follow their newspaper when it is merged; admins may merge newspapers and see who did."""

import django.db.models.deletion
from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

ADMIN = (
    "add_newspapermerge",
    "view_newspapermerge",
    "add_newspaperalias",
    "change_newspaperalias",
    "delete_newspaperalias",
    "view_newspaperalias",
)


def let_merge(apps, schema_editor):
    # Permissions are made after the last migration; the groups want them now.
    create_permissions(installed.get_app_config("articles"), apps=apps, verbosity=0)
    found = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="articles", codename__in=ADMIN)
    if found.count() != len(ADMIN):
        raise LookupError(f"permissions of articles are missing among {ADMIN}")
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(*found)


class Migration(migrations.Migration):

    dependencies = [
        ("articles", "0011_newspapers_merge_and_have_aliases"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("dedup", "0020_dense_groups"),
    ]

    operations = [
        migrations.AddField(
            model_name="series",
            name="made_for",
            field=models.ForeignKey(
                editable=False,
                help_text="The newspaper that the rule was made for, if that was merged into this one.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="articles.newspaper",
            ),
        ),
        migrations.RunPython(let_merge, migrations.RunPython.noop),
    ]
