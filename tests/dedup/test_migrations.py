"""Migrations of rows: what an installation has stored is there after an upgrade, as the program reads it now."""

import json
from itertools import combinations

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from articles.models import Newspaper
from dedup.models import FittedModel, Pair, Profile
from dedup.review.decisions import decide_pair, undo
from dedup.runs.tasks import find_duplicates_task, nightly_task
from dedup.verdicts.model import default_model, dump_model
from tests.factories import make_pair, make_user

pytestmark = pytest.mark.django_db


def paths() -> set[str]:
    return set(DBTaskResult.objects.values_list("task_path", flat=True))


def test_tasks_that_wait_are_found_where_their_module_is_now() -> None:
    profile = Profile.objects.get()
    nightly_task.enqueue(profile_id=profile.pk, due="2026-03-03T02:15:00+00:00")
    find_duplicates_task.enqueue(profile_id=profile.pk)
    done = DBTaskResult.objects.create(
        task_path="dedup.tasks.nightly_task", args_kwargs={}, backend_name="default", finished_at=timezone.now()
    )
    now = paths()

    call_command("migrate", "dedup", "0009", verbosity=0)
    before = {"dedup.tasks.nightly_task", "dedup.tasks.find_duplicates_task"}
    assert paths() == before

    call_command("migrate", "dedup", verbosity=0)
    assert paths() == now
    assert {each.task for each in DBTaskResult.objects.exclude(pk=done.pk)} == {nightly_task, find_duplicates_task}


@pytest.mark.parametrize(("leans_on_it", "in_use"), [(0.0, True), (0.02, False)])
def test_a_learnt_model_that_leans_on_a_removed_feature_is_switched_off(leans_on_it, in_use, capsys) -> None:
    document = json.loads(dump_model(default_model()))
    document["questions"]["duplicate"]["coefficients"]["words kept"] = leans_on_it
    call_command("migrate", "dedup", "0010", verbosity=0)
    fitted = FittedModel.objects.create(content=json.dumps(document), decisions=50, in_use=True)

    call_command("migrate", "dedup", verbosity=0)
    fitted.refresh_from_db()
    assert fitted.in_use == in_use
    assert ("fit_verdicts --switch-on" in capsys.readouterr().out) != in_use


@pytest.mark.parametrize("of_today", [True, False])
def test_a_model_learnt_with_earlier_features_is_switched_off(of_today, capsys) -> None:
    content = dump_model(default_model())
    if not of_today:
        content = content.replace("fresh phrases contained", "shorter contained")
    call_command("migrate", "dedup", "0015", verbosity=0)
    fitted = FittedModel.objects.create(content=content, decisions=50, in_use=True)

    call_command("migrate", "dedup", verbosity=0)
    fitted.refresh_from_db()
    assert fitted.in_use == of_today
    assert ("fit_verdicts --switch-on" in capsys.readouterr().out) != of_today


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"sentence": {"enabled": True, "threshold": 0.1}}, {"containment": {"enabled": True}}),
        ({"sentence": {"enabled": True, "threshold": 0.2}}, None),
        ({"sentence": {"enabled": True, "threshold": 0.1}, "trigram": {"day_window": 7}}, None),
        ({}, None),
    ],
)
def test_a_profile_that_nobody_changed_gets_the_passes_of_today(before, after) -> None:
    call_command("migrate", "dedup", "0014", verbosity=0)
    Profile.objects.update(settings=before)

    call_command("migrate", "dedup", verbosity=0)
    assert Profile.objects.get().settings == (before if after is None else after)


def test_everybody_who_could_read_can_read_afterwards(client) -> None:
    call_command("migrate", "dedup", "0016", verbosity=0)
    Group.objects.create(name="interns")
    for name, *groups in (("anna",), ("ben", "interns"), ("mara", "editor"), ("ada", "admin")):
        make_user(name, *groups)
    make_user("gone", is_active=False)
    make_user("root", is_superuser=True)

    call_command("migrate", "dedup", verbosity=0)
    groups = {user.username: sorted(user.groups.values_list("name", flat=True)) for user in User.objects.all()}
    assert groups == {
        "anna": ["viewer"],
        "ben": ["interns", "viewer"],
        "mara": ["editor"],
        "ada": ["admin"],
        "gone": [],
        "root": [],
    }
    for user in User.objects.filter(is_active=True):
        client.force_login(user)
        assert client.get("/articles/").status_code == 200


def test_newspapers_stay_as_they_are_and_admins_may_merge_them() -> None:
    call_command("migrate", "dedup", "0020", verbosity=0)
    call_command("migrate", "articles", "0010", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO articles_newspaper (name, host, title_affixes, learnt_affixes, refused_affixes, "
            "kept_url_parameters, crawl, feed_urls, sitemap_urls, section_urls, article_url_pattern) "
            "VALUES ('Harbour Post', 'post.example', '{}', '{}', '{}', '{sid}', true, '{}', '{}', '{}', '')"
        )

    call_command("migrate", verbosity=0)
    paper = Newspaper.objects.get()
    assert (paper.name, paper.kept_url_parameters, paper.owner, paper.edition) == ("Harbour Post", ["sid"], "", "")
    assert (paper.current, list(Newspaper.objects.in_use())) == (paper, [paper])
    may = {
        role: make_user(role, role).has_perm("articles.add_newspapermerge") for role in ("viewer", "editor", "admin")
    }
    assert may == {"viewer": False, "editor": False, "admin": True}


def test_what_earlier_decisions_imply_is_known_after_an_upgrade(store) -> None:
    articles = [store() for _ in range(4)]
    pairs = {ends: make_pair(*(articles[end] for end in ends), trigram=0.9) for ends in combinations(range(4), 2)}
    user = make_user("mara", "editor")
    for ends, kind in (((0, 1), "confirm"), ((1, 2), "confirm"), ((2, 3), "reject")):
        decide_pair(pairs[ends].pk, kind, user=user)
    states = list(Pair.objects.order_by("pk").values_list("state", "implied"))
    with connection.cursor() as cursor:
        # A table with checks that wait for the end of the transaction cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    call_command("migrate", "dedup", "0022", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE dedup_pair SET state = 'undecided' WHERE id = %s", [pairs[0, 2].pk])

    call_command("migrate", "dedup", verbosity=0)
    assert list(Pair.objects.order_by("pk").values_list("state", "implied")) == states
    assert [implied for _, implied in states] == [False, True, True, False, True, False]
    undo(pairs[1, 2].decisions.get().pk, user=user)
    assert not Pair.objects.filter(pk__in=[pairs[0, 2].pk, pairs[0, 3].pk]).exclude(state="undecided").exists()
