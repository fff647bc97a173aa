"""Migrations of rows: models that cannot be used are switched off; work in the queues of before is carried over."""

import json
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from articles.jobs.work import do_job, job_task
from articles.models import Collection, FileImport, Job
from crawlers.models import Crawl, Trial
from dedup.detection.runs.scope import Scope
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.models import CorpusExport, FittedModel, Lesson, StoredReport
from dedup.reports import REPORTS
from dedup.reports.computing import asked_for, key_of
from tests.conftest import StoreArticle
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def a_model(*, leans_on_it: float = 0.0, of_today: bool = True) -> str:
    """Return a learnt model, with this coefficient of a feature that was removed later."""
    content = dump_model(default_model())
    document = json.loads(content if of_today else content.replace("fresh phrases contained", "shorter contained"))
    document["questions"]["duplicate"]["coefficients"]["words kept"] = leans_on_it
    return json.dumps(document)


@pytest.mark.parametrize(
    ("migration", "model", "in_use"),
    [
        ("0011_models_of_removed_features", a_model(), True),
        ("0011_models_of_removed_features", a_model(leans_on_it=0.02), False),
        ("0016_models_of_other_features", a_model(), True),
        ("0016_models_of_other_features", a_model(of_today=False), False),
        ("0052_models_of_one_subject", a_model(), False),
        ("0112_what_editors_are_asked", a_model(), True),
        ("0112_what_editors_are_asked", a_model().replace("own words under", "words under"), False),
    ],
    ids=lambda value: "model" if isinstance(value, str) and value.startswith("{") else None,
)
def test_a_learnt_model_that_the_program_cannot_use_is_switched_off(migration, model, in_use, capsys) -> None:
    fitted = FittedModel.objects.create(content=model, decisions=50, in_use=True)
    import_module(f"dedup.migrations.{migration}").switch_off(apps, None)
    fitted.refresh_from_db()
    assert fitted.in_use == in_use
    assert ("fit_verdicts --switch-on" in capsys.readouterr().out) != in_use


