"""Files that are uploaded in the browser, to be imported by a worker."""


import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0024_teaser_newspapers'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='FileImport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='The name of the file.', max_length=255)),
                ('size', models.BigIntegerField(help_text='Bytes, as uploaded.')),
                ('newspaper', models.CharField(blank=True, help_text='The newspaper of rows that do not name one.', max_length=200)),
                ('preview', models.JSONField(help_text='Its columns, its first rows, and faults of its first rows.')),
                ('state', models.CharField(choices=[('preview', 'not imported yet'), ('waiting', 'waiting for a worker'), ('running', 'being imported'), ('finished', 'imported'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='preview', max_length=9)),
                ('uploaded_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('seen_at', models.DateTimeField(help_text='The last sign of life of the import.', null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('position', models.BigIntegerField(default=0, help_text='Bytes that were read.')),
                ('read', models.PositiveIntegerField(default=0)),
                ('stored', models.PositiveIntegerField(default=0)),
                ('known', models.PositiveIntegerField(default=0)),
                ('rejected', models.PositiveIntegerField(default=0)),
                ('reasons', models.JSONField(default=dict, help_text='How many rows were rejected for each kind of reason.')),
                ('error', models.TextField(blank=True, help_text='Why it failed.')),
                ('uploaded_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='RejectedRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('line', models.PositiveIntegerField(help_text='The number of its first line, from 1.')),
                ('reason', models.TextField()),
                ('raw', models.TextField(help_text='The beginning of its text.')),
                ('file_import', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rejects', to='articles.fileimport')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='UploadedPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='Its place in the file, from 0.')),
                ('data', models.BinaryField()),
                ('file_import', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='articles.fileimport')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('file_import', 'number'), name='uploaded_part_once')],
            },
        ),
    ]
