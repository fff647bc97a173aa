"""The tables, roles and first rows of a new database, as the migrations up to 0056 make them one after the other."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.comparison
import django.db.models.functions.math
import django.db.models.functions.text
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.apps import apps as installed
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

from articles.migrations._at_once import AtOnce

# By role and app. The roles exist when the migration of another app gives them a right of that app.
ROLES = {
    "viewer": {
        "articles": [
            "view_article",
            "view_articleurl",
            "view_newspaper",
            "view_repeatedsentence",
            "view_whitelistedsentence",
        ],
        "dedup": [
            "view_cluster",
            "view_decision",
            "view_detectionrun",
            "view_evidence",
            "view_membership",
            "view_pair",
            "view_profile",
            "view_series",
        ],
    },
    "editor": {
        "articles": [
            "add_whitelistedsentence",
            "delete_whitelistedsentence",
            "view_article",
            "view_articleurl",
            "view_newspaper",
            "view_repeatedsentence",
            "view_whitelistedsentence",
        ],
        "dedup": [
            "add_decision",
            "view_cluster",
            "view_decision",
            "view_detectionrun",
            "view_evidence",
            "view_fittedmodel",
            "view_membership",
            "view_pair",
            "view_profile",
            "view_series",
        ],
    },
    "admin": {
        "articles": [
            "add_article",
            "add_extractionrule",
            "add_fileimport",
            "add_newspaper",
            "add_newspaperalias",
            "add_newspapermerge",
            "add_removal",
            "add_whitelistedsentence",
            "change_newspaper",
            "change_newspaperalias",
            "delete_newspaperalias",
            "delete_whitelistedsentence",
            "view_article",
            "view_articleurl",
            "view_extractionrule",
            "view_fileimport",
            "view_newspaper",
            "view_newspaperalias",
            "view_newspapermerge",
            "view_removal",
            "view_repeatedsentence",
            "view_whitelistedsentence",
        ],
        "auth": [
            "add_user",
            "change_user",
            "view_group",
            "view_user",
        ],
        "dedup": [
            "add_decision",
            "add_detectionrun",
            "add_profile",
            "change_profile",
            "delete_profile",
            "view_cluster",
            "view_decision",
            "view_detectionrun",
            "view_evidence",
            "view_fittedmodel",
            "view_membership",
            "view_pair",
            "view_profile",
            "view_series",
        ],
    },
}
# The latest link of each two articles whose decision has not been undone, the state that it gives their pair, if any,
# and its effect on clusters. A question about one pair, or one article, is answered from the index link_latest.
STANDING_LINK = """
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
# The hashes are as good as random: trying to compress them takes time and saves nothing.
UNCOMPRESSED = """
ALTER TABLE dedup_articleshingles ALTER shingles SET STORAGE EXTERNAL;
ALTER TABLE dedup_articlesentences ALTER hashes SET STORAGE EXTERNAL;
ALTER TABLE dedup_shinglesample
    ALTER articles SET STORAGE EXTERNAL, ALTER hashes SET STORAGE EXTERNAL, ALTER owners SET STORAGE EXTERNAL;
"""


def make_roles(apps, schema_editor):
    """Make the roles viewer, editor and admin with their rights."""
    # Permissions are made after the last migration; the groups want them now.
    for label in ("articles", "auth", "contenttypes", "dedup"):
        create_permissions(installed.get_app_config(label), apps=apps, verbosity=0)
    Permission = apps.get_model("auth", "Permission")
    for role, rights in ROLES.items():
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=role)
        for label, codenames in rights.items():
            found = Permission.objects.filter(content_type__app_label=label, codename__in=codenames)
            if found.count() != len(codenames):
                raise LookupError(f"permissions of {label} are missing among {codenames}")
            group.permissions.add(*found)


def make_first_rows(apps, schema_editor):
    """Make the default profile, and the counts of questions, of which there are none."""
    apps.get_model("dedup", "Profile").objects.create(
        name="default", is_default=True, settings={"containment": {"enabled": True}}
    )
    QuestionCount = apps.get_model("dedup", "QuestionCount")
    QuestionCount.objects.bulk_create(
        QuestionCount(tab=tab, number=0) for tab in ("informative", "certain", "clusters", "conflicts")
    )


