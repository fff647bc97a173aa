"""Help texts and labels are reworded; nothing in the database changes."""

import django.contrib.postgres.fields
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0007_days_of_links'),
    ]

    operations = [
        migrations.AlterField(
            model_name='article',
            name='agency',
            field=models.CharField(blank=True, help_text='The news agency credited with the text.', max_length=100),
        ),
        migrations.AlterField(
            model_name='article',
            name='boilerplate',
            field=models.JSONField(db_default=[], default=list, editable=False, help_text='The parts of the content that are boilerplate: start, end, and whether story mode keeps the part.'),
        ),
        migrations.AlterField(
            model_name='article',
            name='date',
            field=models.DateField(help_text='The publication date.'),
        ),
        migrations.AlterField(
            model_name='article',
            name='date_doubt',
            field=models.CharField(blank=True, help_text='Why the date may be wrong; empty if certain.', max_length=200),
        ),
        migrations.AlterField(
            model_name='article',
            name='date_source',
            field=models.CharField(blank=True, choices=[('json-ld', "the page's JSON-LD data"), ('meta', "the page's meta tags"), ('time', 'a time element on the page'), ('htmldate', 'the text of the page'), ('link', 'the feed or sitemap that listed the page'), ('import', 'the imported file')], max_length=8),
        ),
        migrations.AlterField(
            model_name='article',
            name='dateline',
            field=models.CharField(blank=True, help_text='The place and date before the first sentence.', max_length=200),
        ),
        migrations.AlterField(
            model_name='article',
            name='extractor_version',
            field=models.PositiveSmallIntegerField(default=0, editable=False, help_text='The version of the extraction rules used; 0 for imported texts.'),
        ),
        migrations.AlterField(
            model_name='article',
            name='language',
            field=models.CharField(blank=True, help_text='The detected ISO 639 code; empty if uncertain.', max_length=8),
        ),
        migrations.AlterField(
            model_name='article',
            name='paywalled',
            field=models.BooleanField(default=False, help_text='Whether the page showed only the beginning.'),
        ),
        migrations.AlterField(
            model_name='article',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False, help_text='A counter across all articles, raised when an article is stored or its compared text changes.'),
        ),
        migrations.AlterField(
            model_name='article',
            name='story_digest',
            field=models.UUIDField(editable=False, help_text='A digest of story_text; null if that is null or empty.', null=True),
        ),
        migrations.AlterField(
            model_name='article',
            name='story_text',
            field=models.TextField(editable=False, help_text='The normalised text without what story mode removes; null if it removes nothing.', null=True),
        ),
        migrations.AlterField(
            model_name='article',
            name='text_digest',
            field=models.UUIDField(editable=False, help_text='A digest of the normalised text; null if that text is empty.', null=True),
        ),
        migrations.AlterField(
            model_name='article',
            name='topic_digest',
            field=models.UUIDField(editable=False, help_text='A digest of topic_text; null if that is null or empty.', null=True),
        ),
        migrations.AlterField(
            model_name='article',
            name='topic_text',
            field=models.TextField(editable=False, help_text='The normalised text without any boilerplate; null if it has none.', null=True),
        ),
        migrations.AlterField(
            model_name='article',
            name='url',
            field=models.TextField(help_text='The URL it was first stored under.'),
        ),
        migrations.AlterField(
            model_name='articlepage',
            name='body',
            field=models.BinaryField(help_text='The page as it was fetched, compressed with gzip.'),
        ),
        migrations.AlterField(
            model_name='articlepage',
            name='content_type',
            field=models.CharField(blank=True, help_text='The HTTP Content-Type header, which names the charset.', max_length=200),
        ),
        migrations.AlterField(
            model_name='articlepage',
            name='published',
            field=models.DateField(help_text='The date given by its feed or sitemap, if any.', null=True),
        ),
        migrations.AlterField(
            model_name='articlepage',
            name='url',
            field=models.TextField(help_text='The URL it was fetched from, after redirects.'),
        ),
        migrations.AlterField(
            model_name='articleurl',
            name='normalized_url',
            field=models.TextField(editable=False, help_text='The reduced form that the url pass compares.'),
        ),
        migrations.AlterField(
            model_name='articleurl',
            name='url',
            field=models.TextField(help_text='The URL as it was seen.'),
        ),
        migrations.AlterField(
            model_name='boilerplateweek',
            name='week',
            field=models.DateField(help_text='The Monday of the week.'),
        ),
        migrations.AlterField(
            model_name='learntparameter',
            name='first_url',
            field=models.TextField(verbose_name='URL of one article'),
        ),
        migrations.AlterField(
            model_name='learntparameter',
            name='second_url',
            field=models.TextField(verbose_name='URL of another article'),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='article_url_pattern',
            field=models.CharField(blank=True, help_text="A regular expression that matches part of every article's URL and no other URL, such as /\\d{4}/\\d{2}/. Links from section pages and sitemaps that do not match are not visited. Empty: all are.", max_length=500),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='boilerplate_articles',
            field=models.PositiveSmallIntegerField(blank=True, db_default=3, default=3, help_text='A sentence is boilerplate if at least this many different articles of one week have it, 2 to 1,000. With 2, sentences that two articles share about the same event count as boilerplate too.', validators=[django.core.validators.MinValueValidator(2), django.core.validators.MaxValueValidator(1000)]),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='crawl',
            field=models.BooleanField(default=True, help_text='Whether `manage.py crawl` without names visits this newspaper.'),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='host',
            field=models.CharField(blank=True, help_text="The host of its articles' URLs, without www. An import without a newspaper column matches on it.", max_length=253),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='kept_url_parameters',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, help_text='Parameters that identify an article, such as sid in story?sid=123. They are never dropped when URLs are compared. Parameters learnt from its articles are added; one that you remove is not added again.', size=None),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='learnt_affixes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, editable=False, help_text='Text found before or after at least half of its headlines. It is removed too.', size=None),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='name',
            field=models.CharField(help_text='The name that editors see.', max_length=200, unique=True),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='refused_affixes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Text that is, or would be, learnt as an affix but is part of the headline nevertheless.', size=None),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='sitemap_urls',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.URLField(max_length=2000, validators=[django.core.validators.URLValidator(schemes=['http', 'https'])]), blank=True, default=list, help_text='Sitemaps or sitemap indexes.', size=None),
        ),
        migrations.AlterField(
            model_name='newspaper',
            name='title_affixes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Text that this newspaper adds before or after its headlines, apart from its name. Text that begins with … needs no separator before it.', size=None),
        ),
        migrations.AlterField(
            model_name='repeatedsentence',
            name='article_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), help_text='The ids of these articles, the first one first.', size=None),
        ),
        migrations.AlterField(
            model_name='repeatedsentence',
            name='articles',
            field=models.PositiveIntegerField(help_text='The number of articles of the week that have it.'),
        ),
        migrations.AlterField(
            model_name='repeatedsentence',
            name='digest',
            field=models.UUIDField(help_text='A digest of the normalised sentence.'),
        ),
        migrations.AlterField(
            model_name='repeatedsentence',
            name='sentence',
            field=models.TextField(help_text='The sentence as its first article has it.'),
        ),
        migrations.AlterField(
            model_name='repeatedsentence',
            name='week',
            field=models.DateField(help_text='The Monday of the week.'),
        ),
        migrations.AlterField(
            model_name='whitelistedsentence',
            name='digest',
            field=models.UUIDField(help_text='A digest of the normalised sentence.'),
        ),
    ]
