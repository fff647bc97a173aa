"""Reports are computed, and have a summary: two names of what is kept of their results."""

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
    dependencies = [("dedup", "0091_lessons_are_jobs")]

    operations = [
        migrations.RenameField("storedreport", "counted_at", "computed_at"),
        migrations.RunSQL(RENAME_SQL, BACK_SQL),
    ]
