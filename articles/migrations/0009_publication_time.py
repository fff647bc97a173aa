"""The time of publication, its zone and its precision. Constants and nulls, so no row is written for them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0008_help_texts_in_plain_words'),
    ]

    operations = [
        # Sitemaps gave no dates until now, so all of these came from feeds.
        migrations.RunSQL(
            "UPDATE articles_article SET date_source = 'feed' WHERE date_source = 'link'",
            "UPDATE articles_article SET date_source = 'link' WHERE date_source IN ('feed', 'sitemap')",
        ),
        migrations.AddField(
            model_name='article',
            name='published_at',
            field=models.DateTimeField(editable=False, help_text='The time of publication; null if only the date is known. Without a known offset, the local time as if it were UTC.', null=True),
        ),
        migrations.AddField(
            model_name='article',
            name='published_offset',
            field=models.SmallIntegerField(editable=False, help_text="The source's offset from UTC in minutes, positive in the east; null if it names no time zone.", null=True),
        ),
        migrations.AddField(
            model_name='article',
            name='published_precision',
            field=models.CharField(choices=[('day', 'day'), ('minute', 'minute'), ('second', 'second')], db_default='day', default='day', editable=False, max_length=6),
        ),
        migrations.AddField(
            model_name='articlepage',
            name='in_sitemap',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether a sitemap gave that date; otherwise a feed did.'),
        ),
        migrations.AddField(
            model_name='articlepage',
            name='published_time',
            field=models.CharField(blank=True, db_default='', default='', help_text='The time given by its feed or sitemap, if any, in ISO 8601.', max_length=25),
        ),
        migrations.AlterField(
            model_name='article',
            name='date_source',
            field=models.CharField(blank=True, choices=[('json-ld', "the page's JSON-LD data"), ('meta', "the page's meta tags"), ('time', 'a time element on the page'), ('htmldate', 'the text of the page'), ('feed', 'the feed that listed the page'), ('sitemap', 'the sitemap that listed the page'), ('import', 'the imported file')], help_text='Where the date was read, and the time of publication if it is known.', max_length=8),
        ),
        migrations.AddConstraint(
            model_name='article',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('published_at', None), ('published_offset', None), ('published_precision', 'day')), models.Q(('published_at__isnull', False), ('published_precision__in', ['minute', 'second'])), _connector='OR'), name='article_publication_time'),
        ),
    ]
