"""An installation of the first days: what it has stored is there after an upgrade, as the program reads it now."""

from itertools import combinations
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from articles.models import Article, Job, Newspaper
from dedup.models import FittedModel, Pair, Profile
from dedup.review.answers.decisions import decide_pair, undo
from tests.conftest import StoreArticle
from tests.dedup.test_migrations import a_model, migrate
from tests.factories import make_pair, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the squashed migrations, so that each one that they replace can be undone and done again."""
    load = MigrationLoader.load_disk

    def load_single(loader: MigrationLoader) -> None:
        load(loader)
        loader.disk_migrations = {
            key: migration for key, migration in loader.disk_migrations.items() if not migration.replaces
        }

    monkeypatch.setattr(MigrationLoader, "load_disk", load_single)


def paths() -> set[str]:
    return set(DBTaskResult.objects.filter(finished_at=None).values_list("task_path", flat=True))


def queue_tasks() -> DBTaskResult:
    """Queue the two tasks; return one that is done."""
    profile = Profile.objects.get(is_default=True)
    profile.nightly_due = timezone.now()
    profile.save()
    waiting = {
        "nightly_task": {"profile_id": profile.pk, "due": profile.nightly_due.isoformat()},
        "find_duplicates_task": {"profile_id": profile.pk},
    }
    for name, arguments in waiting.items():
        task(name, args_kwargs={"args": [], "kwargs": arguments})
    return task("nightly_task", args_kwargs={}, finished_at=timezone.now())


def task(name: str, **values: Any) -> DBTaskResult:
    path = f"dedup.detection.runs.tasks.{name}"
    return DBTaskResult.objects.create(task_path=path, backend_name="default", run_after=timezone.now(), **values)


# What the profiles of before enable, and what they do after the upgrade; None: the same.
PROFILES = {
    "default": ({"sentence": {"enabled": True, "threshold": 0.1}}, {"containment": {"enabled": True}}),
    "stricter": ({"sentence": {"enabled": True, "threshold": 0.2}}, None),
    "wider": ({"sentence": {"enabled": True, "threshold": 0.1}, "trigram": {"day_window": 7}}, None),
    "plain": ({}, None),
}


def settings_of_profiles() -> dict[str, object]:
    return dict(Profile.objects.values_list("name", "settings"))


def make_people() -> None:
    Group.objects.create(name="interns")
    for name, *groups in (("anna",), ("ben", "interns"), ("mara", "editor"), ("ada", "admin")):
        make_user(name, *groups)
    make_user("gone", is_active=False)
    make_user("root", is_superuser=True)


NEWSPAPER = """
INSERT INTO articles_newspaper (name, host, title_affixes, learnt_affixes, refused_affixes, kept_url_parameters, crawl,
    feed_urls, sitemap_urls, section_urls, article_url_pattern)