def test_owners_and_editions_become_collections_and_come_back() -> None:
    migrate(("articles", "0034_words_of_articles"))
    with connection.cursor() as cursor:
        for name, owner, edition in (("A", "Coast  Media", ""), ("B", "Coast Media ", "Asia"), ("C", "", "")):
            cursor.execute(
                "INSERT INTO articles_newspaper (name, host, crawl, owner, edition, title_affixes, learnt_affixes, "
                "refused_affixes, kept_url_parameters, feed_urls, sitemap_urls, section_urls, article_url_pattern) "
                "VALUES (%s, '', true, %s, %s, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '')",
                [name, owner, edition],
            )
    migrate()
    groups = {str(row): [paper.name for paper in row.newspapers.all()] for row in Collection.objects.all()}
    assert groups == {"Asia (edition)": ["B"], "Coast Media (owner)": ["A", "B"]}
    migrate(("articles", "0034_words_of_articles"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, owner, edition FROM articles_newspaper ORDER BY name")
        assert cursor.fetchall() == [("A", "Coast Media", ""), ("B", "Coast Media", "Asia"), ("C", "", "")]
    migrate()


BEFORE = (
    ("articles", "0001_squashed_0028_removals_and_withheld_articles"),
    ("crawlers", "0001_squashed_0011_urls_without_logins"),
    ("dedup", "0080_states_of_links_by_their_names"),
)
CORPUS = {
    "policy": "keep-all", "format": "jsonl.gz", "since": None, "until": None, "newspapers": [], "boilerplate": "keep",
    "confirmed": False,
}  # fmt: skip
ROW = {"date": "2026-03-02", "url": "https://a.example/1", "text": "It sails at noon.", "newspaper": "Harbour Post"}


def migrate(*target: str) -> None:
    with connection.cursor() as cursor:
        # A table with checks that wait for the end of the transaction cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    call_command("migrate", *target, verbosity=0)


@pytest.mark.slow
def test_all_that_waits_or_was_left_goes_on_after_an_upgrade(store: StoreArticle) -> None:
    article, ada = store(), make_user("ada", "admin")
    for target in reversed(BEFORE):
        migrate(*target)
    tables = MigrationExecutor(connection).loader.project_state(
        [*BEFORE, ("django_tasks_database", "0021_conditional_partial_index_ordering")]
    )
    queue_of_before(tables.apps, ada.pk, article.newspaper_id)
    crawls_of_before(tables.apps, ada.pk, article.newspaper_id)

    migrate()
    states = {(job.kind, job.state) for job in Job.objects.all()}
    kinds = {"run", "night", "import", "report", "lesson", "corpus", "reextraction", "removal"}
    crawls = {("crawl", state) for state in ("waiting", "done", "cancelled", "failed")}
    crawls |= {("discovery", "waiting"), ("discovery", "done"), ("trial", "waiting"), ("trial", "failed")}
    assert states == {(kind, "waiting") for kind in kinds} | {("import", "done"), ("lesson", "done")} | crawls
    assert {job.requested_by for job in Job.objects.exclude(kind__in=["night", "reextraction"])} == {ada}
    queued = [job_task.get_result(str(job.task_id)) for job in Job.objects.filter(state="waiting", kind__in=kinds)]
    assert {(result.task.func, result.status) for result in queued} == {(job_task.func, "READY")}

    # The others work through connections of their own, which would wait for the tables of this transaction.
    for kind, end in (("report", "done"), ("lesson", "failed"), ("reextraction", "done")):
        job = Job.objects.get(kind=kind, state="waiting")
        do_job(job.pk)
        job.refresh_from_db()
        assert (job.state, job.tries) == (end, 1), job.error
    assert StoredReport.objects.get().computed_at
    assert (Lesson.objects.count(), CorpusExport.objects.get().job.arguments) == (1, CORPUS)
    assert {crawl.newspaper_id for crawl in Crawl.objects.all()} == {article.newspaper_id}
    assert Job.objects.filter(kind="crawl", result={"output": "1 stored", "ending": "made way for others"}).count() == 1
    assert set(Trial.objects.values_list("job__page", "job__kind")) == {
        (f"/crawls/trials/{trial.pk}/", trial.job.kind) for trial in Trial.objects.all()
    }
    assert set(FileImport.objects.values_list("job__state", flat=True)) == {None, "done", "waiting"}


def crawls_of_before(apps: Any, user: int, newspaper: int) -> None:
    """Crawls and trials of before, in each of their states: none had a task."""
    make_crawl, make_turn = (apps.get_model("crawlers", name).objects.create for name in ("Crawl", "CrawlTurn"))
    ended = {"started_at": timezone.now(), "finished_at": timezone.now(), "output": "1 stored"}
    for state in ("finished", "stopped", "made way", "failed", "broken off"):
        make_turn(crawl=make_crawl(state=state, **ended), newspaper_id=newspaper, why="asked", asked_by_id=user)
    for state in ("waiting", "running"):
        make_turn(crawl=make_crawl(state=state), newspaper_id=newspaper, why="again", asked_by_id=user)
    for step, state in (("discover", "running"), ("discover", "done"), ("try", "waiting"), ("try", "failed")):
        values = {"url": "https://a.example/", "step": step, "state": state, "begun_at": timezone.now()}
        apps.get_model("crawlers", "Trial").objects.create(asked_by_id=user, **values)


def queue_of_before(apps: Any, user: int, newspaper: int) -> None:
    """Fill each queue as the version of before did: some work waits, some was taken by a worker that was killed."""

    def make(label: str, /, **values: Any) -> Any:
        return apps.get_model(label).objects.create(**values)

    def task(path: str, status: str = "READY", *args: Any, **kwargs: Any) -> None:
        given = {"args": list(args), "kwargs": kwargs}
        values = {"status": status, "backend_name": "default", "run_after": timezone.now()}
        make("django_tasks_database.DBTaskResult", task_path=path, args_kwargs=given, **values)

    profile = apps.get_model("dedup.Profile").objects.get(is_default=True)
    profile.nightly_due = timezone.now()
    profile.save()
    request = make("dedup.RunRequest", profile=profile, requested_by_id=user, new=True)
    runs = "dedup.detection.runs"
    task(f"{runs}.tasks.find_duplicates_task", profile_id=profile.pk, new=True, request_id=request.pk, user_id=user)
    task(f"{runs}.tasks.find_duplicates_task", profile_id=profile.pk, request_id=request.pk + 1)  # it was cancelled
    task(f"{runs}.tasks.nightly_task", profile_id=profile.pk, due=profile.nightly_due.isoformat())
    task(f"{runs}.tasks.nightly_task", profile_id=profile.pk, due="2026-01-01T02:15:00+00:00")  # its time was changed
    row = f"{json.dumps(ROW)}\n".encode()
    for state in ("preview", "finished", "running"):
        kept = make("articles.FileImport", name="a.jsonl", size=len(row), preview={}, uploaded_by_id=user, state=state)
    make("articles.UploadedPart", file_import=kept, number=0, data=row)
    task(f"{runs}.imports.import_task", "RUNNING", number=kept.pk)
    waits = {"waiting_since": timezone.now(), "requested_by_id": user}
    asked = asked_for(Scope(), REPORTS["overview"].options_class())
    stored = make("dedup.StoredReport", report="overview", asked=asked, key=key_of(asked), **waits)
    task("dedup.reports.tasks.count_report_task", "RUNNING", stored.pk)
    make("dedup.Lesson", asked_by_id=user, state="done", finished_at=timezone.now())
    lesson = make("dedup.Lesson", asked_by_id=user, state="running")
    task("dedup.research.tasks.learn_task", "RUNNING", lesson_id=lesson.pk)
    export = make("dedup.CorpusExport", asked=CORPUS, requested_by_id=user)
    task("dedup.reports.corpora.write_corpus_task", export_id=export.pk)
    task(f"{runs}.reextraction.reextract_task", newspaper_id=newspaper)
    removal = make("articles.Removal", kind="articles", label="article 7", reason="He asked.", requested_by_id=user)
    for name in ("removal_task", "watch_task"):
        task(f"newsdedup_site.privacy.tasks.{name}", removal_id=removal.pk)
