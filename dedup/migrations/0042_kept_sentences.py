"""Keeps the sentences of articles, and stores shingles uncompressed: they are as good as random."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("articles", "0013_search_by_words_and_urls"),
        ("dedup", "0043_marks_of_what_is_up_to_date"),
    ]

    operations = [
        migrations.CreateModel(
            name="ArticleSentences",
            fields=[
                (
                    "article",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sentences",
                        serialize=False,
                        to="articles.article",
                    ),
                ),
                (
                    "revision",
                    models.BigIntegerField(help_text="The revision of the article when its sentences were marked."),
                ),
                (
                    "hashes",
                    models.BinaryField(help_text="Their hashes: 64 bits each, little-endian, ascending and distinct."),
                ),
                (
                    "marks",
                    models.BinaryField(
                        help_text="Their lengths and whether they have a name: 16 bits each, little-endian."
                    ),
                ),
            ],
            options={"verbose_name_plural": "article sentences"},
        ),
        migrations.RunSQL(
            "ALTER TABLE dedup_articleshingles ALTER COLUMN shingles SET STORAGE EXTERNAL",
            "ALTER TABLE dedup_articleshingles ALTER COLUMN shingles SET STORAGE EXTENDED",
        ),
        migrations.RunSQL(
            "ALTER TABLE dedup_articlesentences ALTER COLUMN hashes SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
    ]
