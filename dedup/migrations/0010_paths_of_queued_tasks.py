"""Tasks in the queue are stored by their path, and their module has moved: a night that is arranged must find it."""

from django.db import migrations

PATHS = {
    "dedup.tasks.find_duplicates_task": "dedup.runs.tasks.find_duplicates_task",
    "dedup.tasks.nightly_task": "dedup.runs.tasks.nightly_task",
}


def rename(apps, schema_editor):
    _rename(apps, PATHS)


def rename_back(apps, schema_editor):
    _rename(apps, {new: old for old, new in PATHS.items()})


def _rename(apps, paths):
    unfinished = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(finished_at=None)
    for old, new in paths.items():
        unfinished.filter(task_path=old).update(task_path=new)


class Migration(migrations.Migration):
    dependencies = [
        ("dedup", "0009_boilerplate"),
        ("django_tasks_database", "0021_conditional_partial_index_ordering"),
    ]
    operations = [migrations.RunPython(rename, rename_back)]
