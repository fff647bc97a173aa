"""Tasks in the queue are stored by the path of their function, and these have moved."""

from django.db import migrations
from django.db.models import F, Value
from django.db.models.functions import Replace

MOVED = {"dedup.runs.": "dedup.detection.runs.", "dedup.evaluation.": "dedup.research."}


def rename(apps, schema_editor):
    _rename(apps, MOVED)


def rename_back(apps, schema_editor):
    _rename(apps, {new: old for old, new in MOVED.items()})


def _rename(apps, paths):
    unfinished = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(finished_at=None)
    for old, new in paths.items():
        unfinished.filter(task_path__startswith=old).update(task_path=Replace(F("task_path"), Value(old), Value(new)))


class Migration(migrations.Migration):
    dependencies = [
        ("dedup", "0055_kept_corpora"),
        ("django_tasks_database", "0021_conditional_partial_index_ordering"),
    ]
    operations = [migrations.RunPython(rename, rename_back)]
