"""Crawls that the worker does: those asked for on pages, and those of schedules. Admins may start them."""

import django.db.models.deletion
from django.apps import apps as installed
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models


def let_admins_crawl(apps, schema_editor):
    """Give the role admin the right to start, stop and schedule crawls."""
    # Permissions are made after the last migration; the group wants this one now.
    create_permissions(installed.get_app_config("crawlers"), apps=apps, verbosity=0)
    right = apps.get_model("auth", "Permission").objects.get(
        content_type__app_label="crawlers", codename="add_crawl"
    )
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(right)


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0017_lengths_of_articles'),
        ('crawlers', '0004_rechecks'),
        # Which makes the roles.
        ('dedup', '0019_viewers'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Crawl',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('running', 'running'), ('finished', 'finished'), ('stopped', 'stopped'), ('made way', 'made way for others'), ('failed', 'failed'), ('broken off', 'stopped unexpectedly')], default='waiting', max_length=11)),
                ('not_before', models.DateTimeField(help_text='Not started before this time. Empty: as soon as possible.', null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('stop_asked_at', models.DateTimeField(help_text='When somebody asked it to stop.', null=True)),
                ('output', models.TextField(blank=True, help_text='What it printed: its counts, and why something failed.')),
                ('error', models.TextField(blank=True)),
                ('stop_asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='CrawlSchedule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('every_hours', models.PositiveSmallIntegerField(null=True)),
                ('daily_at', models.TimeField(null=True)),
                ('due_at', models.DateTimeField(db_index=True, help_text='The next time.')),
                ('newspaper', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='crawl_schedule', to='articles.newspaper')),
            ],
        ),
        migrations.CreateModel(
            name='CrawlTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('why', models.CharField(choices=[('asked', 'asked for'), ('due', 'by its schedule'), ('again', 'again, because a crawl stopped unexpectedly')], max_length=5)),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('crawl', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='crawlers.crawl')),
                ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='crawl_turns', to='articles.newspaper')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.AddConstraint(
            model_name='crawl',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('state',), name='one_waiting_crawl'),
        ),
        migrations.AddConstraint(
            model_name='crawl',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('state',), name='one_running_crawl'),
        ),
        migrations.AddConstraint(
            model_name='crawlschedule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('daily_at', None), ('every_hours__gt', 0)), models.Q(('daily_at__isnull', False), ('every_hours', None)), _connector='OR'), name='every_hours_or_daily'),
        ),
        migrations.AddConstraint(
            model_name='crawlturn',
            constraint=models.UniqueConstraint(fields=('crawl', 'newspaper'), name='one_turn_a_crawl'),
        ),
        migrations.RunPython(let_admins_crawl, migrations.RunPython.noop),
    ]
