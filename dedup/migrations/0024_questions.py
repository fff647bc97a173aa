"""The questions that editors are asked, with leases and postponements; from which probability on they are asked."""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


# As dedup/clustering/questions.py asked when this was written: the queue must not be empty until the next run.
FILL = """
WITH waiting AS MATERIALIZED (
    SELECT pair.id, pair.joins, pair.verdict, left_member.cluster_id,
        CASE WHEN pair.joins THEN pair.probability ELSE pair.duplicate_probability END AS chance,
        pair.verdict = 'duplicate' OR pair.duplicate_probability >= 0.1 AS asked,
        coalesce(-left_member.cluster_id, pair.left_id) AS left_part,
        coalesce(-right_member.cluster_id, pair.right_id) AS right_part,
        coalesce(left_cluster.size, 1) AS left_size,
        coalesce(right_cluster.size, 1) AS right_size
    FROM dedup_pair AS pair
    LEFT JOIN dedup_membership AS left_member ON left_member.article_id = pair.left_id
    LEFT JOIN dedup_cluster AS left_cluster ON left_cluster.id = left_member.cluster_id
    LEFT JOIN dedup_membership AS right_member ON right_member.article_id = pair.right_id
    LEFT JOIN dedup_cluster AS right_cluster ON right_cluster.id = right_member.cluster_id
    WHERE pair.state = 'undecided' AND pair.best_score > 0 AND pair.verdict <> ''
        AND pair.probability IS NOT NULL AND pair.duplicate_probability IS NOT NULL
), card AS (
    SELECT cluster_id, bool_and(verdict NOT IN ('template', 'similar')) AS copies
    FROM waiting
    WHERE left_part = right_part AND left_size > 2
    GROUP BY cluster_id
    HAVING bool_or(asked)
), parted AS (
    SELECT DISTINCT one.cluster_id
    FROM dedup_standing_link AS link
    JOIN dedup_membership AS one ON one.article_id = link.left_id
    JOIN dedup_membership AS other ON other.article_id = link.right_id AND other.cluster_id = one.cluster_id
    WHERE link.effect = 'cannot'
), about_cluster AS (
    SELECT NULL::bigint AS pair_id, cluster.id AS cluster_id, cluster.id AS number, cluster.kept_id AS article,
        cluster.size, card.cluster_id IS NOT NULL AS asked,
        card.copies IS TRUE AND parted.cluster_id IS NULL AND cluster.lowest_score >= 0.9 AS certain,
        parted.cluster_id IS NOT NULL AS conflict,
        (cluster.size - 1) * CASE WHEN parted.cluster_id IS NULL THEN 1 - cluster.lowest_score ELSE 1 END AS change,
        abs(cluster.lowest_score - 0.5) AS doubt
    FROM card
    FULL JOIN parted ON parted.cluster_id = card.cluster_id
    JOIN dedup_cluster AS cluster ON cluster.id = coalesce(card.cluster_id, parted.cluster_id)
), about_pair AS (
    SELECT DISTINCT ON (least(left_part, right_part), greatest(left_part, right_part))
        id AS pair_id, NULL::bigint AS cluster_id, id AS number, NULL::bigint AS article, 2 AS size, true AS asked,
        left_part = right_part AND joins AND chance >= 0.9 AS certain,
        left_part <> right_part AND joins AS conflict,
        CASE WHEN left_part = right_part THEN 1 - chance ELSE chance * left_size * right_size END AS change,
        abs(chance - 0.5) AS doubt
    FROM waiting
    WHERE asked AND (left_part <> right_part OR left_size = 2)
    ORDER BY least(left_part, right_part), greatest(left_part, right_part), chance DESC, id
)
INSERT INTO dedup_openquestion
    (pair_id, cluster_id, number, article, size, asked, certain, conflict, change, doubt)
SELECT * FROM about_cluster UNION ALL SELECT * FROM about_pair
"""
COUNT = """
INSERT INTO dedup_questioncount (tab, number)
SELECT counted.tab, counted.number
FROM (
    SELECT count(*) FILTER (WHERE asked) AS informative, count(*) FILTER (WHERE asked AND certain) AS certain,
        count(*) FILTER (WHERE asked AND cluster_id IS NOT NULL) AS clusters,
        count(*) FILTER (WHERE conflict) AS conflicts
    FROM dedup_openquestion
) AS found
CROSS JOIN LATERAL (VALUES
    ('informative', informative), ('certain', certain), ('clusters', clusters), ('conflicts', conflicts)
) AS counted (tab, number)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0026_article_to_keep'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='QuestionCount',
            fields=[
                ('tab', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('number', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name='profile',
            name='asked_from',
            field=models.FloatField(db_default=0.1, default=0.1, help_text='From this probability of being duplicates on, 0 to 1, editors are asked about versions, templates and similar pairs. They are asked about all duplicates. The setting of the default profile counts.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)], verbose_name='asked from'),
        ),
        migrations.CreateModel(
            name='Lease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('until', models.DateTimeField()),
                ('cluster', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='lease', to='dedup.cluster')),
                ('pair', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='lease', to='dedup.pair')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='leases', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('cluster', None), ('pair__isnull', False)), models.Q(('cluster__isnull', False), ('pair', None)), _connector='OR'), name='lease_of_one')],
            },
        ),
        migrations.CreateModel(
            name='OpenQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField(help_text='The number of the pair or the cluster: the last field of the order.')),
                ('article', models.BigIntegerField(help_text='One article of the cluster. Empty for a pair.', null=True)),
                ('size', models.PositiveIntegerField(help_text='How many articles it is about.')),
                ('asked', models.BooleanField(help_text='Whether it covers waiting pairs.')),
                ('certain', models.BooleanField(help_text='Whether the articles are nearly certain to be the same.')),
                ('conflict', models.BooleanField(help_text='Whether clusters keep apart what was judged duplicates, or decisions contradict each other.')),
                ('change', models.FloatField(help_text='How many pairs of articles the answer is expected to join or to split.')),
                ('doubt', models.FloatField(help_text='The distance of the probability from even odds: 0 to 0.5.')),
                ('cluster', models.OneToOneField(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='question', to='dedup.cluster')),
                ('pair', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='question', to='dedup.pair')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('asked', True)), fields=['-change', 'doubt', 'number', 'id'], name='question_asked'), models.Index(condition=models.Q(('asked', True), ('certain', True)), fields=['-change', 'doubt', 'number', 'id'], name='question_certain'), models.Index(condition=models.Q(('conflict', True)), fields=['-change', 'doubt', 'number', 'id'], name='question_conflict'), models.Index(condition=models.Q(('asked', True), ('cluster__isnull', False)), fields=['-size', 'number', 'id'], name='question_cluster'), models.Index(condition=models.Q(('article__isnull', False)), fields=['article'], name='question_article')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('cluster', None), ('pair__isnull', False)), models.Q(('cluster__isnull', False), ('pair', None)), _connector='OR'), name='question_of_one')],
            },
        ),
        migrations.CreateModel(
            name='Postponement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('postponed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('cluster', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='postponements', to='dedup.cluster')),
                ('pair', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='postponements', to='dedup.pair')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='postponements', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'postponed_at', 'id'], name='postponement_order')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('cluster', None), ('pair__isnull', False)), models.Q(('cluster__isnull', False), ('pair', None)), _connector='OR'), name='postponement_of_one'), models.UniqueConstraint(fields=('user', 'pair'), name='one_postponement_a_pair'), models.UniqueConstraint(fields=('user', 'cluster'), name='one_postponement_a_cluster')],
            },
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL(COUNT, migrations.RunSQL.noop),
    ]
