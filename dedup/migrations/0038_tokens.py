"""Tokens, with which programs act for a user; admins may have programs store articles."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


def let_admins_store(apps, schema_editor):
    """Give the role admin the right behind the scope "store"."""
    # Made by dedup.0003, before the groups.
    right = apps.get_model("auth", "Permission").objects.get(
        content_type__app_label="articles", codename="add_article"
    )
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(right)


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0036_validation_samples'),
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('start', models.CharField(help_text='Its first characters, by which its owner recognises it.', max_length=16)),
                ('digest', models.CharField(help_text='The SHA-256 of the token, in hexadecimal.', max_length=64, unique=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'read articles, pairs, clusters, stories, decisions and runs, and check texts'), ('store', 'store articles'), ('decide', 'decide on pairs, and undo decisions'), ('run', 'start runs'), ('webhooks', 'make, change and delete your webhooks'), ('feed', 'read feeds, with the token in the address')], max_length=10), size=None)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('used_at', models.DateTimeField(help_text='When it was last used, to the minute.', null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
                ('revoked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.RunPython(let_admins_store, migrations.RunPython.noop),
    ]
