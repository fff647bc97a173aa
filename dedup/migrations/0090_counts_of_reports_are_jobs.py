"""Reports that a worker is to count: what waits becomes a job, and its task carries the job."""

import django.db.models.deletion
from django.db import migrations, models

TASK = "dedup.reports.tasks.count_report_task"
JOB_TASK = "articles.jobs.work.job_task"


def make_jobs(apps, schema_editor):
    job_model = apps.get_model("articles", "Job")
    tasks = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(task_path=TASK, finished_at=None)
    by_report = {(task.args_kwargs["args"] or [task.args_kwargs["kwargs"].get("stored_id")])[0]: task for task in tasks}
    for stored in apps.get_model("dedup", "StoredReport").objects.filter(waiting_since__isnull=False):
        task = by_report.pop(stored.pk, None)
        if task is None:
            continue
        job = job_model.objects.create(
            kind="report", arguments={"stored_id": stored.pk}, title=f"Report: {stored.report}",
            requested_by_id=stored.requested_by_id, requested_at=stored.waiting_since, task_id=task.pk,
        )  # fmt: skip
        task.task_path, task.args_kwargs = JOB_TASK, {"args": [job.pk], "kwargs": {}}
        task.status, task.started_at = "READY", None
        task.save()
        stored.job_id = job.pk
        stored.save(update_fields=["job_id"])
    tasks.filter(task_path=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("articles", "0029_jobs"),
        ("dedup", "0080_states_of_links_by_their_names"),
        ("django_tasks_database", "0021_conditional_partial_index_ordering"),
    ]
    operations = [
        migrations.AddField(
            model_name="storedreport",
            name="job",
            field=models.ForeignKey(
                help_text="The count that somebody waits for.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="articles.job",
            ),
        ),
        migrations.AlterField(
            model_name="storedreport",
            name="error",
            field=models.TextField(blank=True, default="", help_text="Why it could not be counted after a run."),
        ),
        migrations.RunPython(make_jobs, migrations.RunPython.noop),
        # PostgreSQL changes no table that waits for its foreign keys to be checked.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop),
        migrations.RemoveField("storedreport", "waiting_since"),
        migrations.RemoveField("storedreport", "requested_by"),
    ]
