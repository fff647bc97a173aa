"""Newspapers have their own extraction rules, and pages remember which one extracted them."""


import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0019_revisions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='article',
            name='date_source',
            field=models.CharField(blank=True, choices=[('json-ld', "the page's JSON-LD data"), ('meta', "the page's meta tags"), ('time', 'a time element on the page'), ('htmldate', 'the text of the page'), ('rule', 'the newspaper’s own extraction rule'), ('feed', 'the feed that listed the page'), ('sitemap', 'the sitemap that listed the page'), ('import', 'the imported file')], help_text='Where the date was read, and the time of publication if it is known.', max_length=8),
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
        migrations.AddField(
            model_name='articlepage',
            name='rule',
            field=models.ForeignKey(db_index=False, help_text="The newspaper's own rule that extracted the article; null if none did.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.extractionrule'),
        ),
        migrations.AddField(
            model_name='newspaper',
            name='extraction_rule',
            field=models.ForeignKey(editable=False, help_text='Its own rule for extracting its pages, as last saved; null if it has none.', null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='articles.extractionrule'),
        ),
    ]
