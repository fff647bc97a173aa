"""A profile says which article represents a cluster, and clusters can be split and merged."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0029_runs_queued_watched_and_cancelled'),
    ]

    operations = [
        migrations.AddField(
            model_name='profile',
            name='keep_rule',
            field=models.CharField(choices=[('earliest', 'the earliest'), ('agency', 'the earliest that credits a news agency'), ('longest', 'the longest')], db_default='earliest', default='earliest', help_text="Which article represents its cluster, unless an editor chose one. Among equals, the earliest. The default profile's rule counts; all clusters follow it from the next full run.", max_length=8, verbose_name='article to keep'),
        ),
        migrations.AlterField(
            model_name='decision',
            name='kind',
            field=models.CharField(choices=[('confirm', 'confirmed the pair'), ('reject', 'rejected the pair'), ('version', 'called the pair versions'), ('template', 'called the pair templates'), ('unsure', 'was unsure of the pair'), ('confirm_cluster', 'confirmed the cluster'), ('reject_cluster', 'dissolved the cluster'), ('split_cluster', 'split the cluster'), ('merge_clusters', 'merged clusters'), ('confirm_group', 'confirmed the dense group'), ('rule_group', 'made it a rule: never duplicates'), ('end_group_rule', 'ended the rule'), ('take_out', 'took an article out'), ('keep', 'chose the article to keep'), ('batch', 'decided a batch'), ('undo', 'undid a decision')], max_length=15),
        ),
    ]
