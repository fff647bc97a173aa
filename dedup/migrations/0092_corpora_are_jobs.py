"""Each corpus that was asked for becomes a job; what was asked for and the files stay in their own tables."""

import django.db.models.deletion
from django.db import migrations, models

TASK = "dedup.reports.corpora.write_corpus_task"
JOB_TASK = "articles.jobs.work.job_task"
STATES = {"waiting": "waiting", "running": "waiting", "finished": "done", "failed": "failed", "cancelled": "cancelled"}


def make_jobs(apps, schema_editor):
    job_model, export_model = apps.get_model("articles", "Job"), apps.get_model("dedup", "CorpusExport")
    tasks = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(task_path=TASK, finished_at=None)
    by_export = {task.args_kwargs["kwargs"].get("export_id"): task for task in tasks}
    for export in export_model.objects.defer("description").order_by("pk"):
        state, task = STATES[export.state], by_export.get(export.pk)
        job = job_model.objects.create(
            kind="corpus", arguments=export.asked, page=f"/exports/corpus/{export.pk}/",
            title=f"Corpus: {export.asked.get('policy')}, {export.asked.get('format')}"[:200],
            state="failed" if state == "waiting" and task is None else state, error=export.error,
            requested_by_id=export.requested_by_id, requested_at=export.requested_at, started_at=export.started_at,
            finished_at=export.finished_at, total=export.articles, done=export.done, task_id=task and task.pk,
        )  # fmt: skip
        if state == "waiting" and task:
            task.task_path, task.args_kwargs = JOB_TASK, {"args": [job.pk], "kwargs": {}}
            task.status, task.started_at = "READY", None
            task.save()
        export_model.objects.filter(pk=export.pk).update(job_id=job.pk)
    tasks.filter(task_path=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("dedup", "0091_lessons_are_jobs")]
    operations = [
        migrations.AddField(
            model_name="corpusexport",
            name="job",
            field=models.OneToOneField(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="corpus", to="articles.job"
            ),
        ),
        migrations.RunPython(make_jobs, migrations.RunPython.noop),
        # PostgreSQL changes no table that waits for its foreign keys to be checked.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="corpusexport",
            name="job",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="corpus", to="articles.job"
            ),
        ),
        *(
            migrations.RemoveField("corpusexport", name)
            for name in (
                "state", "requested_by", "requested_at", "started_at", "finished_at", "articles", "done", "error"
            )
        ),
    ]
