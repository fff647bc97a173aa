"""Help texts and labels are reworded; nothing in the database changes."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0008_help_texts_in_plain_words'),
        ('dedup', '0011_models_of_removed_features'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='cluster',
            name='kept',
            field=models.ForeignKey(help_text='The article that represents the cluster.', on_delete=django.db.models.deletion.PROTECT, related_name='kept_by', to='articles.article'),
        ),
        migrations.AlterField(
            model_name='cluster',
            name='lowest_score',
            field=models.FloatField(help_text='The lowest verdict probability of the pairs that hold the cluster together, 0 to 1.'),
        ),
        migrations.AlterField(
            model_name='decision',
            name='article',
            field=models.ForeignKey(help_text='The article that was taken out or kept.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='articles.article'),
        ),
        migrations.AlterField(
            model_name='decision',
            name='articles',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='The ids of the articles it was about.', size=None),
        ),
        migrations.AlterField(
            model_name='detectionrun',
            name='config',
            field=models.JSONField(help_text='The settings of every pass when the run started.'),
        ),
        migrations.AlterField(
            model_name='detectionrun',
            name='counts',
            field=models.JSONField(default=dict, help_text='Numbers of articles, pairs by pass, and clusters.'),
        ),
        migrations.AlterField(
            model_name='detectionrun',
            name='scope',
            field=models.JSONField(help_text='What was compared: since, until, newspapers, passes, newer_than, boilerplate.'),
        ),
        migrations.AlterField(
            model_name='evidence',
            name='score',
            field=models.FloatField(help_text="The pass's similarity score, 0 to 1."),
        ),
        migrations.AlterField(
            model_name='fittedmodel',
            name='content',
            field=models.TextField(help_text='The coefficients of the model, as JSON.'),
        ),
        migrations.AlterField(
            model_name='fittedmodel',
            name='decisions',
            field=models.PositiveIntegerField(help_text='The number of decided pairs it was learnt from.'),
        ),
        migrations.AlterField(
            model_name='headlineform',
            name='revision',
            field=models.BigIntegerField(help_text='The revision of the article when its form was computed.'),
        ),
        migrations.AlterField(
            model_name='judgedmonth',
            name='month',
            field=models.DateField(help_text='The first day of the month.', primary_key=True, serialize=False),
        ),
        migrations.AlterField(
            model_name='link',
            name='kind',
            field=models.CharField(choices=[('must', 'must be in one cluster'), ('cannot', 'cannot be in one cluster'), ('stay', 'stays in one cluster when another article is taken out'), ('unsure', 'left open')], max_length=6),
        ),
        migrations.AlterField(
            model_name='pair',
            name='best_score',
            field=models.FloatField(default=0.0, help_text='The highest score of its current evidence, 0 to 1.'),
        ),
        migrations.AlterField(
            model_name='pair',
            name='days_apart',
            field=models.PositiveIntegerField(help_text='Days between the two publication dates.'),
        ),
        migrations.AlterField(
            model_name='pair',
            name='duplicate_probability',
            field=models.FloatField(help_text='The probability that the two articles are duplicates, 0 to 1.', null=True),
        ),
        migrations.AlterField(
            model_name='pair',
            name='joins',
            field=models.BooleanField(db_default=False, help_text='Whether the verdict puts both articles in one cluster.'),
        ),
        migrations.AlterField(
            model_name='pair',
            name='probability',
            field=models.FloatField(help_text='The probability of the verdict, 0 to 1.', null=True),
        ),
        migrations.AlterField(
            model_name='pair',
            name='reasons',
            field=models.JSONField(db_default=[], default=list, help_text='The reasons for the verdict, one sentence each.'),
        ),
        migrations.AlterField(
            model_name='pair',
            name='state',
            field=models.CharField(choices=[('undecided', 'undecided'), ('confirmed', 'confirmed duplicate'), ('rejected', 'not a duplicate'), ('unsure', 'unsure')], default='undecided', help_text='What editors decided last. Decisions that were undone do not count.', max_length=9),
        ),
        migrations.AlterField(
            model_name='pair',
            name='verdict',
            field=models.CharField(blank=True, choices=[('duplicate', 'duplicate'), ('version', 'version'), ('template', 'template'), ('similar', 'similar')], db_default='', help_text='The result of the full comparison. Empty: not compared yet.', max_length=9),
        ),
        migrations.AlterField(
            model_name='profile',
            name='boilerplate',
            field=models.CharField(choices=[('keep', 'kept'), ('story', 'removed from all articles except the first'), ('topic', 'removed from all articles')], default='keep', help_text='How sentences shared by many articles of a newspaper in one week are treated when texts are compared. Stored articles never change.', max_length=5),
        ),
        migrations.AlterField(
            model_name='profile',
            name='is_default',
            field=models.BooleanField(default=False, help_text='Runs that name no profile use this one.'),
        ),
        migrations.AlterField(
            model_name='profile',
            name='nightly_at',
            field=models.TimeField(blank=True, help_text='Every day at this time, a worker compares articles that are new or have changed. Empty: never.', null=True),
        ),
        migrations.AlterField(
            model_name='profile',
            name='nightly_due',
            field=models.DateTimeField(editable=False, help_text='When the next nightly run starts.', null=True),
        ),
        migrations.AlterField(
            model_name='profile',
            name='settings',
            field=models.JSONField(blank=True, default=dict, help_text='The settings that differ from the defaults, by pass.'),
        ),
        migrations.AlterField(
            model_name='profile',
            name='versions_join',
            field=models.BooleanField(default=False, help_text='Whether a new version of an article joins its cluster. Duplicates always do.', verbose_name='versions join clusters'),
        ),
        migrations.AlterField(
            model_name='runblock',
            name='candidates',
            field=models.PositiveBigIntegerField(default=0, help_text="Pairs that passed the pass's quick filter."),
        ),
        migrations.AlterField(
            model_name='runblock',
            name='seconds',
            field=models.FloatField(help_text='Wall-clock time in seconds.'),
        ),
        migrations.AlterField(
            model_name='runblock',
            name='verified',
            field=models.PositiveBigIntegerField(default=0, help_text='Candidates that the pass then scored exactly.'),
        ),
        migrations.AlterField(
            model_name='series',
            name='days',
            field=models.PositiveIntegerField(help_text='Days with at least one article.'),
        ),
        migrations.AlterField(
            model_name='series',
            name='headline',
            field=models.TextField(help_text='The headline of the latest article.'),
        ),
        migrations.AlterField(
            model_name='series',
            name='ruled_by',
            field=models.ForeignKey(help_text='The editor who made the rule that its articles are never duplicates of each other.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
    ]
