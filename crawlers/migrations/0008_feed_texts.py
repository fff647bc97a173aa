"""What feeds carry of the articles that wait. A constant default, so no row is written for it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawlers', '0007_source_headlines'),
    ]

    operations = [
        migrations.AddField(
            model_name='pendinglink',
            name='feed_entry',
            field=models.BinaryField(db_default=b'', default=b'', help_text='What the feed carries of the article, as in ArticlePage.'),
        ),
    ]
