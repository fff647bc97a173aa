"""Removals and extractions that wait for a worker become jobs."""

from django.db import migrations

REMOVAL, WATCH = "newsdedup_site.privacy.tasks.removal_task", "newsdedup_site.privacy.tasks.watch_task"
EXTRACTION = "dedup.detection.runs.reextraction.reextract_task"
JOB_TASK = "articles.jobs.work.job_task"


def make_jobs(apps, schema_editor):
    tasks = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(finished_at=None)
    # Every removal that is under way has a task that looks after it, also if its worker was killed.
    queued = set()
    for task in tasks.filter(task_path__in=[REMOVAL, WATCH]).order_by("enqueued_at"):
        removal = apps.get_model("articles", "Removal").objects.filter(
            pk=task.args_kwargs["kwargs"].get("removal_id") or 0, state="running"
        ).first()
        if removal is None or removal.pk in queued:
            task.delete()
            continue
        queued.add(removal.pk)
        arguments = {"removal": removal.pk}
        carry(apps, task, removal.requested_by_id, kind="removal", title=f"Removal {removal.pk}", arguments=arguments)
    for task in tasks.filter(task_path=EXTRACTION):
        number = task.args_kwargs["kwargs"].get("newspaper_id")
        carry(apps, task, None, kind="reextraction", title="Pages of a newspaper", arguments={"newspaper": number})


def carry(apps, task, user_id, **values):
    job = apps.get_model("articles", "Job").objects.create(
        requested_by_id=user_id, requested_at=task.enqueued_at, task_id=task.pk, **values
    )
    task.task_path, task.args_kwargs = JOB_TASK, {"args": [job.pk], "kwargs": {}}
    task.status, task.started_at = "READY", None
    task.save()


class Migration(migrations.Migration):
    dependencies = [("articles", "0030_imports_are_jobs")]
    operations = [migrations.RunPython(make_jobs, migrations.RunPython.noop)]
