"""Keeps with each pair what its verdict rests on, and of each newspaper what recurs around a month."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0013_search_by_words_and_urls'),
        ('dedup', '0047_lists_of_a_million_pairs'),
    ]

    operations = [
        migrations.CreateModel(
            name='NewspaperMonth',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('month', models.DateField(help_text='The first day of the month.')),
                ('digest', models.BigIntegerField(help_text='A digest of the articles that it is learnt from, and of how.')),
                ('articles', models.PositiveIntegerField(help_text='The number of articles that it is learnt from.')),
                ('phrases', models.BinaryField(help_text='Hashes of the phrases that recur: 32 bits each, little-endian, ascending and distinct.')),
                ('common', models.TextField(help_text='The words that are common, with blanks between them.')),
            ],
        ),
        migrations.DeleteModel(
            name='JudgedMonth',
        ),
        migrations.AddField(
            model_name='pair',
            name='rests_on',
            field=models.BigIntegerField(editable=False, help_text='A digest of what the verdict rests on. When it changes, or is empty, the pair is compared again.', null=True),
        ),
        migrations.AddIndex(
            model_name='evidence',
            index=models.Index(condition=models.Q(('details__has_key', 'leftover')), fields=['pair'], name='evidence_leftover'),
        ),
        migrations.AddIndex(
            model_name='pair',
            index=models.Index(condition=models.Q(('best_score__gt', 0), ('rests_on', None)), fields=['id'], name='pair_to_judge'),
        ),
        migrations.AddIndex(
            model_name='pair',
            index=models.Index(condition=models.Q(('best_score', 0), ('rests_on__isnull', False)), fields=['id'], name='pair_unproposed'),
        ),
        migrations.AddField(
            model_name='newspapermonth',
            name='newspaper',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper'),
        ),
        migrations.AddConstraint(
            model_name='newspapermonth',
            constraint=models.UniqueConstraint(fields=('newspaper', 'month'), name='one_row_a_newspaper_and_month'),
        ),
    ]
