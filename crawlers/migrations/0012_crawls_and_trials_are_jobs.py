"""Each crawl of the worker and each trial becomes a job; what was a turn of a crawl is the crawl of one newspaper."""

import django.db.models.deletion
from django.db import migrations, models

CRAWLS = {
    "waiting": "waiting", "running": "waiting", "finished": "done", "stopped": "cancelled", "made way": "done",
    "failed": "failed", "broken off": "failed",
}  # fmt: skip
TRIALS = {"waiting": "waiting", "running": "waiting", "done": "done", "failed": "failed"}


def make_jobs(apps, schema_editor):
    job_model = apps.get_model("articles", "Job")
    for crawl in apps.get_model("crawlers", "Crawl").objects.order_by("pk"):
        turns = crawl.turns.order_by("pk")
        first = turns.first()
        if first is None:
            continue
        ending = {"ending": "made way for others"} if crawl.state == "made way" else {}
        stopped = crawl.state == "running" and crawl.stop_asked_at
        job = job_model.objects.create(
            kind="crawl", title="Crawl", page="/crawls/", state="cancelled" if stopped else CRAWLS[crawl.state],
            not_before=crawl.not_before, requested_by_id=first.asked_by_id, requested_at=first.asked_at,
            started_at=crawl.started_at, finished_at=crawl.stop_asked_at if stopped else crawl.finished_at,
            cancelled_by_id=crawl.stop_asked_by_id, error=crawl.error,
            result={"output": crawl.output, **ending} if crawl.finished_at else None,
        )  # fmt: skip
        turns.update(job_id=job.pk)
    for trial in apps.get_model("crawlers", "Trial").objects.order_by("pk"):
        kind = "discovery" if trial.step == "discover" else "trial"
        name = trial.newspaper.name if trial.newspaper else trial.draft.get("name") or trial.url
        trial.job = job_model.objects.create(
            kind=kind, arguments={"trial": trial.pk}, page=f"/crawls/trials/{trial.pk}/", state=TRIALS[trial.state],
            title=f"{'Sources' if kind == 'discovery' else 'Trial'} of {name}"[:200], error=trial.error,
            requested_by_id=trial.asked_by_id, requested_at=trial.asked_at, started_at=trial.begun_at,
            finished_at=trial.begun_at if trial.state in ("done", "failed") else None,
        )  # fmt: skip
        trial.save(update_fields=["job"])


def job(**options):
    return models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="articles.job", **options)


class Migration(migrations.Migration):
    dependencies = [("articles", "0031_removals_and_extractions_are_jobs"), ("crawlers", "0011_urls_without_logins")]
    operations = [
        migrations.AddField("crawlturn", "job", job(null=True, related_name="crawls")),
        migrations.AddField("trial", "job", job(null=True, related_name="+", help_text="The latest of them.")),
        migrations.RunPython(make_jobs, migrations.RunPython.noop),
        # PostgreSQL changes no table that waits for its foreign keys to be checked.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop),
        migrations.RemoveConstraint("crawlturn", "one_turn_a_crawl"),
        migrations.RemoveField("crawlturn", "crawl"),
        migrations.DeleteModel("Crawl"),
        migrations.RenameModel("CrawlTurn", "Crawl"),
        migrations.AlterField("crawl", "job", job(related_name="crawls")),
        migrations.AlterField(
            "crawl",
            "newspaper",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="crawls", to="articles.newspaper"
            ),
        ),
        migrations.AddConstraint(
            "crawl", models.UniqueConstraint(fields=["job", "newspaper"], name="newspaper_once_a_crawl")
        ),
        *(
            migrations.RemoveField("trial", name)
            for name in ("step", "state", "error", "asked_by", "asked_at", "begun_at")
        ),
    ]
