"""Help texts and labels are reworded; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawlers', '0001_visits_links_and_sources'),
    ]

    operations = [
        migrations.AlterField(
            model_name='pendinglink',
            name='key',
            field=models.UUIDField(help_text='UUID version 5 of the canonicalised URL, as in ArticleURL.'),
        ),
        migrations.AlterField(
            model_name='pendinglink',
            name='published',
            field=models.DateField(help_text='The date given by the source.', null=True),
        ),
        migrations.AlterField(
            model_name='pendinglink',
            name='refused_until',
            field=models.DateTimeField(help_text='Not visited before this time. Empty: waiting.', null=True),
        ),
        migrations.AlterField(
            model_name='pendinglink',
            name='tries',
            field=models.PositiveSmallIntegerField(default=0, help_text='Failed visits that may succeed another time.'),
        ),
        migrations.AlterField(
            model_name='sourcevalidator',
            name='article_url_pattern',
            field=models.TextField(blank=True, help_text="The newspaper's pattern that the links had to match."),
        ),
        migrations.AlterField(
            model_name='sourcevalidator',
            name='url',
            field=models.TextField(help_text='The URL of the source, as configured or as listed by another source.'),
        ),
        migrations.AlterField(
            model_name='visit',
            name='failures',
            field=models.JSONField(default=list, help_text='Objects with a reason, a number and the url of an example.'),
        ),
        migrations.AlterField(
            model_name='visit',
            name='known',
            field=models.PositiveIntegerField(default=0, help_text='Links to articles that were already stored.'),
        ),
        migrations.AlterField(
            model_name='visit',
            name='paywalled',
            field=models.PositiveIntegerField(default=0, help_text='Articles stored whose page shows only a part.'),
        ),
        migrations.AlterField(
            model_name='visit',
            name='refused_earlier',
            field=models.PositiveIntegerField(default=0, help_text='Links that an earlier visit refused; they were not visited.'),
        ),
        migrations.AlterField(
            model_name='visit',
            name='seen_at',
            field=models.DateTimeField(auto_now=True, help_text='When the visit last reported that it was running.'),
        ),
        migrations.AlterField(
            model_name='visit',
            name='state',
            field=models.CharField(choices=[('running', 'running'), ('finished', 'finished'), ('interrupted', 'interrupted'), ('broken off', 'stopped unexpectedly')], default='running', max_length=11),
        ),
        migrations.AlterField(
            model_name='visit',
            name='unchanged',
            field=models.PositiveIntegerField(default=0, help_text='Sources that reported no change.'),
        ),
    ]
