"""Indexes for lists that read few articles, for articles to check, and for words of repeated sentences."""

import django.contrib.postgres.indexes
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0013_search_by_words_and_urls'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='article',
            name='article_date',
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['date', 'id'], include=('published_at',), name='article_date'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['id'], include=('newspaper', 'date'), name='article_place'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(condition=models.Q(('date_doubt', ''), _negated=True), fields=['-date', '-id'], name='article_uncertain_date'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(condition=models.Q(('paywalled', True)), fields=['-date', '-id'], name='article_paywalled'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(condition=models.Q(('agency', ''), _negated=True), fields=['-date', '-id'], name='article_of_agency'),
        ),
        migrations.AddIndex(
            model_name='repeatedsentence',
            index=django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('sentence'), name='gin_trgm_ops'), name='repeated_sentence_words'),
        ),
    ]
