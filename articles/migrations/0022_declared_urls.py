"""URLs that pages declare as their own, before there is evidence for them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0021_feed_texts_and_following_pages'),
    ]

    operations = [
        migrations.CreateModel(
            name='DeclaredURL',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.TextField(help_text='The URL as it was declared.')),
                ('key', models.UUIDField(editable=False, help_text='UUID version 5 of the canonicalised URL.')),
                ('kind', models.CharField(choices=[('page', 'page'), ('feed', 'feed link'), ('redirect', 'redirect target'), ('canonical', 'canonical link'), ('amp', 'AMP page'), ('import', 'imported')], max_length=9)),
                ('seen_at', models.DateTimeField(auto_now_add=True)),
                ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='declared_urls', to='articles.article')),
            ],
            options={
                'verbose_name': 'declared URL',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('key', 'article'), name='declared_url_key')],
            },
        ),
    ]
