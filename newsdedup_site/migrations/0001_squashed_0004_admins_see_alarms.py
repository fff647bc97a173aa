"""The tables of a new database, as the migrations up to 0004 make them one after the other."""

import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.apps import apps as installed
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

from articles.migrations._at_once import AtOnce


def let_admins(apps, schema_editor):
    """Give the role admin the right to see alarms, their history and what can be done."""
    # Permissions are made after the last migration; the group wants this one now.
    create_permissions(installed.get_app_config("newsdedup_site"), apps=apps, verbosity=0)
    found = apps.get_model("auth", "Permission").objects.get(content_type__app_label="newsdedup_site", codename="view_alarm")
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(found)


class Migration(migrations.Migration):

    replaces = [
        ('newsdedup_site', '0001_key_maps'),
        ('newsdedup_site', '0002_backend_of_sessions'),
        ('newsdedup_site', '0003_alarms'),
        ('newsdedup_site', '0004_admins_see_alarms'),
    ]

    initial = True

    dependencies = [
        # Which makes the roles.
        ("dedup", "0001_squashed_0056_moved_tasks"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AtOnce(
            migrations.CreateModel(
                name='KeyMap',
                fields=[
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='key_map', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('on', models.BooleanField(default=True)),
                    ('keys', models.JSONField(default=dict, help_text='The chosen key by action, empty for none; others are as usual.')),
                ],
            ),
            migrations.CreateModel(
                name='Alarm',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(help_text='A key of KINDS in alarms/kinds.py.', max_length=20)),
                    ('subject', models.CharField(blank=True, help_text='Which of its kind: a profile, a disk.', max_length=200)),
                    ('what', models.TextField(help_text='What is wrong, as last seen, in a sentence that every reader may see.')),
                    ('detail', models.TextField(blank=True, help_text='What only admins see of it: the text of an error, a path.')),
                    ('remedy', models.TextField(help_text='What an admin can do.')),
                    ('address', models.TextField(blank=True, help_text='The path of the page that shows more.')),
                    ('since', models.DateTimeField()),
                    ('found_at', models.DateTimeField(help_text='When a check first found it.')),
                    ('seen_at', models.DateTimeField(help_text='When a check last found it.')),
                    ('gone_at', models.DateTimeField(help_text='When a check found it gone; it may come back soon.', null=True)),
                    ('told_at', models.DateTimeField(help_text='When it was last told.', null=True)),
                    ('over_at', models.DateTimeField(null=True)),
                ],
                options={
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['kind', 'subject', '-told_at'], name='alarm_told')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('over_at', None)), fields=('kind', 'subject'), name='one_active_alarm')],
                },
            ),
            migrations.CreateModel(
                name='AlarmNotice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('event', models.CharField(choices=[('began', 'began'), ('lasts', 'still lasts'), ('over', 'is over')], max_length=5)),
                    ('what', models.TextField(help_text='What was wrong then.')),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('webhooks', models.PositiveIntegerField(default=0, help_text='To how many webhooks it is sent.')),
                    ('mail', models.CharField(choices=[('waiting', 'waiting'), ('sent', 'sent'), ('none', 'nobody to send to')], max_length=7)),
                    ('mail_tries', models.PositiveIntegerField(default=0)),
                    ('mail_tried_at', models.DateTimeField(null=True)),
                    ('mail_answer', models.TextField(blank=True, help_text='Why the last try failed.')),
                    ('alarm', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='notices', to='newsdedup_site.alarm')),
                ],
                options={
                    'ordering': ['-id'],
                    'indexes': [models.Index(condition=models.Q(('mail', 'waiting')), fields=['id'], name='alarm_mail_waiting')],
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='alarm',
                trigger=pgtrigger.compiler.Trigger(name='never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='e0ae4e69c6372b58efab908b58cd4dc6efaf7358', operation='DELETE', pgid='pgtrigger_never_deleted_fd08c', table='newsdedup_site_alarm', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='alarm',
                trigger=pgtrigger.compiler.Trigger(name='over_for_good', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."over_at" IS NOT NULL)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='ff6320986ed0705471514735ad5df11d668adde5', operation='UPDATE', pgid='pgtrigger_over_for_good_ff734', table='newsdedup_site_alarm', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='alarmnotice',
                trigger=pgtrigger.compiler.Trigger(name='never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='d5aefd5a262b1309e99c61989a9efef00faa3cbf', operation='DELETE', pgid='pgtrigger_never_deleted_1f4a0', table='newsdedup_site_alarmnotice', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='alarmnotice',
                trigger=pgtrigger.compiler.Trigger(name='appended', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."alarm_id" IS DISTINCT FROM (NEW."alarm_id") OR OLD."event" IS DISTINCT FROM (NEW."event") OR OLD."what" IS DISTINCT FROM (NEW."what") OR OLD."made_at" IS DISTINCT FROM (NEW."made_at") OR OLD."webhooks" IS DISTINCT FROM (NEW."webhooks"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='9797f8ac5e0973cd3e2a1821c1dd311021d77d6f', operation='UPDATE', pgid='pgtrigger_appended_17ac0', table='newsdedup_site_alarmnotice', when='BEFORE')),
            ),
        ),
        migrations.RunPython(let_admins, migrations.RunPython.noop),
    ]
