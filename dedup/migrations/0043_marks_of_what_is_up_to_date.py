"""Notes up to which article derived tables are up to date, and how long articles are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dedup", "0041_webhooks")]

    operations = [
        migrations.CreateModel(
            name="ChangedArticle",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("article", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="UpToDate",
            fields=[
                ("name", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("revision", models.BigIntegerField()),
                ("rests_on", models.CharField(blank=True, default="", max_length=64)),
            ],
            options={"verbose_name_plural": "marks of what is up to date"},
        ),
        migrations.AddField(
            model_name="headlineform",
            name="characters",
            field=models.IntegerField(help_text="The length of the article's content at that time.", null=True),
        ),
    ]
