"""Corpora that people ask for on a page, and their files in parts, written by a worker."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0054_admins_remove_and_withhold'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CorpusExport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked', models.JSONField(help_text='The values of the form.')),
                ('state', models.CharField(choices=[('waiting', 'waiting for a worker'), ('running', 'being written'), ('finished', 'ready'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='waiting', max_length=9)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('articles', models.PositiveBigIntegerField(default=0, help_text='How many articles were chosen.')),
                ('done', models.PositiveBigIntegerField(default=0, help_text='How many of them are written or left out.')),
                ('files', models.JSONField(default=list, help_text='What its files have, their names, and their bytes.')),
                ('description', models.JSONField(help_text='The description of its files.', null=True)),
                ('error', models.TextField(blank=True, help_text='Why it failed.')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='CorpusPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content', models.CharField(help_text='Which file it is of: corpus, removed or description.', max_length=11)),
                ('number', models.PositiveIntegerField(help_text='Its place in the file, from 0.')),
                ('data', models.BinaryField()),
                ('export', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='dedup.corpusexport')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('export', 'content', 'number'), name='corpus_part_once')],
            },
        ),
    ]
