"""Saved views: the filter and the order of a list, by user."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0027_texts_are_found_and_pages_fetched'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.CharField(choices=[('queue', 'Queue'), ('clusters', 'Clusters'), ('series_list', 'Series'), ('groups', 'Dense groups'), ('boilerplate_list', 'Boilerplate'), ('articles', 'Articles'), ('history', 'History'), ('disagreements', 'Disagreements')], help_text='The name of its address.', max_length=20)),
                ('name', models.CharField(max_length=60)),
                ('query', models.CharField(help_text='What the address has behind its question mark.', max_length=1000)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['page', 'name'],
                'constraints': [models.UniqueConstraint(fields=('user', 'page', 'name'), name='one_view_a_name')],
            },
        ),
    ]
