"""Dense groups and their crowded articles; decisions on a group."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("articles", "0009_publication_time"),
        ("dedup", "0019_viewers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="group_number",
            field=models.BigIntegerField(help_text="The dense group it was about, which may be gone too.", null=True),
        ),
        migrations.AlterField(
            model_name="decision",
            name="kind",
            field=models.CharField(choices=[("confirm", "confirmed the pair"), ("reject", "rejected the pair"), ("unsure", "was unsure of the pair"), ("confirm_cluster", "confirmed the cluster"), ("reject_cluster", "dissolved the cluster"), ("confirm_group", "confirmed the dense group"), ("take_out", "took an article out"), ("keep", "chose the article to keep"), ("undo", "undid a decision")], max_length=15),
        ),
        migrations.CreateModel(
            name="DenseGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("size", models.PositiveIntegerField()),
                ("newspapers", models.PositiveIntegerField(help_text="Newspapers with at least one article.")),
                ("first_day", models.DateField()),
                ("last_day", models.DateField()),
                ("pairs", models.PositiveIntegerField(help_text="Pairs that the passes kept between its crowded articles.")),
                ("passes", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), help_text="The passes that kept only some of its pairs.", size=None)),
                ("fingerprint", models.CharField(help_text="Changes whenever its articles do.", max_length=64)),
                ("ruled_at", models.DateTimeField(null=True)),
                ("first", models.ForeignKey(help_text="The earliest article by day and id.", on_delete=django.db.models.deletion.PROTECT, related_name="+", to="articles.article")),
                ("ruled_by", models.ForeignKey(help_text="The editor who made the rule that its articles are never duplicates of each other.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-size", "id"],
            },
        ),
        migrations.CreateModel(
            name="GroupMember",
            fields=[
                ("article", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="group_member", serialize=False, to="articles.article")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="members", to="dedup.densegroup")),
            ],
        ),
        migrations.CreateModel(
            name="CrowdedArticle",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pass_name", models.CharField(max_length=20)),
                ("near", models.PositiveIntegerField(help_text="At least so many articles reach the threshold of the pass with it.")),
                ("article", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="crowded", to="articles.article")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="dedup.detectionrun")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("pass_name", "article"), name="one_crowd_a_pass")],
            },
        ),
    ]
