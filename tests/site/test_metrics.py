"""What machines ask: the icon, the check of a balancer, and the figures at /metrics behind a token."""

import datetime
from collections.abc import Mapping
from typing import Any

import pytest
import time_machine
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries

from articles.jobs.work import job_task
from articles.models import Newspaper
from crawlers.models import Visit
from dedup.models import Decision, Profile, QuestionCount, Worker
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_run, make_user

pytestmark = pytest.mark.django_db
TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105 - of a test
NOW = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)
Samples = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def token(settings: Any) -> str:
    settings.METRICS_TOKEN = TOKEN
    return TOKEN


def read(client: Client | None = None) -> Samples:
    """Return the samples, each of which is there once."""
    answer = (client or Client()).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = list(text_string_to_metric_families(answer.content.decode()))
    assert {family.type for family in families} == {"gauge"}
    samples = [
        ((sample.name, frozenset(sample.labels.items())), sample.value)
        for family in families
        for sample in family.samples
    ]
    assert len(samples) == len(dict(samples))
    return dict(samples)


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((f"newsdedup_{name}", frozenset(labels.items())))


def test_without_the_setting_there_is_no_such_address_for_anybody(settings: Any, staff: Client) -> None:
    for client in (Client(), staff):
        assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
        assert client.get("/metrics").status_code == 404


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer ü€",
     f"Bearer {TOKEN.upper()}"],
)  # fmt: skip
def test_only_the_token_opens_it_and_no_login(token: str, staff: Client, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    answer = staff.get("/metrics", headers=headers)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
    assert "newsdedup_" not in answer.content.decode()
    assert staff.post("/metrics", headers={"Authorization": f"Bearer {token}"}).status_code == 405


def test_the_figures_are_those_of_the_database_also_if_empty(token: str, store: StoreArticle, settings: Any) -> None:
    samples = read()
    assert [value(samples, name) for name in ("worker_alive", "decisions_today")] == [0, 0]
    assert value(samples, "last_run_started_seconds") is None
    assert value(samples, "alarms", kind="worker") == 0
    settings.TIME_ZONE = "Asia/Tokyo"  # midnight is at 15:00 UTC
    articles = [store() for _ in range(4)]
    pairs = [make_pair(articles[0], other, trigram=0.9) for other in articles[1:]]
    pairs[0].state = "confirmed"
    pairs[0].save()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE articles_article; ANALYZE dedup_pair")
        cursor.execute("SELECT pg_database_size(current_database())")
        [size] = cursor.fetchone()
    anna = make_user("anna", "editor")
    for hours in (30, 19, 17, 1):
        at = NOW - datetime.timedelta(hours=hours)
        Decision.objects.create(kind="confirm", decided_by=anna, pair=pairs[0], decided_at=at)
    Profile.objects.update(nightly_at=datetime.time(2), nightly_due=NOW - datetime.timedelta(hours=7))
    started = NOW - datetime.timedelta(hours=31)
    make_run(started_at=started, finished_at=started + datetime.timedelta(minutes=7))
    paper = Newspaper.objects.get()
    odd = 'The "Harbour\\Post"\n}{,='
    Newspaper.objects.update(crawl=True, name=odd)
    for days, failed in ((2, 0), (1, 3)):
        visit = Visit.objects.create(newspaper=paper, spider="feed", state="finished", failed=failed)
        Visit.objects.filter(pk=visit.pk).update(started_at=NOW - datetime.timedelta(days=days))
    QuestionCount.objects.update_or_create(tab="all", defaults={"number": 17})
    Worker.objects.create(name="w", seen_at=NOW)
    with time_machine.travel(NOW, tick=False):
        job_task.enqueue(0)
        job_task.using(run_after=NOW + datetime.timedelta(hours=1)).enqueue(0)
        samples = read()
    expected = {
        "articles": 4, "decisions_today": 2, "worker_alive": 1, "workers": 1, "tasks_waiting": 1,
        "last_run_started_seconds": started.timestamp(), "last_run_duration_seconds": 420,
    }  # fmt: skip
    assert {name: value(samples, name) for name in expected} == expected
    assert value(samples, "pairs", state="confirmed") == 1
    assert value(samples, "pairs", state="undecided") == 2
    assert value(samples, "questions", tab="all") == 17
    assert value(samples, "last_run_state", state="done") == 1
    assert value(samples, "last_run_state", state="failed") == 0
    assert value(samples, "nightly_run_age_seconds", profile="default") == 31 * 3600
    two_days_ago = NOW - datetime.timedelta(days=2)
    assert value(samples, "newspaper_last_success_seconds", newspaper=odd) == two_days_ago.timestamp()
    assert value(samples, "alarms", kind="night") == 1
    assert abs((value(samples, "database_bytes") or 0) - size) < 10_000_000
    free = [number for (name, _), number in samples.items() if name == "newsdedup_disk_free_bytes"]
    assert free
    assert all(number > 0 for number in free)


def test_the_figures_cost_a_fixed_number_of_queries_and_no_session(
    token: str, staff: Client, store: StoreArticle, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    read()
    for number in range(2):
        make_pair(store(), store(), trigram=0.9)
        Newspaper.objects.create(name=f"Paper {number}", crawl=True)
        make_run()
        Worker.objects.update_or_create(name="w", defaults={"seen_at": timezone.now()})
        with django_assert_num_queries(29):
            read(staff)


def test_the_icon_and_the_check_of_a_balancer_need_no_login(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise DatabaseError("gone")

    assert client.get("/favicon.ico")["Location"] == "/static/newsdedup/icon.svg"
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    monkeypatch.setattr(connection, "cursor", refuse)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (503, b"the database does not answer\n")
