from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawlers', '0002_help_texts_in_plain_words'),
    ]

    operations = [
        migrations.AddField(
            model_name='pendinglink',
            name='published_time',
            field=models.CharField(blank=True, db_default='', default='', help_text='The time given by the source, in ISO 8601.', max_length=25),
        ),
    ]