VALUES ('Selby Herald', 'herald.example', '{}', '{}', '{}', '{sid}', true, '{}', '{}', '{}', '')
"""
# The source of an article's day, and what it was called before.
SOURCES = {"feed": "link", "json-ld": "json-ld", "import": "import", "": ""}


def decide(store: StoreArticle, user: User) -> dict[tuple[int, int], Pair]:
    """Confirm and reject some pairs of four articles; return all pairs by the places of their articles."""
    articles = [store(date="2026-02-01") for _ in range(4)]
    pairs = {ends: make_pair(*(articles[end] for end in ends), trigram=0.9) for ends in combinations(range(4), 2)}
    for ends, kind in (((0, 1), "confirm"), ((1, 2), "confirm"), ((2, 3), "reject")):
        decide_pair(pairs[ends].pk, kind, user=user)
    return pairs


def states() -> list[tuple[str, bool]]:
    return list(Pair.objects.order_by("pk").values_list("state", "implied"))


def articles_as_they_are() -> list[dict[str, object]]:
    return list(Article.objects.order_by("pk").values("pk", "date", "headline", "content", "language", "revision"))


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.soak  # these migrations do not change any more, and a dump of the first release is upgraded every time
def test_an_installation_of_before_has_everything_after_its_upgrade(store, client, capsys) -> None:
    done = queue_tasks()
    editor = make_user("ida", "editor")
    pairs = decide(store, editor)
    decided = states()
    for name in PROFILES.keys() - {"default"}:
        Profile.objects.create(name=name)
    for source in SOURCES:
        store(date="2026-03-02", date_source=source, language="en")
    articles = articles_as_they_are()

    migrate("dedup", "0009")
    migrate("articles", "0008")
    assert paths() == {"dedup.tasks.nightly_task", "dedup.tasks.find_duplicates_task"}
    for name, (settings, _) in PROFILES.items():
        Profile.objects.filter(name=name).update(settings=settings)
    fitted = FittedModel.objects.create(content=a_model(leans_on_it=0.02), decisions=50, in_use=True)
    make_people()
    with connection.cursor() as cursor:
        cursor.execute("SELECT date_source FROM articles_article WHERE date = '2026-03-02' ORDER BY id")
        assert [source for (source,) in cursor] == list(SOURCES.values())
        cursor.execute("UPDATE dedup_pair SET state = 'undecided' WHERE id = %s", [pairs[0, 2].pk])
        cursor.execute(NEWSPAPER)

    migrate()
    check_tasks(done)
    assert settings_of_profiles() == {
        name: before if after is None else after for name, (before, after) in PROFILES.items()
    }
    fitted.refresh_from_db()
    assert not fitted.in_use
    assert "fit_verdicts --switch-on" in capsys.readouterr().out
    check_people(client)
    check_newspaper()
    assert articles_as_they_are() == articles
    check_articles()
    assert states() == decided
    check_decisions(pairs, editor)


def check_tasks(done: DBTaskResult) -> None:
    """Check that tasks that wait are jobs now."""
    assert {job.kind: job.arguments["profile"] for job in Job.objects.all()} == dict.fromkeys(
        ("night", "run"), Profile.objects.get(is_default=True).pk
    )
    carried = {(row.task_path, *row.args_kwargs["args"]) for row in DBTaskResult.objects.exclude(pk=done.pk)}
    assert carried == {("articles.jobs.work.job_task", job.pk) for job in Job.objects.all()}


def check_people(client: Client) -> None:
    """Check that everybody who could read can read, and that admins may merge newspapers."""
    groups = {user.username: sorted(user.groups.values_list("name", flat=True)) for user in User.objects.all()}
    assert groups == {
        "anna": ["viewer"],
        "ben": ["interns", "viewer"],
        "mara": ["editor"],
        "ada": ["admin"],
        "ida": ["editor"],
        "gone": [],
        "root": [],
    }
    for user in User.objects.filter(is_active=True):
        client.force_login(user)
        assert client.get("/articles/").status_code == 200
    may = {
        user.username for user in User.objects.filter(is_active=True) if user.has_perm("articles.add_newspapermerge")
    }
    assert may == {"ada", "root"}


def check_newspaper() -> None:
    """Check that a newspaper is as it was, and merged with none."""
    paper = Newspaper.objects.get(name="Selby Herald")
    assert (paper.kept_url_parameters, paper.collections.count()) == (["sid"], 0)
    assert paper.current == paper
    assert paper in Newspaper.objects.in_use()


def check_articles() -> None:
    """Check that articles have their day and no time, no extra columns and no other headlines."""
    stored = list(Article.objects.filter(date="2026-03-02").order_by("pk"))
    assert [article.date_source for article in stored] == list(SOURCES)
    assert {(article.publication_time, article.published_precision) for article in stored} == {(None, "day")}
    assert {(article.extra_columns, article.headline_variants.count()) for article in stored} == {("", 0)}


def check_decisions(pairs: dict[tuple[int, int], Pair], editor: User) -> None:
    """Check that what the decisions of before imply is known, and taken back with them."""
    assert [implied for _, implied in states()] == [False, True, True, False, True, False]
    undo(pairs[1, 2].decisions.get().pk, user=editor)
    assert not Pair.objects.filter(pk__in=[pairs[0, 2].pk, pairs[0, 3].pk]).exclude(state="undecided").exists()
