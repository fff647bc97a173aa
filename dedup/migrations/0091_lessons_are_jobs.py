"""Each lesson becomes a job; what came out of it stays in its own table."""

import django.db.models.deletion
from django.db import migrations, models

TASK = "dedup.research.tasks.learn_task"
JOB_TASK = "articles.jobs.work.job_task"


def make_jobs(apps, schema_editor):
    job_model, lesson_model = apps.get_model("articles", "Job"), apps.get_model("dedup", "Lesson")
    tasks = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(task_path=TASK, finished_at=None)
    by_lesson = {task.args_kwargs["kwargs"].get("lesson_id"): task for task in tasks}
    for lesson in lesson_model.objects.order_by("pk"):
        task = by_lesson.get(lesson.pk)
        active = lesson.state in ("waiting", "running")
        job = job_model.objects.create(
            kind="lesson", title="Lesson", page="/learning/", requested_by_id=lesson.asked_by_id,
            requested_at=lesson.asked_at, finished_at=lesson.finished_at, error=lesson.error,
            state="failed" if active and task is None else "waiting" if active else lesson.state,
            result=lesson.model_id, task_id=task and task.pk,
        )  # fmt: skip
        if active and task:
            task.task_path, task.args_kwargs = JOB_TASK, {"args": [job.pk], "kwargs": {}}
            task.status, task.started_at = "READY", None
            task.save()
        lesson_model.objects.filter(pk=lesson.pk).update(job_id=job.pk)
    lesson_model.objects.exclude(state="done").delete()
    tasks.filter(task_path=TASK).delete()


class Migration(migrations.Migration):
    dependencies = [("dedup", "0090_counts_of_reports_are_jobs")]
    operations = [
        migrations.AddField(
            model_name="lesson",
            name="job",
            field=models.OneToOneField(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="lesson", to="articles.job"
            ),
        ),
        migrations.RunPython(make_jobs, migrations.RunPython.noop),
        # PostgreSQL changes no table that waits for its foreign keys to be checked.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="lesson",
            name="job",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="lesson", to="articles.job"
            ),
        ),
        *(
            migrations.RemoveField("lesson", name)
            for name in ("state", "asked_by", "asked_at", "finished_at", "error")
        ),
    ]
