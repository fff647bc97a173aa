"""Webhooks, and what is sent to them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0040_counts_of_requests'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.TextField()),
                ('secret', models.CharField(help_text='With it, the receiver checks the signature.', max_length=80)),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('cluster.new', 'a cluster is new'), ('cluster.changed', 'the articles of a cluster, or the one to keep, change'), ('cluster.confirmed', 'editors confirm a cluster')], max_length=20), size=None)),
                ('active', models.BooleanField(default=True)),
                ('fault', models.TextField(blank=True, help_text='Why the program has switched it off; empty if it has not.')),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message', models.UUIDField(default=uuid.uuid4, help_text='Its id for the receiver, the same at every attempt.')),
                ('event', models.CharField(max_length=20)),
                ('body', models.TextField()),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('given up', 'given up')], default='waiting', max_length=9)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it is tried next.')),
                ('tried_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('answer', models.TextField(blank=True, help_text='What came back last: a status, or why there was none.')),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='dedup.webhook')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['due_at', 'id'], name='delivery_due')],
            },
        ),
    ]
