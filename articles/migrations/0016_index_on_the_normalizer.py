"""Finds the articles whose forms are outdated: usually none of a million."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("articles", "0013_search_by_words_and_urls")]

    operations = [
        migrations.AddIndex(
            model_name="article", index=models.Index(fields=["normalizer_version"], name="article_normalizer")
        ),
    ]
