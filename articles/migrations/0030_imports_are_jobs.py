"""The last import of each uploaded file becomes a job; its counts and its rejected rows stay with the file."""

import django.db.models.deletion
from django.db import migrations, models

TASK = "dedup.detection.runs.imports.import_task"
JOB_TASK = "articles.jobs.work.job_task"
STATES = {"waiting": "waiting", "running": "waiting", "finished": "done", "failed": "failed", "cancelled": "cancelled"}


def make_jobs(apps, schema_editor):
    job_model, import_model = apps.get_model("articles", "Job"), apps.get_model("articles", "FileImport")
    tasks = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(task_path=TASK, finished_at=None)
    by_import = {task.args_kwargs["kwargs"].get("number"): task for task in tasks}
    for kept in import_model.objects.exclude(state="preview").defer("preview").order_by("pk"):
        state, task = STATES[kept.state], by_import.get(kept.pk)
        lost = state == "waiting" and task is None
        job = job_model.objects.create(
            kind="import", arguments={"number": kept.pk}, page=f"/imports/{kept.pk}/",
            title=f"Import of {kept.name}"[:200],
            state="failed" if lost else state,
            error=kept.error or ("No worker knew of this import any more. Start it again." if lost else ""),
            requested_by_id=kept.uploaded_by_id, requested_at=kept.started_at or kept.uploaded_at,
            started_at=kept.started_at, finished_at=kept.finished_at, done=kept.position, total=kept.size,
            task_id=task and task.pk,
        )  # fmt: skip
        if state == "waiting" and task:
            task.task_path, task.args_kwargs = JOB_TASK, {"args": [job.pk], "kwargs": {}}
            task.status, task.started_at = "READY", None
            task.save()
        import_model.objects.filter(pk=kept.pk).update(job_id=job.pk)
    tasks.filter(task_path=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("articles", "0029_jobs"), ("dedup", "0056_moved_tasks")]
    operations = [
        migrations.AddField(
            model_name="fileimport",
            name="job",
            field=models.ForeignKey(
                help_text="Its last import; null: none yet.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="imports",
                to="articles.job",
            ),
        ),
        migrations.RunPython(make_jobs, migrations.RunPython.noop),
        # PostgreSQL changes no table that waits for its foreign keys to be checked.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop),
        *(
            migrations.RemoveField("fileimport", name)
            for name in ("state", "started_at", "seen_at", "finished_at", "position", "error")
        ),
    ]
