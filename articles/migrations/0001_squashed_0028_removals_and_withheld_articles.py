"""The tables of a new database, as the migrations up to 0028 make them one after the other."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

from articles.migrations._at_once import AtOnce


class Migration(migrations.Migration):

    replaces = [
        ('articles', '0001_newspapers_and_articles'),
        ('articles', '0002_article_revision'),
        ('articles', '0003_details_pages_and_learnt_habits'),
        ('articles', '0004_learnt_url_parameters'),
        ('articles', '0005_refused_affixes'),
        ('articles', '0006_boilerplate'),
        ('articles', '0007_days_of_links'),
        ('articles', '0008_help_texts_in_plain_words'),
        ('articles', '0009_publication_time'),
        ('articles', '0010_extra_columns_and_headline_variants'),
        ('articles', '0011_newspapers_merge_and_have_aliases'),
        ('articles', '0012_revision_counts_times'),
        ('articles', '0013_search_by_words_and_urls'),
        ('articles', '0015_lists_of_a_million_articles'),
        ('articles', '0016_index_on_the_normalizer'),
        ('articles', '0017_lengths_of_articles'),
        ('articles', '0018_text_doubt'),
        ('articles', '0019_revisions'),
        ('articles', '0020_extraction_rules'),
        ('articles', '0021_feed_texts_and_following_pages'),
        ('articles', '0022_declared_urls'),
        ('articles', '0023_fetch_times_of_pages'),
        ('articles', '0024_teaser_newspapers'),
        ('articles', '0025_uploaded_files'),
        ('articles', '0026_urls_without_logins'),
        ('articles', '0027_revisions_of_first_articles'),
        ('articles', '0028_removals_and_withheld_articles'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        django.contrib.postgres.operations.TrigramExtension(
        ),
        AtOnce(
            migrations.CreateModel(
                name='Newspaper',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='The name that editors see.', max_length=200, unique=True)),
                    ('host', models.CharField(blank=True, help_text="The host of its articles' URLs, without www. An import without a newspaper column matches on it.", max_length=253)),
                    ('title_affixes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Text that this newspaper adds before or after its headlines, apart from its name. Text that begins with … needs no separator before it.', size=None)),
                    ('crawl', models.BooleanField(default=True, help_text='Whether `manage.py crawl` without names visits this newspaper.')),
                    ('feed_urls', django.contrib.postgres.fields.ArrayField(base_field=models.URLField(max_length=2000, validators=[django.core.validators.URLValidator(schemes=['http', 'https'])]), blank=True, default=list, help_text='RSS or Atom feeds.', size=None)),
                    ('sitemap_urls', django.contrib.postgres.fields.ArrayField(base_field=models.URLField(max_length=2000, validators=[django.core.validators.URLValidator(schemes=['http', 'https'])]), blank=True, default=list, help_text='Sitemaps or sitemap indexes.', size=None)),
                    ('section_urls', django.contrib.postgres.fields.ArrayField(base_field=models.URLField(max_length=2000, validators=[django.core.validators.URLValidator(schemes=['http', 'https'])]), blank=True, default=list, help_text='Pages that list articles, such as the front page of a section.', size=None)),
                    ('article_url_pattern', models.CharField(blank=True, help_text="A regular expression that matches part of every article's URL and no other URL, such as /\\d{4}/\\d{2}/. Links from section pages and sitemaps that do not match are not visited. Empty: all are.", max_length=500)),
                    ('kept_url_parameters', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, help_text='Parameters that identify an article, such as sid in story?sid=123. They are never dropped when URLs are compared. Parameters learnt from its articles are added; one that you remove is not added again.', size=None)),
                    ('learnt_affixes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, editable=False, help_text='Text found before or after at least half of its headlines. It is removed too.', size=None)),
                    ('refused_affixes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Text that is, or would be, learnt as an affix but is part of the headline nevertheless.', size=None)),
                    ('boilerplate_articles', models.PositiveSmallIntegerField(blank=True, db_default=3, default=3, help_text='A sentence is boilerplate if at least this many different articles of one week have it, 2 to 1,000. With 2, sentences that two articles share about the same event count as boilerplate too.', validators=[django.core.validators.MinValueValidator(2), django.core.validators.MaxValueValidator(1000)])),
                    ('edition', models.CharField(blank=True, db_default='', default='', help_text='Which edition it is, such as Africa or weekend. Reports can group newspapers by edition.', max_length=200)),
                    ('merged_into', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='merged_newspapers', to='articles.newspaper')),
                    ('owner', models.CharField(blank=True, db_default='', default='', help_text='Who publishes it, such as a group of newspapers. Reports can group newspapers by owner.', max_length=200)),
                    ('revision_days', models.PositiveSmallIntegerField(blank=True, help_text="For how many days a crawl fetches a stored article again, 0 to 365, to keep its later versions. The article stays as it was first stored. Empty: the crawl's setting REVISION_DAYS.", null=True, validators=[django.core.validators.MaxValueValidator(365)])),
                    ('extraction_rule', models.ForeignKey(editable=False, help_text='Its own rule for extracting its pages, as last saved; null if it has none.', null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='articles.extractionrule')),
                    ('teasers', models.BooleanField(db_default=False, default=False, help_text='Whether the headlines and descriptions in its feeds are its articles. Pages are never fetched then, and sitemaps and section pages not read.')),
                    ('page_days', models.PositiveSmallIntegerField(blank=True, help_text='For how many days the fetched pages of its articles are kept, at least 1; manage.py remove_pages removes older ones. The articles stay, but cannot be extracted again. Empty: for ever.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ],
                options={
                    'ordering': ['name'],
                    'indexes': [models.Index(fields=['host'], name='newspaper_host')],
                },
            ),
            migrations.CreateModel(
                name='Article',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('external_id', models.CharField(blank=True, help_text='Its id in the collection it came from.', max_length=200)),
                    ('date', models.DateField(help_text='The publication date.')),
                    ('headline', models.TextField(blank=True)),
                    ('url', models.TextField(help_text='The URL it was first stored under.')),
                    ('content', models.TextField()),
                    ('normalized_title', models.TextField(editable=False)),
                    ('normalized_text', models.TextField(editable=False)),
                    ('text_digest', models.UUIDField(editable=False, help_text='A digest of the normalised text; null if that text is empty.', null=True)),
                    ('normalizer_version', models.PositiveSmallIntegerField(editable=False)),
                    ('stored_at', models.DateTimeField(auto_now_add=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='articles', to='articles.newspaper')),
                    ('revision', models.BigIntegerField(default=0, editable=False, help_text='A counter across all articles, raised when an article is stored or its compared text changes.')),
                    ('agency', models.CharField(blank=True, help_text='The news agency credited with the text.', max_length=100)),
                    ('byline', models.TextField(blank=True, help_text='The authors, as the page names them.')),
                    ('date_doubt', models.CharField(blank=True, help_text='Why the date may be wrong; empty if certain.', max_length=200)),
                    ('date_source', models.CharField(blank=True, choices=[('json-ld', "the page's JSON-LD data"), ('meta', "the page's meta tags"), ('time', 'a time element on the page'), ('htmldate', 'the text of the page'), ('rule', 'the newspaper’s own extraction rule'), ('feed', 'the feed or list that named the page'), ('sitemap', 'the sitemap that listed the page'), ('import', 'the imported file')], help_text='Where the date was read, and the time of publication if it is known.', max_length=8)),
                    ('dateline', models.CharField(blank=True, help_text='The place and date before the first sentence.', max_length=200)),
                    ('extractor_version', models.PositiveSmallIntegerField(default=0, editable=False, help_text='The version of the extraction rules used; 0 for imported texts.')),
                    ('language', models.CharField(blank=True, help_text='The detected ISO 639 code; empty if uncertain.', max_length=8)),
                    ('paywalled', models.BooleanField(default=False, help_text='Whether the page showed only the beginning.')),
                    ('boilerplate', models.JSONField(db_default=[], default=list, editable=False, help_text='The parts of the content that are boilerplate: start, end, and whether story mode keeps the part.')),
                    ('story_digest', models.UUIDField(editable=False, help_text='A digest of story_text; null if that is null or empty.', null=True)),
                    ('story_text', models.TextField(editable=False, help_text='The normalised text without what story mode removes; null if it removes nothing.', null=True)),
                    ('topic_digest', models.UUIDField(editable=False, help_text='A digest of topic_text; null if that is null or empty.', null=True)),
                    ('topic_text', models.TextField(editable=False, help_text='The normalised text without any boilerplate; null if it has none.', null=True)),
                    ('published_at', models.DateTimeField(editable=False, help_text='The time of publication; null if only the date is known. Without a known offset, the local time as if it were UTC.', null=True)),
                    ('published_offset', models.SmallIntegerField(editable=False, help_text="The source's offset from UTC in minutes, positive in the east; null if it names no time zone.", null=True)),
                    ('published_precision', models.CharField(choices=[('day', 'day'), ('minute', 'minute'), ('second', 'second')], db_default='day', default='day', editable=False, max_length=6)),
                    ('extra_columns', models.TextField(blank=True, db_default='', default='', editable=False, help_text='The columns of its file that have no field here: a JSON object, spelled as in the file; empty if there are none.')),
                    ('characters', models.IntegerField(editable=False, help_text='The length of the content; null if it was stored before lengths were kept.', null=True)),
                    ('text_doubt', models.CharField(blank=True, db_default='', default='', help_text="Why the text may be incomplete, or not the article's; empty if certain.", max_length=300)),
                    ('withheld', models.BooleanField(db_default=False, default=False, editable=False, help_text='Whether an admin withholds it, or it is being removed: its texts are not in this row then.')),
                ],
                options={
                    'ordering': ['date', 'id'],
                    'indexes': [models.Index(fields=['text_digest'], name='article_text_digest'), models.Index(models.F('newspaper'), models.F('date'), django.db.models.functions.text.MD5('normalized_title'), name='article_title'), models.Index(condition=models.Q(('external_id', ''), _negated=True), fields=['external_id'], name='article_external_id'), models.Index(fields=['revision'], name='article_revision'), django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('headline'), name='gin_trgm_ops'), name='article_headline_words'), models.Index(fields=['date', 'id'], include=('published_at',), name='article_date'), models.Index(fields=['id'], include=('newspaper', 'date'), name='article_place'), models.Index(condition=models.Q(('date_doubt', ''), _negated=True), fields=['-date', '-id'], name='article_uncertain_date'), models.Index(condition=models.Q(('paywalled', True)), fields=['-date', '-id'], name='article_paywalled'), models.Index(condition=models.Q(('agency', ''), _negated=True), fields=['-date', '-id'], name='article_of_agency'), models.Index(fields=['normalizer_version'], name='article_normalizer'), models.Index(condition=models.Q(('text_doubt', ''), _negated=True), fields=['-date', '-id'], name='article_uncertain_text')],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('published_at', None), ('published_offset', None), ('published_precision', 'day')), models.Q(('published_at__isnull', False), ('published_precision__in', ['minute', 'second'])), _connector='OR'), name='article_publication_time')],
                },
            ),
            migrations.CreateModel(
                name='ArticleURL',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.TextField(help_text='The URL as it was seen.')),
                    ('key', models.UUIDField(editable=False, help_text='UUID version 5 of the canonicalised URL.', unique=True)),
                    ('normalized_url', models.TextField(editable=False, help_text='The reduced form that the url pass compares.')),
                    ('kind', models.CharField(choices=[('page', 'page'), ('feed', 'feed link'), ('redirect', 'redirect target'), ('canonical', 'canonical link'), ('amp', 'AMP page'), ('import', 'imported')], max_length=9)),
                    ('seen_at', models.DateTimeField(auto_now_add=True)),
                    ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='urls', to='articles.article')),
                ],
                options={
                    'verbose_name': 'article URL',
                    'ordering': ['id'],
                    'indexes': [models.Index(django.db.models.functions.text.MD5('normalized_url'), name='article_url_normalized'), django.contrib.postgres.indexes.GinIndex(fields=['normalized_url'], name='article_url_parts', opclasses=['gin_trgm_ops'])],
                },
            ),
            migrations.CreateModel(
                name='LearntParameter',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='In lower case.', max_length=100)),
                    ('first_url', models.TextField(verbose_name='URL of one article')),
                    ('second_url', models.TextField(verbose_name='URL of another article')),
                    ('learnt_at', models.DateTimeField(auto_now_add=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='learnt_parameters', to='articles.newspaper')),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('newspaper', 'name'), name='learnt_parameter_once')],
                },
            ),
            migrations.CreateModel(
                name='BoilerplateWeek',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('week', models.DateField(help_text='The Monday of the week.')),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('newspaper', 'week'), name='one_row_a_week')],
                },
            ),
            migrations.CreateModel(
                name='RepeatedSentence',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('week', models.DateField(help_text='The Monday of the week.')),
                    ('digest', models.UUIDField(help_text='A digest of the normalised sentence.')),
                    ('sentence', models.TextField(help_text='The sentence as its first article has it.')),
                    ('kind', models.CharField(choices=[('boilerplate', 'boilerplate'), ('quotation', 'quotation'), ('whitelisted', 'whitelisted')], max_length=11)),
                    ('articles', models.PositiveIntegerField(help_text='The number of articles of the week that have it.')),
                    ('article_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), help_text='The ids of these articles, the first one first.', size=None)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='repeated_sentences', to='articles.newspaper')),
                ],
                options={
                    'ordering': ['-week', '-articles', 'id'],
                    'indexes': [models.Index(fields=['newspaper', 'digest'], name='repeated_sentence'), django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper('sentence'), name='gin_trgm_ops'), name='repeated_sentence_words')],
                    'constraints': [models.UniqueConstraint(fields=('newspaper', 'week', 'digest'), name='one_row_a_sentence')],
                },
            ),
            migrations.CreateModel(
                name='WhitelistedSentence',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.UUIDField(help_text='A digest of the normalised sentence.')),
                    ('sentence', models.TextField()),
                    ('whitelisted_at', models.DateTimeField(auto_now_add=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='whitelisted_sentences', to='articles.newspaper')),
                    ('whitelisted_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-whitelisted_at', '-id'],
                    'constraints': [models.UniqueConstraint(fields=('newspaper', 'digest'), name='whitelisted_once')],
                },
            ),
            migrations.CreateModel(
                name='HeadlineVariant',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('headline', models.TextField()),
                    ('day', models.DateField(help_text='The publication date that came with this headline.')),
                    ('url', models.TextField(help_text='The URL that it came under.')),
                    ('seen_at', models.DateTimeField(auto_now_add=True)),
                    ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='headline_variants', to='articles.article')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(models.F('article'), django.db.models.functions.text.MD5('headline'), name='headline_variant_once')],
                },
            ),
            migrations.CreateModel(
                name='NewspaperAlias',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('alias', models.CharField(help_text='Another name as files write it, or another host without www. Names are case-sensitive.', max_length=253, unique=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='articles.newspaper')),
                ],
                options={
                    'verbose_name': 'alias',
                    'verbose_name_plural': 'aliases',
                    'ordering': ['alias'],
                },
            ),
            migrations.CreateModel(
                name='NewspaperMerge',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('articles', models.PositiveIntegerField(help_text='The number of articles that moved.')),
                    ('article_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='The ids of these articles, ascending.', size=None)),
                    ('carried', models.JSONField(help_text='The changes to the settings of the newspaper it was merged into.')),
                    ('merged_at', models.DateTimeField(auto_now_add=True)),
                    ('undone_at', models.DateTimeField(null=True)),
                    ('into', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.newspaper')),
                    ('merged', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.newspaper')),
                    ('merged_by', models.ForeignKey(help_text='Null: on the command line.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('undone_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('undone_at', None)), fields=('merged',), name='merged_once')],
                },
            ),
            migrations.CreateModel(
                name='ArticleRevision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField(help_text='1 for the first one after the article as it was stored.')),
                    ('kind', models.CharField(choices=[('changed', 'changed'), ('gone', 'gone'), ('back', 'back again')], max_length=7)),
                    ('seen_at', models.DateTimeField(help_text='When its page was fetched.')),
                    ('updated_at', models.DateTimeField(help_text='The time of the change that a feed or sitemap gave; null if none did.', null=True)),
                    ('headline', models.TextField(blank=True, help_text='Empty if the article is gone.')),
                    ('content', models.TextField(blank=True, help_text='Empty if the article is gone.')),
                    ('note', models.CharField(blank=True, help_text='Why the article counts as gone.', max_length=200)),
                    ('url', models.TextField(help_text='The URL that the page was fetched from, after redirects.')),
                    ('content_type', models.CharField(blank=True, max_length=200)),
                    ('body', models.BinaryField(help_text='The page as it was fetched, compressed with gzip; empty if gone.')),
                    ('extractor_version', models.PositiveSmallIntegerField(default=0)),
                    ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='articles.article')),
                ],
                options={
                    'ordering': ['article', 'number'],
                    'constraints': [models.UniqueConstraint(fields=('article', 'number'), name='revision_number')],
                },
            ),
            migrations.CreateModel(
                name='ExtractionRule',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('body', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text="What holds the article's text.", size=None)),
                    ('headline', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text='What holds the headline.', size=None)),
                    ('day', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text='What holds the day of publication.', size=None)),
                    ('authors', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text='What holds the authors.', size=None)),
                    ('drop', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text='What is removed from the page before anything is read.', size=None)),
                    ('note', models.CharField(blank=True, help_text='Why it was saved, in the words of who did.', max_length=200)),
                    ('saved_at', models.DateTimeField(auto_now_add=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='extraction_rules', to='articles.newspaper')),
                    ('restores', models.ForeignKey(help_text='The older version that it repeats.', null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='articles.extractionrule')),
                    ('saved_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='ArticlePage',
                fields=[
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='page', serialize=False, to='articles.article')),
                    ('url', models.TextField(help_text='The URL it was fetched from, after redirects.')),
                    ('content_type', models.CharField(blank=True, help_text='The HTTP Content-Type header, which names the charset.', max_length=200)),
                    ('body', models.BinaryField(help_text='The page as it was fetched, compressed with gzip.')),
                    ('fetched_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('published', models.DateField(help_text='The date given by its feed or sitemap, if any.', null=True)),
                    ('in_sitemap', models.BooleanField(db_default=False, default=False, help_text='Whether a sitemap gave that date; otherwise a feed did.')),
                    ('published_time', models.CharField(blank=True, db_default='', default='', help_text='The time given by its feed or sitemap, if any, in ISO 8601.', max_length=25)),
                    ('rule', models.ForeignKey(db_index=False, help_text="The newspaper's own rule that extracted the article; null if none did.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.extractionrule')),
                    ('feed_entry', models.BinaryField(db_default=b'', default=b'', help_text='What its feed carries of the article: JSON, compressed with gzip; empty if its feed has no text. The page is empty if the feed alone has the article.')),
                ],
                options={
                    'indexes': [models.Index(fields=['fetched_at'], name='article_page_fetched')],
                },
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
            migrations.CreateModel(
                name='Removal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('newspaper', 'newspaper'), ('articles', 'articles')], max_length=9)),
                    ('label', models.CharField(help_text="The newspaper's name, or the numbers of the articles.", max_length=300)),
                    ('newspaper_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='The newspapers that are removed.', size=None)),
                    ('article_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='The articles that are removed alone.', size=None)),
                    ('reason', models.TextField(help_text='Why, in the words of the admin.')),
                    ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('state', models.CharField(choices=[('running', 'under way'), ('done', 'done')], default='running', max_length=7)),
                    ('counts', models.JSONField(default=dict, help_text='How many rows of each kind went, or became tombstones.')),
                    ('seen_at', models.DateTimeField(default=django.utils.timezone.now, help_text='The last sign of life of the work.')),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('lifted_at', models.DateTimeField(help_text='When the articles were allowed to come again.', null=True)),
                    ('lifted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('requested_by', models.ForeignKey(help_text='Null: on the command line.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='RemovedIdentity',
                fields=[
                    ('digest', models.UUIDField(primary_key=True, serialize=False)),
                    ('removal', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='identities', to='articles.removal')),
                ],
                options={
                    'verbose_name_plural': 'removed identities',
                },
            ),
            migrations.CreateModel(
                name='Withholding',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.TextField(help_text='Why, in the words of the admin.')),
                    ('withheld_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('released_at', models.DateTimeField(null=True)),
                    ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='withholdings', to='articles.article')),
                    ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('withheld_by', models.ForeignKey(help_text='Null: on the command line.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('released_at', None)), fields=('article',), name='one_withholding_an_article')],
                },
            ),
            migrations.CreateModel(
                name='WithheldRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('table', models.CharField(max_length=63)),
                    ('row', models.JSONField(help_text='Its columns; bytes in hexadecimal.')),
                    ('withholding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='articles.withholding')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='article',
                trigger=pgtrigger.compiler.Trigger(name='boilerplate', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."content" IS DISTINCT FROM (NEW."content") OR OLD."date" IS DISTINCT FROM (NEW."date") OR OLD."newspaper_id" IS DISTINCT FROM (NEW."newspaper_id") OR OLD."normalized_text" IS DISTINCT FROM (NEW."normalized_text"))', func="NEW.boilerplate = '[]'; NEW.story_text = NULL; NEW.story_digest = NULL; NEW.topic_text = NULL; NEW.topic_digest = NULL; RETURN NEW;", hash='a9bd9832c20d8f2ed85e1229cc0f9925c612a5c3', operation='UPDATE OF "newspaper_id", "date", "content", "normalized_text"', pgid='pgtrigger_boilerplate_7645b', table='articles_article', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='article',
                trigger=pgtrigger.compiler.Trigger(name='revision', sql=pgtrigger.compiler.UpsertTriggerSql(func="NEW.revision = nextval('articles_article_revision'); RETURN NEW;", hash='223ab61b2863e70c98f2ac3d670b7c450846e2df', operation='INSERT OR UPDATE OF "newspaper_id", "date", "published_at", "content", "normalized_title", "normalized_text", "story_text", "topic_text"', pgid='pgtrigger_revision_5bf63', table='articles_article', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='article',
                trigger=pgtrigger.compiler.Trigger(name='characters', sql=pgtrigger.compiler.UpsertTriggerSql(func='NEW.characters = length(NEW.content); RETURN NEW;', hash='0881fc1e3a567549bd751097a1ea6f4109b787c1', operation='INSERT OR UPDATE OF "content"', pgid='pgtrigger_characters_cf11f', table='articles_article', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='removal',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='3650dbe4df2fd24bcb3f503dbe356e5892edcf8b', operation='DELETE', pgid='pgtrigger_append_only_29632', table='articles_removal', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='removal',
                trigger=pgtrigger.compiler.Trigger(name='said_once', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n                IF (NEW.kind, NEW.label, NEW.newspaper_ids, NEW.article_ids, NEW.reason, NEW.requested_at)\n                    IS DISTINCT FROM\n                   (OLD.kind, OLD.label, OLD.newspaper_ids, OLD.article_ids, OLD.reason, OLD.requested_at)\n                   OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id\n                   OR (OLD.state = 'done'\n                       AND (NEW.state, NEW.counts, NEW.finished_at) IS DISTINCT FROM\n                           (OLD.state, OLD.counts, OLD.finished_at))\n                THEN\n                    RAISE EXCEPTION 'the log of removals is append-only: removal % cannot be changed', OLD.id;\n                END IF;\n                RETURN NEW;\n                ", hash='6d223fedfc2465236c525d9e2f269541fb05e298', operation='UPDATE', pgid='pgtrigger_said_once_2e34f', table='articles_removal', when='BEFORE')),
            ),
        ),
        migrations.RunSQL(
            "CREATE SEQUENCE articles_article_revision OWNED BY articles_article.revision",
            "DROP SEQUENCE articles_article_revision",
        ),
        # The page is compressed already; PostgreSQL would try once more at every write.
        migrations.RunSQL(
            "ALTER TABLE articles_articlepage ALTER COLUMN body SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
    ]
