"""Runs that wait for a worker, their phases, and what cancels them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0028_rules_of_profiles'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('name', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-seen_at'],
            },
        ),
        migrations.AddField(
            model_name='detectionrun',
            name='cancelled_at',
            field=models.DateTimeField(help_text='When somebody asked this run to stop.', null=True),
        ),
        migrations.AddField(
            model_name='detectionrun',
            name='cancelled_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='RunRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateField(null=True)),
                ('until', models.DateField(null=True)),
                ('newspapers', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='Their ids in order; empty: all.', size=None)),
                ('new', models.BooleanField(default=False, help_text='Compare only articles that are new or have changed.')),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('task_id', models.UUIDField(null=True, help_text='The task that a worker executes.')),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dedup.profile')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='dedup.detectionrun')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='RunPhase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=20)),
                ('position', models.PositiveSmallIntegerField()),
                ('state', models.CharField(choices=[('ahead', 'ahead'), ('running', 'running'), ('done', 'done')], default='ahead', max_length=7)),
                ('total', models.PositiveBigIntegerField(help_text='How much there is to do; none if nothing is counted.', null=True)),
                ('done', models.PositiveBigIntegerField(default=0)),
                ('found', models.PositiveBigIntegerField(default=0, help_text='Pairs, or sentences of boilerplate.')),
                ('seconds', models.FloatField(default=0, help_text='Wall-clock time; passes that work at the same time share it by their work.')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phases', to='dedup.detectionrun')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('run', 'name'), name='one_row_a_phase')],
            },
        ),
    ]
