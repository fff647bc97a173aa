"""Why the text of an article may be wrong. A constant default, so no row is written for it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0017_lengths_of_articles'),
    ]

    operations = [
        migrations.AddField(
            model_name='article',
            name='text_doubt',
            field=models.CharField(blank=True, db_default='', default='', help_text="Why the text may be incomplete, or not the article's; empty if certain.", max_length=300),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(condition=models.Q(('text_doubt', ''), _negated=True), fields=['-date', '-id'], name='article_uncertain_text'),
        ),
    ]
