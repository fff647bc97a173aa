from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dedup", "0042_kept_sentences")]

    operations = [
        migrations.AddField(
            model_name="detectionrun",
            name="results",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                editable=False,
                help_text="A hash of the results of a run on a cluster that this run stored; "
                "empty if it searched here.",
                max_length=32,
            ),
        ),
    ]
