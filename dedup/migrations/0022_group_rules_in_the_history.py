"""Decisions name the rules on dense groups."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("dedup", "0021_rules_follow_merged_newspapers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="decision",
            name="kind",
            field=models.CharField(choices=[("confirm", "confirmed the pair"), ("reject", "rejected the pair"), ("unsure", "was unsure of the pair"), ("confirm_cluster", "confirmed the cluster"), ("reject_cluster", "dissolved the cluster"), ("confirm_group", "confirmed the dense group"), ("rule_group", "made it a rule: never duplicates"), ("end_group_rule", "ended the rule"), ("take_out", "took an article out"), ("keep", "chose the article to keep"), ("undo", "undid a decision")], max_length=15),
        ),
    ]
