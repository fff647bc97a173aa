"""Samples of shingles by the thousands of articles, instead of an index with an entry for each."""

from django.db import migrations, models

# The hashes are as good as random: trying to compress them takes time and saves nothing.
_STORE_SQL = """
ALTER TABLE dedup_shinglesample
    ALTER articles SET STORAGE EXTERNAL, ALTER hashes SET STORAGE EXTERNAL, ALTER owners SET STORAGE EXTERNAL;
ALTER TABLE dedup_articleshingles ALTER shingles SET STORAGE EXTERNAL;
"""


class Migration(migrations.Migration):
    dependencies = [("dedup", "0044_what_verdicts_rest_on")]

    operations = [
        migrations.RemoveIndex(model_name="articleshingles", name="article_shingle_sample"),
        migrations.RemoveField(model_name="articleshingles", name="sample"),
        migrations.CreateModel(
            name="ShingleSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("count", models.PositiveIntegerField(help_text="The number of articles.")),
                ("articles", models.BinaryField(help_text="Their ids: 64 bits each, little-endian.")),
                ("hashes", models.BinaryField(help_text="The hashes: 32 bits each, little-endian, ascending.")),
                (
                    "owners",
                    models.BinaryField(help_text="The place of the article of each: 16 bits each, little-endian."),
                ),
            ],
        ),
        migrations.RunSQL(_STORE_SQL, migrations.RunSQL.noop),
    ]
