"""Reports are computed, and have a summary: two names of what is kept of their results."""

import django.db.models.deletion
from django.db import migrations, models

RENAME_SQL = """
UPDATE dedup_storedreport SET shown = (shown - 'says') || jsonb_build_object('summary', shown -> 'says')
WHERE shown ? 'says'
"""
BACK_SQL = """
UPDATE dedup_storedreport SET shown = (shown - 'summary') || jsonb_build_object('says', shown -> 'summary')
WHERE shown ? 'summary'
"""


class Migration(migrations.Migration):
    dependencies = [("dedup", "0080_states_of_links_by_their_names"), ("dedup", "0093_requested_runs_are_jobs")]

    operations = [
        migrations.RenameField("storedreport", "counted_at", "computed_at"),
        migrations.RunSQL(RENAME_SQL, BACK_SQL),
        migrations.AlterField(
            "storedreport",
            "error",
            models.TextField(blank=True, default="", help_text="Why it could not be computed after a run."),
        ),
        migrations.AlterField(
            "storedreport",
            "job",
            models.ForeignKey(
                "articles.job",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                help_text="The job that somebody waits for.",
            ),
        ),
        migrations.AlterField(
            "storedreport",
            "seconds",
            models.FloatField(default=0.0, help_text="How long computing took, without drawing."),
        ),
    ]
