"""The time of the last notice of an alarm says so by its name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("newsdedup_site", "0004_admins_see_alarms")]
    operations = [
        migrations.RemoveIndex("alarm", "alarm_told"),
        migrations.RenameField("alarm", "told_at", "notified_at"),
        migrations.AlterField(
            "alarm", "notified_at", models.DateTimeField(null=True, help_text="When people were last notified.")
        ),
        migrations.AddIndex(
            "alarm", models.Index(fields=["kind", "subject", "-notified_at"], name="alarm_notified")
        ),
    ]
