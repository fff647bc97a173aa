import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0032_normalised_texts_are_stored_as_they_are'),
    ]

    operations = [
        migrations.AddField(
            model_name='fileimport',
            name='attached',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='newspaper',
            name='attach',
            field=models.CharField(blank=True, choices=[('', 'off'), ('address', 'same address'), ('headline', 'same address, or same headline on one day')], db_default='', default='', help_text='Which copies of stored articles are attached to them when they arrive, not stored as articles. Same address: AMP, mobile and print pages, and other tracking parameters. Same headline: with the same text, or in two teasers the same numbers. What is stored already stays as it is.', max_length=8, verbose_name='attach copies'),
        ),
        migrations.CreateModel(
            name='AttachedCopy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('external_id', models.CharField(blank=True, help_text='Its id in the collection it came from.', max_length=200)),
                ('date', models.DateField(help_text='The publication date.')),
                ('published_at', models.DateTimeField(editable=False, help_text='The time of publication; null if only the date is known. Without a known offset, the local time as if it were UTC.', null=True)),
                ('published_offset', models.SmallIntegerField(editable=False, help_text="The source's offset from UTC in minutes, positive in the east; null if it names no time zone.", null=True)),
                ('published_precision', models.CharField(choices=[('day', 'day'), ('minute', 'minute'), ('second', 'second')], db_default='day', default='day', editable=False, max_length=6)),
                ('headline', models.TextField(blank=True)),
                ('url', models.TextField(help_text='The URL it was first stored under.')),
                ('content', models.TextField()),
                ('language', models.CharField(blank=True, help_text='The detected ISO 639 code; empty if uncertain.', max_length=8)),
                ('byline', models.TextField(blank=True, help_text='The authors, as the page names them.')),
                ('agency', models.CharField(blank=True, help_text='The news agency credited with the text.', max_length=100)),
                ('dateline', models.CharField(blank=True, help_text='The place and date before the first sentence.', max_length=200)),
                ('date_source', models.CharField(blank=True, choices=[('json-ld', "the page's JSON-LD data"), ('meta', "the page's meta tags"), ('time', 'a time element on the page'), ('htmldate', 'the text of the page'), ('rule', 'the newspaper’s own extraction rule'), ('feed', 'the feed or list that named the page'), ('sitemap', 'the sitemap that listed the page'), ('import', 'the imported file')], help_text='Where the date was read, and the time of publication if it is known.', max_length=8)),
                ('date_doubt', models.CharField(blank=True, help_text='Why the date may be wrong; empty if certain.', max_length=200)),
                ('text_doubt', models.CharField(blank=True, db_default='', default='', help_text="Why the text may be incomplete, or not the article's; empty if certain.", max_length=300)),
                ('paywalled', models.BooleanField(default=False, help_text='Whether the page showed only the beginning.')),
                ('extractor_version', models.PositiveSmallIntegerField(default=0, editable=False, help_text='The version of the extraction rules used; 0 for imported texts.')),
                ('extra_columns', models.TextField(blank=True, db_default='', default='', editable=False, help_text='The columns of its file that have no field here: a JSON object, spelled as in the file; empty if there are none.')),
                ('attached_by', models.CharField(choices=[('', 'off'), ('address', 'same address'), ('headline', 'same address, or same headline on one day')], max_length=8)),
                ('attached_at', models.DateTimeField()),
                ('seen', models.JSONField(help_text='`urls`, those that its page has `declared`, each with its kind, and further `headlines`.')),
                ('page', models.TextField(blank=True, help_text='Its page and the following ones as rows in JSON; empty without one.')),
                ('page_fetched_at', models.DateTimeField(null=True)),
                ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attached_copies', to='articles.article')),
            ],
            options={
                'verbose_name_plural': 'attached copies',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.MD5('url'), name='attached_once')],
            },
        ),
    ]
