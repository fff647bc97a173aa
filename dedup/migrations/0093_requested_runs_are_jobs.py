"""Runs that people asked for and nights that are scheduled become jobs; their tasks carry the jobs."""

import django.db.models.deletion
from django.db import migrations, models

PATH = "dedup.detection.runs.tasks."
JOB_TASK = "articles.jobs.work.job_task"


def make_jobs(apps, schema_editor):
    tasks = apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(
        task_path__startswith=PATH, finished_at=None
    )
    for task in tasks.order_by("enqueued_at"):
        given = task.args_kwargs["kwargs"]
        if task.args_kwargs["args"]:
            given = {**given, "profile_id": task.args_kwargs["args"][0]}
        profile = apps.get_model("dedup", "Profile").objects.filter(pk=given.get("profile_id")).first()
        make = {"find_duplicates_task": make_run, "nightly_task": make_night}.get(task.task_path.removeprefix(PATH))
        job = make(apps, task, given, profile) if make and profile else None
        if job is None:
            task.delete()
            continue
        task.task_path, task.args_kwargs = JOB_TASK, {"args": [job.pk], "kwargs": {}}
        task.status, task.started_at = "READY", None
        task.save()


def make_run(apps, task, given, profile):
    request = None
    if given.get("request_id") is not None:
        request = apps.get_model("dedup", "RunRequest").objects.filter(pk=given["request_id"]).first()
        if request is None or (request.run and request.run.state not in ("running", "interrupted")):
            return None
    job = apps.get_model("articles", "Job").objects.create(
        kind="run", task_id=task.pk, title=f"Run: profile {profile.name}"[:200],
        arguments={
            "profile": profile.pk, "since": given.get("since"), "until": given.get("until"),
            "newspapers": given.get("newspaper_ids") or [], "new": bool(given.get("new")),
        },
        requested_by_id=request.requested_by_id if request else user_of(apps, given.get("user_id")),
        requested_at=request.requested_at if request else task.enqueued_at,
        page=f"/runs/{request.run_id}/" if request and request.run_id else "",
    )  # fmt: skip
    if request and request.run_id:
        apps.get_model("dedup", "DetectionRun").objects.filter(pk=request.run_id).update(job=job)
    return job


def user_of(apps, number):
    return apps.get_model("auth", "User").objects.filter(pk=number or 0).values_list("pk", flat=True).first()


def make_night(apps, task, given, profile):
    if profile.nightly_due is None or profile.nightly_due.isoformat() != given.get("due"):
        return None
    return apps.get_model("articles", "Job").objects.create(
        kind="night", task_id=task.pk, title=f"Nightly run, profile {profile.name}"[:200],
        arguments={"profile": profile.pk, "due": given["due"]}, not_before=profile.nightly_due,
        requested_at=task.enqueued_at,
    )  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("auth", "0012_alter_user_first_name_max_length"), ("dedup", "0092_corpora_are_jobs")]
    operations = [
        migrations.AddField(
            model_name="detectionrun",
            name="job",
            field=models.ForeignKey(
                help_text="The job that does it. Null: a command.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="runs",
                to="articles.job",
            ),
        ),
        migrations.RunPython(make_jobs, migrations.RunPython.noop),
        # PostgreSQL changes no table that waits for its foreign keys to be checked.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop),
        migrations.DeleteModel("RunRequest"),
    ]
