"""Marks of what is up to date are watermarks, and what a verdict or a mark rests on is its input digest."""

from django.db import migrations, models
from django.db.models import Q


def _indexes(column: str) -> list[models.Index]:
    return [
        models.Index(fields=["id"], condition=Q(**{column: None}, best_score__gt=0), name="pair_to_judge"),
        models.Index(fields=["id"], condition=Q(**{f"{column}__isnull": False}, best_score=0), name="pair_unproposed"),
    ]


class Migration(migrations.Migration):
    dependencies = [("dedup", "0100_computed_reports")]

    operations = [
        migrations.RenameModel("UpToDate", "Watermark"),
        migrations.AlterModelOptions("watermark", {}),
        migrations.RenameField("watermark", "rests_on", "input_digest"),
        # PostgreSQL renames a column in the conditions of indexes by itself.
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveIndex("pair", index.name) for index in _indexes("rests_on")]
        ),
        migrations.RenameField("pair", "rests_on", "input_digest"),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.AddIndex("pair", index) for index in _indexes("input_digest")]
        ),
    ]
