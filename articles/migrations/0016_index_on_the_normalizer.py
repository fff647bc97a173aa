"""Finds the articles whose forms are outdated: usually none of a million."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("articles", "0015_lists_of_a_million_articles")]

    operations = [
        migrations.AddIndex(
            model_name="article", index=models.Index(fields=["normalizer_version"], name="article_normalizer")
        ),
    ]
