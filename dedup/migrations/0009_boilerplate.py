"""Profiles say what is done with boilerplate; editors see it and may whitelist sentences."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

EDITOR = ("view_repeatedsentence", "view_whitelistedsentence", "add_whitelistedsentence", "delete_whitelistedsentence")


def let_whitelist(apps, schema_editor):
    # Permissions are made after the last migration; the groups want them now.
    create_permissions(installed.get_app_config("articles"), apps=apps, verbosity=0)
    found = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="articles", codename__in=EDITOR)
    if found.count() != len(EDITOR):
        raise LookupError(f"permissions of articles are missing among {EDITOR}")
    for group in apps.get_model("auth", "Group").objects.filter(name__in=["editor", "admin"]):
        group.permissions.add(*found)


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0008_groups_see_series'),
        ('articles', '0006_boilerplate'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.AddField(
            model_name='profile',
            name='boilerplate',
            field=models.CharField(choices=[('keep', 'kept'), ('story', 'removed from all articles but the first'), ('topic', 'removed from all articles')], default='keep', help_text="What is done with the sentences that a newspaper's articles of a week share, before texts are compared. What was stored never changes.", max_length=5),
        ),
        migrations.AlterField(
            model_name='detectionrun',
            name='scope',
            field=models.JSONField(help_text='since, until, newspapers, passes, newer_than, boilerplate: what was compared.'),
        ),
        migrations.RunPython(let_whitelist, migrations.RunPython.noop),
    ]
