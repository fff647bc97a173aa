"""What feeds carry of articles, and the further pages of articles. A constant default, so no row is written for it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0020_extraction_rules'),
    ]

    operations = [
        migrations.AddField(
            model_name='articlepage',
            name='feed_entry',
            field=models.BinaryField(db_default=b'', default=b'', help_text='What its feed carries of the article: JSON, compressed with gzip; empty if its feed has no text. The page is empty if the feed alone has the article.'),
        ),
        migrations.CreateModel(
            name='FollowingPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text="Its place among the pages; the article's own page is 1.")),
                ('url', models.TextField(help_text='The URL it was fetched from, after redirects.')),
                ('content_type', models.CharField(blank=True, help_text='The HTTP Content-Type header.', max_length=200)),
                ('body', models.BinaryField(help_text='The page as it was fetched, compressed with gzip.')),
                ('article_page', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='following', to='articles.articlepage')),
            ],
            options={
                'ordering': ['article_page', 'number'],
                'constraints': [models.UniqueConstraint(fields=('article_page', 'number'), name='following_page_once')],
            },
        ),
    ]
