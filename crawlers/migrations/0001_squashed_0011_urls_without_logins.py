"""The tables of a new database, as the migrations up to 0011 make them one after the other."""

import django.db.models.deletion
import django.db.models.functions.text
from django.apps import apps as installed
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

from articles.migrations._at_once import AtOnce


def let_admins(apps, schema_editor):
    """Give the role admin the right to start, stop and schedule crawls."""
    # Permissions are made after the last migration; the group wants this one now.
    create_permissions(installed.get_app_config("crawlers"), apps=apps, verbosity=0)
    found = apps.get_model("auth", "Permission").objects.get(content_type__app_label="crawlers", codename="add_crawl")
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(found)


class Migration(migrations.Migration):

    replaces = [
        ('crawlers', '0001_visits_links_and_sources'),
        ('crawlers', '0002_help_texts_in_plain_words'),
        ('crawlers', '0003_times_of_links'),
        ('crawlers', '0004_rechecks'),
        ('crawlers', '0006_crawls_of_the_worker'),
        ('crawlers', '0007_source_headlines'),
        ('crawlers', '0008_feed_texts'),
        ('crawlers', '0009_site_paces'),
        ('crawlers', '0010_trials'),
        ('crawlers', '0011_urls_without_logins'),
    ]

    initial = True

    dependencies = [
        ("articles", "0001_squashed_0028_removals_and_withheld_articles"),
        # Which makes the roles.
        ("dedup", "0001_squashed_0056_moved_tasks"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AtOnce(
            migrations.CreateModel(
                name='PendingLink',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.UUIDField(help_text='UUID version 5 of the canonicalised URL, as in ArticleURL.')),
                    ('url', models.TextField()),
                    ('kind', models.CharField(choices=[('page', 'page'), ('feed', 'feed link'), ('redirect', 'redirect target'), ('canonical', 'canonical link'), ('amp', 'AMP page'), ('import', 'imported')], max_length=9)),
                    ('published', models.DateField(help_text='The date given by the source.', null=True)),
                    ('tries', models.PositiveSmallIntegerField(default=0, help_text='Failed visits that may succeed another time.')),
                    ('reason', models.TextField(blank=True, help_text='Why the last visit failed.')),
                    ('refused_until', models.DateTimeField(help_text='Not visited before this time. Empty: waiting.', null=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                    ('published_time', models.CharField(blank=True, db_default='', default='', help_text='The time given by the source, in ISO 8601.', max_length=25)),
                    ('headline', models.TextField(blank=True, db_default='', default='', help_text='The headline given by the source, for pages without one.')),
                    ('language', models.CharField(blank=True, db_default='', default='', help_text='The ISO 639 code given by the source.', max_length=8)),
                    ('feed_entry', models.BinaryField(db_default=b'', default=b'', help_text='What the feed carries of the article, as in ArticlePage.')),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [models.Index(condition=models.Q(('refused_until', None)), fields=['newspaper', 'id'], name='pending_link_waiting')],
                    'constraints': [models.UniqueConstraint(fields=('newspaper', 'key'), name='pending_link_key')],
                },
            ),
            migrations.CreateModel(
                name='SourceValidator',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.TextField(help_text='The URL of the source, as configured or as listed by another source.')),
                    ('article_url_pattern', models.TextField(blank=True, help_text="The newspaper's pattern that the links had to match.")),
                    ('etag', models.TextField(blank=True)),
                    ('last_modified', models.TextField(blank=True)),
                    ('stored_at', models.DateTimeField(auto_now=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(models.F('newspaper'), django.db.models.functions.text.MD5('url'), name='source_validator_url')],
                },
            ),
            migrations.CreateModel(
                name='Visit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('spider', models.CharField(max_length=20)),
                    ('state', models.CharField(choices=[('running', 'running'), ('finished', 'finished'), ('interrupted', 'interrupted'), ('broken off', 'stopped unexpectedly')], default='running', max_length=11)),
                    ('started_at', models.DateTimeField(auto_now_add=True)),
                    ('seen_at', models.DateTimeField(auto_now=True, help_text='When the visit last reported that it was running.')),
                    ('stored', models.PositiveIntegerField(default=0, help_text='Articles stored.')),
                    ('known', models.PositiveIntegerField(default=0, help_text='Links to articles that were already stored.')),
                    ('unchanged', models.PositiveIntegerField(default=0, help_text='Sources that reported no change.')),
                    ('refused_earlier', models.PositiveIntegerField(default=0, help_text='Links that an earlier visit refused; they were not visited.')),
                    ('paywalled', models.PositiveIntegerField(default=0, help_text='Articles stored whose page shows only a part.')),
                    ('failed', models.PositiveIntegerField(default=0, help_text='Sources and links that failed or were refused.')),
                    ('failures', models.JSONField(default=list, help_text='Objects with a reason, a number and the url of an example.')),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='visits', to='articles.newspaper')),
                    ('changed', models.PositiveIntegerField(db_default=0, default=0, help_text='Those of them whose text had changed.')),
                    ('gone', models.PositiveIntegerField(db_default=0, default=0, help_text='Those of them that were gone.')),
                    ('rechecked', models.PositiveIntegerField(db_default=0, default=0, help_text='Stored articles whose pages were fetched again.')),
                    ('left_out', models.PositiveIntegerField(db_default=0, default=0, help_text='Links and sitemaps that are too old, or beyond the number that was asked for.')),
                ],
                options={
                    'ordering': ['-started_at', '-id'],
                    'indexes': [models.Index(fields=['newspaper', '-started_at'], name='visit_newspaper')],
                },
            ),
            migrations.CreateModel(
                name='Recheck',
                fields=[
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='articles.article')),
                    ('due_at', models.DateTimeField(help_text='Not fetched again before this time.')),
                    ('checked_at', models.DateTimeField(help_text='When its page was last fetched again.', null=True)),
                    ('changed_at', models.DateTimeField(help_text='When it was last found changed, gone or back.', null=True)),
                    ('listed_at', models.DateTimeField(help_text='The latest time of a change that a feed or sitemap gave for it.', null=True)),
                    ('etag', models.TextField(blank=True)),
                    ('last_modified', models.TextField(blank=True)),
                ],
                options={
                    'indexes': [models.Index(fields=['due_at'], name='recheck_due')],
                },
            ),
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
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('state',), name='one_waiting_crawl'), models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('state',), name='one_running_crawl')],
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
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('daily_at', None), ('every_hours__gt', 0)), models.Q(('daily_at__isnull', False), ('every_hours', None)), _connector='OR'), name='every_hours_or_daily')],
                },
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
                    'constraints': [models.UniqueConstraint(fields=('crawl', 'newspaper'), name='one_turn_a_crawl')],
                },
            ),
            migrations.CreateModel(
                name='SitePace',
                fields=[
                    ('site', models.CharField(help_text='A registered domain, or an address and port.', max_length=300, primary_key=True, serialize=False)),
                    ('delay', models.FloatField(help_text='Seconds between two requests, from how long its answers took.')),
                    ('penalty', models.FloatField(help_text='Seconds between two requests, because it asked for fewer.')),
                    ('waits_until', models.DateTimeField(help_text='Nothing is asked before, as the site wished.', null=True)),
                    ('seen_at', models.DateTimeField(help_text='When a crawl last asked it.')),
                ],
                options={
                    'indexes': [models.Index(fields=['seen_at'], name='site_pace_seen')],
                },
            ),
            migrations.CreateModel(
                name='Trial',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.TextField(blank=True, help_text='The home page that sources are looked for from.')),
                    ('step', models.CharField(choices=[('discover', 'looking for sources'), ('try', 'fetching ten articles')], max_length=8)),
                    ('state', models.CharField(choices=[('waiting', 'waiting for a worker'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='waiting', max_length=7)),
                    ('found', models.JSONField(help_text='The newspaper and its sources, as discovery found them.', null=True)),
                    ('draft', models.JSONField(default=dict, help_text='The fields of the newspaper that is tried.')),
                    ('results', models.JSONField(help_text='What reading the sources and fetching articles gave.', null=True)),
                    ('error', models.TextField(blank=True)),
                    ('asked_at', models.DateTimeField(auto_now_add=True)),
                    ('begun_at', models.DateTimeField(null=True)),
                    ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('newspaper', models.ForeignKey(help_text='Null until it is saved.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
        ),
        migrations.RunPython(let_admins, migrations.RunPython.noop),
    ]