class Migration(migrations.Migration):

    replaces = [
        ('dedup', '0001_pairs_clusters_decisions'),
        ('dedup', '0002_standing_links'),
        ('dedup', '0003_editor_and_admin_groups'),
        ('dedup', '0004_default_profile'),
        ('dedup', '0005_nightly_runs_and_work_of_blocks'),
        ('dedup', '0006_verdicts_and_series'),
        ('dedup', '0007_default_profile_proposes_more'),
        ('dedup', '0008_groups_see_series'),
        ('dedup', '0009_boilerplate'),
        ('dedup', '0010_paths_of_queued_tasks'),
        ('dedup', '0011_models_of_removed_features'),
        ('dedup', '0012_help_texts_in_plain_words'),
        ('dedup', '0013_shingle_index'),
        ('dedup', '0014_how_much_of_each_article_matched'),
        ('dedup', '0015_default_profile_compares_contained_text'),
        ('dedup', '0016_models_of_other_features'),
        ('dedup', '0019_viewers'),
        ('dedup', '0020_dense_groups'),
        ('dedup', '0021_rules_follow_merged_newspapers'),
        ('dedup', '0022_group_rules_in_the_history'),
        ('dedup', '0023_more_answers'),
        ('dedup', '0024_questions'),
        ('dedup', '0026_article_to_keep'),
        ('dedup', '0027_texts_are_found_and_pages_fetched'),
        ('dedup', '0028_rules_of_profiles'),
        ('dedup', '0029_runs_queued_watched_and_cancelled'),
        ('dedup', '0030_second_readings_batches_and_lessons'),
        ('dedup', '0031_saved_views'),
        ('dedup', '0032_waiting_pairs_by_verdict'),
        ('dedup', '0036_validation_samples'),
        ('dedup', '0038_tokens'),
        ('dedup', '0039_kept_results_of_reports'),
        ('dedup', '0040_counts_of_requests'),
        ('dedup', '0041_webhooks'),
        ('dedup', '0042_kept_sentences'),
        ('dedup', '0043_marks_of_what_is_up_to_date'),
        ('dedup', '0044_what_verdicts_rest_on'),
        ('dedup', '0046_results_of_a_cluster'),
        ('dedup', '0047_lists_of_a_million_pairs'),
        ('dedup', '0048_samples_of_shingles'),
        ('dedup', '0049_admins_save_extraction_rules'),
        ('dedup', '0050_admins_import_files'),
        ('dedup', '0051_waiting_nights_and_alarms_to_webhooks'),
        ('dedup', '0052_models_of_one_subject'),
        ('dedup', '0053_decisions_become_tombstones'),
        ('dedup', '0054_admins_remove_and_withhold'),
        ('dedup', '0055_kept_corpora'),
        ('dedup', '0056_moved_tasks'),
    ]

    initial = True

    dependencies = [
        ("articles", "0001_squashed_0028_removals_and_withheld_articles"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("django_tasks_database", "0021_conditional_partial_index_ordering"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AtOnce(
            migrations.CreateModel(
                name='Cluster',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('proposed', 'proposed'), ('confirmed', 'confirmed')], default='proposed', max_length=9)),
                    ('size', models.PositiveIntegerField()),
                    ('lowest_score', models.FloatField(help_text='The lowest verdict probability of the pairs that hold the cluster together, 0 to 1.')),
                    ('first_day', models.DateField()),
                    ('last_day', models.DateField()),
                    ('kept', models.ForeignKey(help_text='The article that represents the cluster.', on_delete=django.db.models.deletion.PROTECT, related_name='kept_by', to='articles.article')),
                ],
                options={
                    'ordering': ['-size', 'id'],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='membership', to='articles.article')),
                    ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='dedup.cluster')),
                ],
                options={
                    'ordering': ['article__date', 'article_id'],
                },
            ),
            migrations.CreateModel(
                name='Pair',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('undecided', 'undecided'), ('confirmed', 'confirmed duplicate'), ('rejected', 'not a duplicate'), ('version', 'another version'), ('template', 'a template'), ('unsure', 'unsure')], default='undecided', help_text='What editors decided last, or what their decisions on other pairs imply. Decisions that were undone do not count.', max_length=9)),
                    ('best_score', models.FloatField(default=0.0, help_text='The highest score of its current evidence, 0 to 1.')),
                    ('days_apart', models.PositiveIntegerField(help_text='Days between the two publication dates.')),
                    ('same_newspaper', models.BooleanField()),
                    ('found_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('left', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pairs_as_left', to='articles.article')),
                    ('right', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pairs_as_right', to='articles.article')),
                    ('duplicate_probability', models.FloatField(help_text='The probability that the two articles are duplicates, 0 to 1.', null=True)),
                    ('joins', models.BooleanField(db_default=False, help_text='Whether the verdict puts both articles in one cluster.')),
                    ('probability', models.FloatField(help_text='The probability of the verdict, 0 to 1.', null=True)),
                    ('reasons', models.JSONField(db_default=[], default=list, help_text='The reasons for the verdict, one sentence each.')),
                    ('verdict', models.CharField(blank=True, choices=[('duplicate', 'duplicate'), ('version', 'version'), ('template', 'template'), ('similar', 'similar')], db_default='', help_text='The result of the full comparison. Empty: not compared yet.', max_length=9)),
                    ('left_matched', models.FloatField(help_text="The share of the left article's words that the right one has in matching sentences, 0 to 1.", null=True)),
                    ('right_matched', models.FloatField(help_text="The same of the right article's words, 0 to 1.", null=True)),
                    ('implied', models.BooleanField(db_default=False, help_text='Whether the state follows from decisions on other pairs alone.')),
                    ('rests_on', models.BigIntegerField(editable=False, help_text='A digest of what the verdict rests on. When it changes, or is empty, the pair is compared again.', null=True)),
                ],
                options={
                    'ordering': ['-best_score', 'id'],
                    'indexes': [models.Index(fields=['state', '-best_score', 'id'], name='pair_queue'), models.Index(fields=['state', '-duplicate_probability', 'id'], name='pair_queue_by_verdict'), models.Index(condition=models.Q(('joins', True)), fields=['left'], name='pair_joins'), models.Index(condition=models.Q(('best_score__gt', 0), ('state', 'undecided')), fields=['verdict', '-duplicate_probability', 'id'], name='pair_waiting_by_verdict'), models.Index(fields=['-duplicate_probability', 'id'], name='pair_by_probability'), models.Index(django.db.models.functions.math.Abs(django.db.models.expressions.CombinedExpression(models.F('duplicate_probability'), '-', models.Value(0.5))), models.F('id'), condition=models.Q(('duplicate_probability__isnull', False), ('state', 'undecided')), name='pair_doubt'), models.Index(condition=models.Q(('same_newspaper', True)), fields=['-duplicate_probability', 'id'], name='pair_same_newspaper'), models.Index(condition=models.Q(('best_score__gt', 0), ('rests_on', None)), fields=['id'], name='pair_to_judge'), models.Index(condition=models.Q(('best_score', 0), ('rests_on__isnull', False)), fields=['id'], name='pair_unproposed')],
                    'constraints': [models.UniqueConstraint(fields=('left', 'right'), name='one_row_a_pair'), models.CheckConstraint(condition=models.Q(('left__lt', models.F('right'))), name='pair_in_order'), models.CheckConstraint(condition=models.Q(('best_score__range', (0, 1))), name='pair_score_range')],
                },
            ),
            migrations.CreateModel(
                name='Decision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('confirm', 'confirmed the pair'), ('reject', 'rejected the pair'), ('version', 'called the pair versions'), ('template', 'called the pair templates'), ('unsure', 'was unsure of the pair'), ('confirm_cluster', 'confirmed the cluster'), ('reject_cluster', 'dissolved the cluster'), ('split_cluster', 'split the cluster'), ('merge_clusters', 'merged clusters'), ('confirm_group', 'confirmed the dense group'), ('rule_group', 'made it a rule: never duplicates'), ('end_group_rule', 'ended the rule'), ('take_out', 'took an article out'), ('keep', 'chose the article to keep'), ('batch', 'decided a batch'), ('undo', 'undid a decision')], max_length=15)),
                    ('decided_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('cluster_number', models.BigIntegerField(null=True)),
                    ('articles', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='The ids of the articles it was about.', size=None)),
                    ('note', models.TextField(blank=True)),
                    ('article', models.ForeignKey(help_text='The article that was taken out or kept.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='articles.article')),
                    ('decided_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL)),
                    ('undoes', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='undone_by', to='dedup.decision')),
                    ('pair', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='dedup.pair')),
                    ('group_number', models.BigIntegerField(help_text='The dense group it was about, which may be gone too.', null=True)),
                    ('tombstone', models.BooleanField(db_default=False, default=False, editable=False, help_text='Whether an article that it was about was removed: who, when, what and the ids are left.')),
                ],
                options={
                    'ordering': ['-id'],
                    'indexes': [models.Index(fields=['decided_by', '-decided_at'], name='decision_of_editor'), models.Index(django.db.models.functions.text.MD5(django.db.models.functions.text.Concat(models.Value('second reading ', models.TextField()), django.db.models.functions.comparison.Cast('pair_id', models.TextField()))), condition=models.Q(('pair__isnull', False), ('undoes', None)), name='decision_drawn')],
                },
            ),
            migrations.CreateModel(
                name='Profile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, unique=True)),
                    ('is_default', models.BooleanField(default=False, help_text='Runs that name no profile use this one.')),
                    ('settings', models.JSONField(blank=True, default=dict, help_text='The settings that differ from the defaults, by pass.')),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('nightly_at', models.TimeField(blank=True, help_text='Every day at this time, a worker compares articles that are new or have changed. Empty: never.', null=True)),
                    ('nightly_due', models.DateTimeField(editable=False, help_text='When the next nightly run starts.', null=True)),
                    ('versions_join', models.BooleanField(default=False, help_text='Whether a new version of an article joins its cluster. Duplicates always do.', verbose_name='versions join clusters')),
                    ('boilerplate', models.CharField(choices=[('keep', 'kept'), ('story', 'removed from all articles except the first'), ('topic', 'removed from all articles')], default='keep', help_text='How sentences shared by many articles of a newspaper in one week are treated when texts are compared. Stored articles never change.', max_length=5)),
                    ('keep_rule', models.CharField(choices=[('earliest', 'the earliest'), ('agency', 'the earliest that credits a news agency'), ('longest', 'the longest')], db_default='earliest', default='earliest', help_text="Which article represents its cluster, unless an editor chose one. Among equals, the earliest. The default profile's rule counts; all clusters follow it from the next full run.", max_length=8, verbose_name='article to keep')),
                    ('asked_from', models.FloatField(db_default=0.1, default=0.1, help_text='From this probability of being duplicates on, 0 to 1, editors are asked about versions, templates and similar pairs. They are asked about all duplicates. The setting of the default profile counts.', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)], verbose_name='asked from')),
                    ('nightly_waits_since', models.DateTimeField(editable=False, help_text='When the nightly run was due that waits until another run ends.', null=True)),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('is_default',), name='one_default_profile')],
                },
            ),
            migrations.CreateModel(
                name='DetectionRun',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('profile_name', models.CharField(blank=True, max_length=100)),
                    ('config', models.JSONField(help_text='The settings of every pass when the run started.')),
                    ('scope', models.JSONField(help_text='What was compared: since, until, newspapers, passes, newer_than, boilerplate.')),
                    ('state', models.CharField(choices=[('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('interrupted', 'interrupted')], default='running', max_length=11)),
                    ('counts', models.JSONField(default=dict, help_text='Numbers of articles, pairs by pass, and clusters.')),
                    ('error', models.TextField(blank=True)),
                    ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='detection_runs', to=settings.AUTH_USER_MODEL)),
                    ('profile', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='dedup.profile')),
                    ('cancelled_at', models.DateTimeField(help_text='When somebody asked this run to stop.', null=True)),
                    ('cancelled_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('results', models.CharField(blank=True, db_default='', default='', editable=False, help_text='A hash of the results of a run on a cluster that this run stored; empty if it searched here.', max_length=32)),
                ],
                options={
                    'ordering': ['-started_at', '-id'],
                },
            ),
            migrations.CreateModel(
                name='Evidence',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pass_name', models.CharField(max_length=20)),
                    ('score', models.FloatField(help_text="The pass's similarity score, 0 to 1.")),
                    ('details', models.JSONField(default=dict)),
                    ('stale', models.BooleanField(default=False)),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='evidence', to='dedup.detectionrun')),
                    ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evidence', to='dedup.pair')),
                ],
                options={
                    'verbose_name_plural': 'evidence',
                    'ordering': ['id'],
                    'indexes': [models.Index(fields=['run', 'pass_name'], name='evidence_run'), models.Index(condition=models.Q(('details__has_key', 'leftover')), fields=['pair'], name='evidence_leftover')],
                    'constraints': [models.UniqueConstraint(fields=('pair', 'pass_name'), name='one_evidence_a_pass'), models.CheckConstraint(condition=models.Q(('score__range', (0, 1))), name='evidence_score_range')],
                },
            ),
            migrations.CreateModel(
                name='RunBlock',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pass_name', models.CharField(max_length=20)),
                    ('first_day', models.DateField()),
                    ('last_day', models.DateField()),
                    ('pairs', models.PositiveIntegerField(help_text='Pairs that reached the threshold and were kept.')),
                    ('seconds', models.FloatField(help_text='Wall-clock time in seconds.')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='dedup.detectionrun')),
                    ('candidates', models.PositiveBigIntegerField(default=0, help_text="Pairs that passed the pass's quick filter.")),
                    ('verified', models.PositiveBigIntegerField(default=0, help_text='Candidates that the pass then scored exactly.')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('run', 'pass_name', 'first_day'), name='one_mark_a_block')],
                },
            ),
            migrations.CreateModel(
                name='Link',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('must', 'must be in one cluster'), ('cannot', 'cannot be in one cluster'), ('stay', 'stays in one cluster when another article is taken out'), ('version', 'is another version of the same article'), ('template', 'has the same form and other facts; cannot be in one cluster'), ('unsure', 'left open')], max_length=8)),
                    ('decision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='links', to='dedup.decision')),
                    ('left', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.article')),
                    ('right', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.article')),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [models.Index(fields=['left', 'right', '-decision'], name='link_latest')],
                    'constraints': [models.UniqueConstraint(fields=('decision', 'left', 'right'), name='one_link_a_decision'), models.CheckConstraint(condition=models.Q(('left__lt', models.F('right'))), name='link_in_order')],
                },
            ),
            migrations.CreateModel(
                name='FittedModel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('content', models.TextField(help_text='The coefficients of the model, as JSON.')),
                    ('decisions', models.PositiveIntegerField(help_text='The number of decided pairs it was learnt from.')),
                    ('fitted_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('in_use', models.BooleanField(default=False)),
                ],
                options={
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('in_use', True)), fields=('in_use',), name='one_model_in_use')],
                },
            ),
            migrations.CreateModel(
                name='HeadlineForm',
                fields=[
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='headline_form', serialize=False, to='articles.article')),
                    ('date', models.DateField()),
                    ('form', models.TextField()),
                    ('revision', models.BigIntegerField(help_text='The revision of the article when its form was computed.')),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                    ('characters', models.IntegerField(help_text="The length of the article's content at that time.", null=True)),
                ],
                options={
                    'indexes': [models.Index(models.F('newspaper'), django.db.models.functions.text.MD5('form'), name='headline_form'), models.Index(fields=['date'], name='headline_form_date')],
                },
            ),
            migrations.CreateModel(
                name='Series',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('form', models.TextField()),
                    ('headline', models.TextField(help_text='The headline of the latest article.')),
                    ('articles', models.PositiveIntegerField()),
                    ('days', models.PositiveIntegerField(help_text='Days with at least one article.')),
                    ('first_day', models.DateField()),
                    ('last_day', models.DateField()),
                    ('ruled_at', models.DateTimeField(null=True)),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='series', to='articles.newspaper')),
                    ('ruled_by', models.ForeignKey(help_text='The editor who made the rule that its articles are never duplicates of each other.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('made_for', models.ForeignKey(editable=False, help_text='The newspaper that the rule was made for, if that was merged into this one.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                ],
                options={
                    'verbose_name_plural': 'series',
                    'ordering': ['-articles', 'id'],
                    'constraints': [models.UniqueConstraint(models.F('newspaper'), django.db.models.functions.text.MD5('form'), name='one_row_a_series')],
                },
            ),
            migrations.CreateModel(
                name='ArticleShingles',
                fields=[
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='shingles', serialize=False, to='articles.article')),
                    ('date', models.DateField()),
                    ('shingles', models.BinaryField(help_text='Their hashes: 32 bits each, little-endian, ascending and distinct.')),
                    ('revision', models.BigIntegerField(help_text='The revision of the article when its shingles were computed.')),
                    ('newspaper', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                ],
                options={
                    'verbose_name_plural': 'article shingles',
                    'indexes': [models.Index(fields=['newspaper', 'date'], name='article_shingles_around')],
                },
            ),
            migrations.CreateModel(
                name='DenseGroup',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('size', models.PositiveIntegerField()),
                    ('newspapers', models.PositiveIntegerField(help_text='Newspapers with at least one article.')),
                    ('first_day', models.DateField()),
                    ('last_day', models.DateField()),
                    ('pairs', models.PositiveIntegerField(help_text='Pairs that the passes kept between its crowded articles.')),
                    ('passes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), help_text='The passes that kept only some of its pairs.', size=None)),
                    ('fingerprint', models.CharField(help_text='Changes whenever its articles do.', max_length=64)),
                    ('ruled_at', models.DateTimeField(null=True)),
                    ('first', models.ForeignKey(help_text='The earliest article by day and id.', on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.article')),
                    ('ruled_by', models.ForeignKey(help_text='The editor who made the rule that its articles are never duplicates of each other.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-size', 'id'],
                },
            ),
            migrations.CreateModel(
                name='GroupMember',
                fields=[
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='group_member', serialize=False, to='articles.article')),
                    ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='dedup.densegroup')),
                ],
            ),
            migrations.CreateModel(
                name='CrowdedArticle',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pass_name', models.CharField(max_length=20)),
                    ('near', models.PositiveIntegerField(help_text='At least so many articles reach the threshold of the pass with it.')),
                    ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='crowded', to='articles.article')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='dedup.detectionrun')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('pass_name', 'article'), name='one_crowd_a_pass')],
                },
            ),
            migrations.CreateModel(
                name='ConfirmedArticle',
                fields=[
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='articles.article')),
                    ('first', models.BigIntegerField(db_index=True, help_text='The lowest id of the articles that are tied together.')),
                ],
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
            migrations.CreateModel(
                name='Batch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('confirm', 'duplicate'), ('version', 'version'), ('template', 'template'), ('reject', 'not a duplicate'), ('unsure', 'unsure')], help_text='The answer for the whole.', max_length=8)),
                    ('query', models.TextField(blank=True, help_text='The filter of the list that it was begun from, as a query string.')),
                    ('seed', models.BigIntegerField(help_text='What the sample was drawn with.')),
                    ('size', models.PositiveIntegerField(help_text='The number of questions when it was begun.')),
                    ('drawn', models.PositiveIntegerField(help_text='The number of questions in the sample.')),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('after', models.BigIntegerField(help_text='The number of the last decision before it was begun, 0 for none.')),
                    ('wrong', models.PositiveIntegerField(help_text='How many of the sample were answered otherwise.', null=True)),
                    ('left_out', models.JSONField(default=dict, help_text='The number of questions left out, by reason.')),
                    ('decision', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='batch', to='dedup.decision')),
                    ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name_plural': 'batches',
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='BatchItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('cluster_number', models.BigIntegerField(null=True)),
                    ('articles', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), help_text='The ids of its articles, ascending.', size=None)),
                    ('revision', models.BigIntegerField(help_text='The highest revision of its articles.')),
                    ('verdict', models.CharField(blank=True, help_text='The verdict on the pair.', max_length=9)),
                    ('place', models.PositiveIntegerField(help_text='Its place in the sample, from 1; empty if not drawn.', null=True)),
                    ('answer', models.ForeignKey(help_text='The answer, if it was drawn.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='dedup.decision')),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='dedup.batch')),
                    ('pair', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='dedup.pair')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('batch', 'place'), name='one_place_in_the_sample'), models.CheckConstraint(condition=models.Q(('pair__isnull', False), ('cluster_number__isnull', False), _connector='XOR'), name='item_is_pair_or_cluster')],
                },
            ),
            migrations.CreateModel(
                name='Lesson',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('waiting', 'waiting for a worker'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='waiting', max_length=7)),
                    ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('error', models.TextField(blank=True)),
                    ('result', models.JSONField(default=dict, help_text='What was learnt, and what it would change.')),
                    ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('model', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lessons', to='dedup.fittedmodel')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='SecondReading',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('first_kind', models.CharField(choices=[('confirm', 'duplicate'), ('version', 'version'), ('template', 'template'), ('reject', 'not a duplicate'), ('unsure', 'unsure')], help_text='What the first decision says about this pair.', max_length=8)),
                    ('kind', models.CharField(choices=[('confirm', 'duplicate'), ('version', 'version'), ('template', 'template'), ('reject', 'not a duplicate'), ('unsure', 'unsure')], max_length=8)),
                    ('note', models.TextField(blank=True)),
                    ('blind', models.BooleanField(help_text='Whether the editor answered without seeing the first answer.')),
                    ('read_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('decision', models.ForeignKey(help_text='The first answer.', on_delete=django.db.models.deletion.PROTECT, related_name='second_readings', to='dedup.decision')),
                    ('pair', models.ForeignKey(help_text='Null if an article of the pair was removed.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='second_readings', to='dedup.pair')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='second_readings', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(fields=('decision', 'user', 'pair'), name='one_reading_an_editor'), models.UniqueConstraint(condition=models.Q(('blind', True)), fields=('decision', 'pair'), name='one_blind_reading')],
                },
            ),
            migrations.CreateModel(
                name='ProfileRule',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('settings', models.JSONField(blank=True, default=dict, help_text="Lowest scores and most days that differ from the profile's, by pass.")),
                    ('left_out', models.BooleanField(default=False, help_text='Whether these pairs are not proposed at all.')),
                    ('retired', models.BooleanField(default=False, help_text='Whether runs hide pairs of earlier runs that this rule does not allow.')),
                    ('newspaper', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                    ('other', models.ForeignKey(blank=True, help_text='Empty: the rule holds for pairs with any newspaper.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                    ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='dedup.profile')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('other__isnull', True)), fields=('profile', 'newspaper'), name='one_rule_a_newspaper'), models.UniqueConstraint(fields=('profile', 'newspaper', 'other'), name='one_rule_a_pair_of_newspapers'), models.CheckConstraint(condition=models.Q(('other__isnull', True), ('newspaper__lte', models.F('other')), _connector='OR'), name='rule_newspapers_in_order')],
                },
            ),
            migrations.CreateModel(
                name='Worker',
                fields=[
                    ('name', models.CharField(max_length=64, primary_key=True, serialize=False)),
                    ('seen_at', models.DateTimeField()),
                ],
                options={
                    'ordering': ['-seen_at'],
                },
            ),
            migrations.CreateModel(
                name='RunRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('since', models.DateField(null=True)),
                    ('until', models.DateField(null=True)),
                    ('newspapers', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, help_text='Their ids in order; empty: all.', size=None)),
                    ('new', models.BooleanField(default=False, help_text='Compare only articles that are new or have changed.')),
                    ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('task_id', models.UUIDField(help_text='The task that a worker executes.', null=True)),
                    ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dedup.profile')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='dedup.detectionrun')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='RunPhase',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=20)),
                    ('position', models.PositiveSmallIntegerField()),
                    ('state', models.CharField(choices=[('ahead', 'ahead'), ('running', 'running'), ('done', 'done')], default='ahead', max_length=7)),
                    ('total', models.PositiveBigIntegerField(help_text='How much there is to do; none if nothing is counted.', null=True)),
                    ('done', models.PositiveBigIntegerField(default=0)),
                    ('found', models.PositiveBigIntegerField(default=0, help_text='Pairs, or sentences of boilerplate.')),
                    ('seconds', models.FloatField(default=0, help_text='Wall-clock time; passes that work at the same time share it by their work.')),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phases', to='dedup.detectionrun')),
                ],
                options={
                    'ordering': ['position'],
                    'constraints': [models.UniqueConstraint(fields=('run', 'name'), name='one_row_a_phase')],
                },
            ),
            migrations.CreateModel(
                name='QuestionCount',
                fields=[
                    ('tab', models.CharField(max_length=20, primary_key=True, serialize=False)),
                    ('number', models.BigIntegerField(default=0)),
                ],
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
            migrations.CreateModel(
                name='PageFetch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.TextField()),
                    ('fetched_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name_plural': 'page fetches',
                    'indexes': [models.Index(fields=['user', 'fetched_at'], name='page_fetches_of_user')],
                },
            ),
            migrations.CreateModel(
                name='SavedView',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('page', models.CharField(choices=[('queue', 'Queue'), ('clusters', 'Clusters'), ('series_list', 'Series'), ('groups', 'Dense groups'), ('boilerplate_list', 'Boilerplate'), ('articles', 'Articles'), ('history', 'History'), ('disagreements', 'Disagreements')], help_text='The name of its address.', max_length=20)),
                    ('name', models.CharField(max_length=60)),
                    ('query', models.CharField(help_text='What the address has behind its question mark.', max_length=1000)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['page', 'name'],
                    'constraints': [models.UniqueConstraint(fields=('user', 'page', 'name'), name='one_view_a_name')],
                },
            ),
            migrations.CreateModel(
                name='ValidationSample',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, unique=True)),
                    ('seed', models.BigIntegerField(help_text='What it was drawn with: the same archive and seed give the same pairs.')),
                    ('options', models.JSONField(help_text='How it was drawn: sizes, pass, score bands, what the strata differ in.')),
                    ('strata', models.JSONField(help_text='The strata with their sizes, in order.')),
                    ('size', models.PositiveIntegerField(help_text='The number of its pairs.')),
                    ('readers', models.PositiveSmallIntegerField(help_text='How many people are to read each pair.')),
                    ('drawn_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('opened_at', models.DateTimeField(help_text='When its results were opened before all labels were in.', null=True)),
                    ('drawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('opened_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('run', models.ForeignKey(help_text='The last run before it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dedup.detectionrun')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='SampledPair',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField(help_text='Its place in the order of reading, from 1; strata are mixed.')),
                    ('stratum', models.CharField(max_length=200)),
                    ('weight', models.FloatField(help_text='The pairs of its stratum, divided by those drawn from it.')),
                    ('revision', models.BigIntegerField(help_text='The highest revision of the two articles when it was drawn.')),
                    ('settled', models.CharField(blank=True, choices=[('D', 'Duplicate'), ('V', 'Version'), ('T', 'Template'), ('E', 'Same event'), ('N', 'Unrelated')], help_text='The label that settled a disagreement.', max_length=1)),
                    ('settled_at', models.DateTimeField(null=True)),
                    ('settled_note', models.TextField(blank=True)),
                    ('left', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.article')),
                    ('right', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='articles.article')),
                    ('settled_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('sample', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='dedup.validationsample')),
                ],
                options={
                    'ordering': ['sample', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('sample', 'position'), name='one_pair_a_position'), models.UniqueConstraint(fields=('sample', 'left', 'right'), name='one_place_a_pair'), models.CheckConstraint(condition=models.Q(('left__lt', models.F('right'))), name='sampled_pair_in_order'), models.CheckConstraint(condition=models.Q(('weight__gt', 0)), name='sampled_pair_weight')],
                },
            ),
            migrations.CreateModel(
                name='SampleLabel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reader', models.CharField(help_text='A user name, or a name that import_labels was given.', max_length=150)),
                    ('label', models.CharField(choices=[('D', 'Duplicate'), ('V', 'Version'), ('T', 'Template'), ('E', 'Same event'), ('N', 'Unrelated')], max_length=1)),
                    ('note', models.TextField(blank=True)),
                    ('imported', models.BooleanField(default=False, help_text='Whether it came from a file.')),
                    ('labelled_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='dedup.sampledpair')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('pair', 'reader'), name='one_label_a_reader')],
                },
            ),
            migrations.CreateModel(
                name='Token',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('start', models.CharField(help_text='Its first characters, by which its owner recognises it.', max_length=16)),
                    ('digest', models.CharField(help_text='The SHA-256 of the token, in hexadecimal.', max_length=64, unique=True)),
                    ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'read articles, pairs, clusters, stories, decisions and runs, and check texts'), ('store', 'store articles'), ('decide', 'decide on pairs, and undo decisions'), ('run', 'start runs'), ('webhooks', 'make, change and delete your webhooks'), ('feed', 'read feeds, with the token in the address')], max_length=10), size=None)),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('used_at', models.DateTimeField(help_text='When it was last used, to the minute.', null=True)),
                    ('expires_at', models.DateTimeField(null=True)),
                    ('revoked_at', models.DateTimeField(null=True)),
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
                    ('revoked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='StoredReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('report', models.CharField(max_length=40)),
                    ('asked', models.JSONField(help_text='The scope and the options.')),
                    ('key', models.CharField(help_text='A digest of what was asked.', max_length=64)),
                    ('waiting_since', models.DateTimeField(help_text='Since when somebody waits for it to be counted.', null=True)),
                    ('error', models.TextField(blank=True, default='', help_text='Why it could not be counted.')),
                    ('counted_at', models.DateTimeField(null=True)),
                    ('seconds', models.FloatField(default=0.0, help_text='How long counting took, without drawing.')),
                    ('last_decision', models.BigIntegerField(default=0, help_text='The number of the last decision at that time.')),
                    ('newest_revision', models.BigIntegerField(default=0, help_text='The highest revision of an article at that time.')),
                    ('result', models.TextField(blank=True, default='', help_text='The result as JSON.')),
                    ('shown', models.JSONField(help_text='The sentence, tables, charts and files that show the result.', null=True)),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('run', models.ForeignKey(help_text='The last run at that time.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='dedup.detectionrun')),
                ],
                options={
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(fields=('report', 'key'), name='one_result_a_question')],
                },
            ),
            migrations.CreateModel(
                name='TokenUse',
                fields=[
                    ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='dedup.token')),
                    ('minute', models.IntegerField(help_text='Minutes since 1970.')),
                    ('used', models.IntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.TextField()),
                    ('secret', models.CharField(help_text='With it, the receiver checks the signature.', max_length=80)),
                    ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('cluster.new', 'a cluster is new'), ('cluster.changed', 'the articles of a cluster, or the one to keep, change'), ('cluster.confirmed', 'editors confirm a cluster'), ('alarm', 'something needs an admin: an alarm begins, lasts or is over')], max_length=20), size=None)),
                    ('active', models.BooleanField(default=True)),
                    ('fault', models.TextField(blank=True, help_text='Why the program has switched it off; empty if it has not.')),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('message', models.UUIDField(default=uuid.uuid4, help_text='Its id for the receiver, the same at every attempt.')),
                    ('event', models.CharField(max_length=20)),
                    ('body', models.TextField()),
                    ('state', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('given up', 'given up')], default='waiting', max_length=9)),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it is tried next.')),
                    ('tried_at', models.DateTimeField(null=True)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('answer', models.TextField(blank=True, help_text='What came back last: a status, or why there was none.')),
                    ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='dedup.webhook')),
                ],
                options={
                    'verbose_name_plural': 'deliveries',
                    'ordering': ['-id'],
                    'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['due_at', 'id'], name='delivery_due')],
                },
            ),
            migrations.CreateModel(
                name='ChangedArticle',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('article', models.BigIntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='UpToDate',
                fields=[
                    ('name', models.CharField(max_length=20, primary_key=True, serialize=False)),
                    ('revision', models.BigIntegerField()),
                    ('rests_on', models.CharField(blank=True, default='', max_length=64)),
                ],
                options={
                    'verbose_name_plural': 'marks of what is up to date',
                },
            ),
            migrations.CreateModel(
                name='ArticleSentences',
                fields=[
                    ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='sentences', serialize=False, to='articles.article')),
                    ('revision', models.BigIntegerField(help_text='The revision of the article when its sentences were marked.')),
                    ('hashes', models.BinaryField(help_text='Their hashes: 64 bits each, little-endian, ascending and distinct.')),
                    ('marks', models.BinaryField(help_text='Their lengths and whether they have a name: 16 bits each, little-endian.')),
                ],
                options={
                    'verbose_name_plural': 'article sentences',
                },
            ),
            migrations.CreateModel(
                name='NewspaperMonth',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('month', models.DateField(help_text='The first day of the month.')),
                    ('digest', models.BigIntegerField(help_text='A digest of the articles that it is learnt from, and of how.')),
                    ('articles', models.PositiveIntegerField(help_text='The number of articles that it is learnt from.')),
                    ('phrases', models.BinaryField(help_text='Hashes of the phrases that recur: 32 bits each, little-endian, ascending and distinct.')),
                    ('common', models.TextField(help_text='The words that are common, with blanks between them.')),
                    ('newspaper', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.newspaper')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('newspaper', 'month'), name='one_row_a_newspaper_and_month')],
                },
            ),
            migrations.CreateModel(
                name='ShingleSample',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('count', models.PositiveIntegerField(help_text='The number of articles.')),
                    ('articles', models.BinaryField(help_text='Their ids: 64 bits each, little-endian.')),
                    ('hashes', models.BinaryField(help_text='The hashes: 32 bits each, little-endian, ascending.')),
                    ('owners', models.BinaryField(help_text='The place of the article of each: 16 bits each, little-endian.')),
                ],
            ),
            migrations.CreateModel(
                name='CorpusExport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('asked', models.JSONField(help_text='The values of the form.')),
                    ('state', models.CharField(choices=[('waiting', 'waiting for a worker'), ('running', 'being written'), ('finished', 'ready'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='waiting', max_length=9)),
                    ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('started_at', models.DateTimeField(null=True)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('articles', models.PositiveBigIntegerField(default=0, help_text='How many articles were chosen.')),
                    ('done', models.PositiveBigIntegerField(default=0, help_text='How many of them are written or left out.')),
                    ('files', models.JSONField(default=list, help_text='What its files have, their names, and their bytes.')),
                    ('description', models.JSONField(help_text='The description of its files.', null=True)),
                    ('error', models.TextField(blank=True, help_text='Why it failed.')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='CorpusPart',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('content', models.CharField(help_text='Which file it is of: corpus, removed or description.', max_length=11)),
                    ('number', models.PositiveIntegerField(help_text='Its place in the file, from 0.')),
                    ('data', models.BinaryField()),
                    ('export', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='dedup.corpusexport')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('export', 'content', 'number'), name='corpus_part_once')],
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='decision',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n        IF TG_OP = 'UPDATE' AND NEW.tombstone AND NEW.note = ''\n    AND (NEW.pair_id IS NULL OR NEW.pair_id = OLD.pair_id)\n    AND (NEW.article_id IS NULL OR NEW.article_id = OLD.article_id)\n    AND to_jsonb(NEW) - '{pair_id,article_id,note,tombstone}'::text[]\n        = to_jsonb(OLD) - '{pair_id,article_id,note,tombstone}'::text[]\n    AND EXISTS (\n    SELECT FROM articles_removal AS removal\n    JOIN articles_article AS article\n        ON article.id = ANY (removal.article_ids) OR article.newspaper_id = ANY (removal.newspaper_ids)\n    WHERE removal.id = nullif(current_setting('newsdedup.removal', true), '')::bigint\n      AND removal.state = 'running' AND article.id = ANY (OLD.articles || ARRAY(SELECT unnest(ARRAY[left_id, right_id]) FROM dedup_pair WHERE id = OLD.pair_id))\n) THEN\n            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n            RETURN NEW;\n        END IF;\n        RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;\n        ", hash='9c2b642ca790e23eb9492fb3bcc51ae454a4aea4', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_e9c03', table='dedup_decision', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='link',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n        IF TG_OP = 'DELETE' AND EXISTS (\n    SELECT FROM articles_removal AS removal\n    JOIN articles_article AS article\n        ON article.id = ANY (removal.article_ids) OR article.newspaper_id = ANY (removal.newspaper_ids)\n    WHERE removal.id = nullif(current_setting('newsdedup.removal', true), '')::bigint\n      AND removal.state = 'running' AND article.id = ANY (ARRAY[OLD.left_id, OLD.right_id])\n) THEN\n            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n            RETURN NEW;\n        END IF;\n        RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;\n        ", hash='e080bfbfb84b813f7af75cddd12066787a179da4', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_6bfc9', table='dedup_link', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='secondreading',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n        IF TG_OP = 'UPDATE' AND NEW.pair_id IS NULL AND NEW.note = ''\n    AND to_jsonb(NEW) - '{pair_id,note}'::text[] = to_jsonb(OLD) - '{pair_id,note}'::text[]\n    AND EXISTS (\n    SELECT FROM articles_removal AS removal\n    JOIN articles_article AS article\n        ON article.id = ANY (removal.article_ids) OR article.newspaper_id = ANY (removal.newspaper_ids)\n    WHERE removal.id = nullif(current_setting('newsdedup.removal', true), '')::bigint\n      AND removal.state = 'running' AND article.id = ANY (ARRAY(SELECT unnest(ARRAY[left_id, right_id]) FROM dedup_pair WHERE id = OLD.pair_id))\n) THEN\n            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n            RETURN NEW;\n        END IF;\n        RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;\n        ", hash='520b02045758d24a2cdfde38f22ce837936dda26', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_e4f9a', table='dedup_secondreading', when='BEFORE')),
            ),
        ),
        migrations.RunSQL(STANDING_LINK, "DROP VIEW dedup_standing_link"),
        migrations.RunSQL(UNCOMPRESSED, migrations.RunSQL.noop),
        migrations.RunPython(make_roles, migrations.RunPython.noop),
        migrations.RunPython(make_first_rows, migrations.RunPython.noop),
    ]
