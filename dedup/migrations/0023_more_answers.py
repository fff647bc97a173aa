"""Editors can answer "version" and "template", and what their decisions imply is stored."""

import django.db.models.deletion
from django.db import migrations, models

_DROP_VIEW = "DROP VIEW dedup_standing_link"
_OLD_VIEW = """
CREATE VIEW dedup_standing_link AS
SELECT DISTINCT ON (link.left_id, link.right_id)
    link.left_id,
    link.right_id,
    link.kind,
    CASE link.kind
        WHEN 'must' THEN 'confirmed'
        WHEN 'cannot' THEN 'rejected'
        WHEN 'unsure' THEN 'unsure'
    END AS state
FROM dedup_link AS link
WHERE NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = link.decision_id)
ORDER BY link.left_id, link.right_id, link.decision_id DESC
"""
# The latest link of each two articles whose decision has not been undone, the state that it gives their pair, if any,
# and its effect on clusters. A question about one pair, or one article, is answered from the index link_latest.
_NEW_VIEW = """
CREATE VIEW dedup_standing_link AS
SELECT DISTINCT ON (link.left_id, link.right_id)
    link.left_id,
    link.right_id,
    link.kind,
    CASE link.kind
        WHEN 'must' THEN 'confirmed'
        WHEN 'cannot' THEN 'rejected'
        WHEN 'version' THEN 'version'
        WHEN 'template' THEN 'template'
        WHEN 'unsure' THEN 'unsure'
    END AS state,
    CASE link.kind
        WHEN 'must' THEN 'must'
        WHEN 'cannot' THEN 'cannot'
        WHEN 'stay' THEN 'stay'
        WHEN 'template' THEN 'cannot'
        WHEN 'version' THEN CASE
            WHEN (SELECT profile.versions_join FROM dedup_profile AS profile WHERE profile.is_default) THEN 'stay'
            ELSE 'cannot'
        END
    END AS effect,
    link.decision_id
FROM dedup_link AS link
WHERE NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = link.decision_id)
ORDER BY link.left_id, link.right_id, link.decision_id DESC
"""
# Confirmed clusters confirmed their pairs, also those without a link; these states are implied now.
_STATES = """
WITH decided AS (
    SELECT pair.id,
           coalesce(in_force.state, CASE
               WHEN left_tied.first = right_tied.first THEN 'confirmed'
               WHEN separate.one IS NOT NULL THEN 'rejected'
           END, 'undecided') AS state,
           in_force.state IS NULL AND (coalesce(left_tied.first = right_tied.first, false) OR separate.one IS NOT NULL)
               AS implied
    FROM dedup_pair AS pair
    LEFT JOIN dedup_confirmedarticle AS left_tied ON left_tied.article_id = pair.left_id
    LEFT JOIN dedup_confirmedarticle AS right_tied ON right_tied.article_id = pair.right_id
    LEFT JOIN dedup_separatearticles AS separate
        ON separate.one = least(coalesce(left_tied.first, pair.left_id), coalesce(right_tied.first, pair.right_id))
        AND separate.other
            = greatest(coalesce(left_tied.first, pair.left_id), coalesce(right_tied.first, pair.right_id))
    LEFT JOIN dedup_standing_link AS in_force
        ON in_force.left_id = pair.left_id AND in_force.right_id = pair.right_id
    WHERE left_tied.article_id IS NOT NULL OR right_tied.article_id IS NOT NULL
)
UPDATE dedup_pair AS pair
SET state = decided.state, implied = decided.implied
FROM decided
WHERE decided.id = pair.id AND (pair.state, pair.implied) <> (decided.state, decided.implied)
"""


def fill(apps, schema_editor):
    """Store what the decisions of before imply."""
    cursor = schema_editor.connection.cursor()
    cursor.execute("SELECT left_id, right_id, effect FROM dedup_standing_link WHERE effect IN ('must', 'cannot')")
    links = cursor.fetchall()
    group_of = {}
    for left, right, effect in links:
        if effect == "must":
            fewer, more = sorted((group_of.setdefault(article, {article}) for article in (left, right)), key=len)
            if fewer is not more:
                more |= fewer
                group_of.update(dict.fromkeys(fewer, more))
    firsts = {}
    for article, group in group_of.items():
        if article not in firsts:
            firsts.update(dict.fromkeys(group, min(group)))
    confirmed = apps.get_model("dedup", "ConfirmedArticle")
    confirmed.objects.bulk_create(
        [confirmed(article_id=article, first=first) for article, first in firsts.items()], batch_size=5000
    )
    tied = set(firsts.values())
    separate = {
        (min(one, other), max(one, other))
        for one, other in (
            (firsts.get(left, left), firsts.get(right, right)) for left, right, effect in links if effect == "cannot"
        )
        if one != other and (one in tied or other in tied)
    }
    rows = apps.get_model("dedup", "SeparateArticles")
    rows.objects.bulk_create([rows(one=one, other=other) for one, other in sorted(separate)], batch_size=5000)
    if tied:
        cursor.execute(_STATES)


class Migration(migrations.Migration):

    dependencies = [
        ("articles", "0012_revision_counts_times"),
        ("dedup", "0022_group_rules_in_the_history"),
    ]

    operations = [
        migrations.RunSQL(_DROP_VIEW, _OLD_VIEW),
        migrations.CreateModel(
            name='ConfirmedArticle',
            fields=[
                ('article', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='articles.article')),
                ('first', models.BigIntegerField(db_index=True, help_text='The lowest id of the articles that are tied together.')),
            ],
        ),
        migrations.AddField(
            model_name='pair',
            name='implied',
            field=models.BooleanField(db_default=False, help_text='Whether the state follows from decisions on other pairs alone.'),
        ),
        migrations.AlterField(
            model_name='decision',
            name='kind',
            field=models.CharField(choices=[('confirm', 'confirmed the pair'), ('reject', 'rejected the pair'), ('version', 'called the pair versions'), ('template', 'called the pair templates'), ('unsure', 'was unsure of the pair'), ('confirm_cluster', 'confirmed the cluster'), ('reject_cluster', 'dissolved the cluster'), ('confirm_group', 'confirmed the dense group'), ('rule_group', 'made it a rule: never duplicates'), ('end_group_rule', 'ended the rule'), ('take_out', 'took an article out'), ('keep', 'chose the article to keep'), ('undo', 'undid a decision')], max_length=15),
        ),
        migrations.AlterField(
            model_name='link',
            name='kind',
            field=models.CharField(choices=[('must', 'must be in one cluster'), ('cannot', 'cannot be in one cluster'), ('stay', 'stays in one cluster when another article is taken out'), ('version', 'is another version of the same article'), ('template', 'has the same form and other facts; cannot be in one cluster'), ('unsure', 'left open')], max_length=8),
        ),
        migrations.AlterField(
            model_name='pair',
            name='state',
            field=models.CharField(choices=[('undecided', 'undecided'), ('confirmed', 'confirmed duplicate'), ('rejected', 'not a duplicate'), ('version', 'another version'), ('template', 'a template'), ('unsure', 'unsure')], default='undecided', help_text='What editors decided last, or what their decisions on other pairs imply. Decisions that were undone do not count.', max_length=9),
        ),
        migrations.CreateModel(
            name='SeparateArticles',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('one', models.BigIntegerField()),
                ('other', models.BigIntegerField(db_index=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('one', 'other'), name='one_row_two_groups'), models.CheckConstraint(condition=models.Q(('one__lt', models.F('other'))), name='separate_in_order')],
            },
        ),
        migrations.RunSQL(_NEW_VIEW, _DROP_VIEW),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
