"""Indexes for the lists of pairs by verdict, doubt and newspaper, and of those in any state."""

import django.db.models.expressions
import django.db.models.functions.math
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0015_lists_of_a_million_articles'),
        ('dedup', '0046_results_of_a_cluster'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='pair',
            name='pair_waiting',
        ),
        migrations.AddIndex(
            model_name='pair',
            index=models.Index(condition=models.Q(('best_score__gt', 0), ('state', 'undecided')), fields=['verdict', '-duplicate_probability', 'id'], name='pair_waiting_by_verdict'),
        ),
        migrations.AddIndex(
            model_name='pair',
            index=models.Index(fields=['-duplicate_probability', 'id'], name='pair_by_probability'),
        ),
        migrations.AddIndex(
            model_name='pair',
            index=models.Index(django.db.models.functions.math.Abs(django.db.models.expressions.CombinedExpression(models.F('duplicate_probability'), '-', models.Value(0.5))), models.F('id'), condition=models.Q(('duplicate_probability__isnull', False), ('state', 'undecided')), name='pair_doubt'),
        ),
        migrations.AddIndex(
            model_name='pair',
            index=models.Index(condition=models.Q(('same_newspaper', True)), fields=['-duplicate_probability', 'id'], name='pair_same_newspaper'),
        ),
    ]
