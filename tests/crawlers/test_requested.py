"""Crawls that the worker does: asked for on pages, due by a schedule, stopped, and killed."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from articles.jobs import work
from articles.models import Job, Newspaper
from crawlers import visits
from crawlers.models import Crawl, CrawlSchedule, PendingLink, Visit
from crawlers.requested import queue, supervisor
from crawlers.requested.process import CrawlProcess
from crawlers.requested.queue import next_due, queue_due, set_schedule
from tests.crawlers.conftest import Site, in_a_hurry
from tests.databases import child_environment
from tests.dedup.runs.running import wait_until
from tests.factories import client_of, make_user

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime.datetime(2026, 3, 2, 12, 0, tzinfo=datetime.UTC)


@pytest.fixture
def admin_client(db: None) -> Client:
    return client_of(make_user("ada", "admin"))


def paper(name: str = "Fjordbladet", **fields: object) -> Newspaper:
    return Newspaper.objects.create(name=name, feed_urls=["https://fjordbladet.example/feed"], **fields)


def states() -> list[tuple[str, list[str], list[str]]]:
    """Return each job's state, newspapers and their reasons, the oldest first."""
    return [
        (job.state, queue.names_of(job), [crawl.why for crawl in job.crawls.all()])
        for job in Job.objects.order_by("pk")
    ]


def begin() -> None:
    """Begin the crawl that waits, as a worker that is killed later."""
    Job.objects.filter(state="waiting").update(state="running", started_at=timezone.now(), tries=1)


def crawl(ended: threading.Event | None = None) -> None:
    assert work.do_waiting(["crawl"], ended or threading.Event())


@pytest.mark.parametrize(
    ("schedule", "now", "expected"),
    [
        ({"every_hours": 3}, "2026-03-01T12:00+00:00", "2026-03-01T15:00+00:00"),
        ({"every_hours": 3}, "2026-03-01T14:59+00:00", "2026-03-01T15:00+00:00"),
        # Missed for days: once, and then in the old rhythm.
        ({"every_hours": 3}, "2026-03-04T13:10+00:00", "2026-03-04T15:00+00:00"),
        ({"daily_at": datetime.time(6, 30)}, "2026-03-01T06:29+01:00", "2026-03-01T06:30+01:00"),
        ({"daily_at": datetime.time(6, 30)}, "2026-03-01T06:30+01:00", "2026-03-02T06:30+01:00"),
        # The night in which the clocks change is an hour shorter.
        ({"daily_at": datetime.time(6, 30)}, "2026-03-28T07:00+01:00", "2026-03-29T06:30+02:00"),
    ],
)
def test_the_next_time_is_after_now_in_the_rhythm_of_the_schedule(
    schedule: dict[str, Any], now: str, expected: str
) -> None:
    stored = CrawlSchedule(**schedule, due_at=datetime.datetime.fromisoformat("2026-03-01T12:00+00:00"))
    found = next_due(stored, datetime.datetime.fromisoformat(now).astimezone(BERLIN))
    assert found.astimezone(datetime.UTC) == datetime.datetime.fromisoformat(expected)


@pytest.mark.django_db
def test_due_newspapers_wait_together_once_and_never_while_they_are_crawled(admin_client: Client) -> None:
    user = make_user("eva", "admin")
    daily, hourly, bare = paper("Daily"), paper("Hourly"), Newspaper.objects.create(name="Bare")
    merged = paper("Merged", merged_into=daily)
    with time_machine.travel(NOON, tick=False):
        set_schedule(daily, every_hours=None, daily_at=datetime.time(11), user=user)
        for newspaper in (hourly, merged, bare):
            set_schedule(newspaper, every_hours=1, daily_at=None, user=user)
        queue_due()
        queue_due()
        assert states() == [("waiting", ["Hourly"], ["due"])]
    # The worker was down for a week: each is crawled once, in one crawl.
    with time_machine.travel(NOON + datetime.timedelta(days=7), tick=False):
        begin()
        queue_due()
        assert states() == [("running", ["Hourly"], ["due"]), ("waiting", ["Daily"], ["due"])]
        assert queue.request_crawl([daily, hourly], user=user) == []
        due = dict(CrawlSchedule.objects.values_list("newspaper__name", "due_at"))
        assert due["Hourly"] == NOON + datetime.timedelta(days=7, hours=1)
        assert due["Daily"] == NOON + datetime.timedelta(days=7, hours=23)


@pytest.mark.django_db
def test_what_a_killed_crawl_has_not_visited_is_crawled_again() -> None:
    visited, unvisited = paper("Visited"), paper("Unvisited", sitemap_urls=["https://fjordbladet.example/s.xml"])
    queue.request_crawl([visited, unvisited], user=make_user("eva", "admin"))
    begin()
    for newspaper in (visited, unvisited):
        visits.end_visit(visits.begin_visit(newspaper.pk, "feed"), Visit.State.FINISHED, {}, {})
    assert work.requeue_lost_jobs() == 1
    assert states() == [("waiting", ["Unvisited"], ["again"])]


@pytest.mark.django_db
def test_a_long_crawl_makes_way_for_what_waits_and_its_rest_resumes_with_that(monkeypatch: pytest.MonkeyPatch) -> None:
    user = make_user("eva", "admin")
    visited, unvisited = paper("Visited"), paper("Unvisited", sitemap_urls=["https://fjordbladet.example/s.xml"])

    def visit_and_go_on() -> None:
        for newspaper in (visited, unvisited):
            visits.end_visit(visits.begin_visit(newspaper.pk, "feed"), Visit.State.FINISHED, {}, {})
        queue.request_crawl([paper("Late")], user=user)
        assert not queue.holds_up_others(Job.objects.get(state="running"))
        clock.shift(queue.LONGEST_ALONE)

    monkeypatch.setattr(supervisor, "PAUSE", 0)
    monkeypatch.setattr(supervisor, "CrawlProcess", FakeProcess(130, at_stop=True, begin=visit_and_go_on))
    with time_machine.travel(NOON, tick=False) as clock:
        queue.request_crawl([visited, unvisited], user=user)
        crawl()
    assert states() == [
        ("done", ["Visited", "Unvisited"], ["asked", "asked"]),
        ("waiting", ["Late", "Unvisited"], ["asked", "asked"]),
    ]
    assert Job.objects.get(state="done").result["ending"] == "made way for others"


class FakeProcess:
    """A crawl that ends with this status as soon as it is asked to stop, or at once."""

    def __init__(self, status: int, *, at_stop: bool, begin: Callable[[], object] = int) -> None:
        self.status: int | None = None if at_stop else status
        self.begin = begin
        self.ends_with = status
        self.output, self.errors = "Fjordbladet: 1 stored", "CommandError: only failures"

    def __call__(self, names: list[str]) -> FakeProcess:
        self.names = names
        self.begin()
        return self

    def stop(self) -> None:
        self.status = self.ends_with

    kill = close = stop


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "stopped_by", "expected"),
    [
        (0, "", ("done", "")),
        (0, "a user", ("cancelled", "")),
        (130, "a user", ("cancelled", "")),
        (130, "the end of the worker", ("waiting", "")),
        (1, "", ("failed", "CommandError: only failures")),
        (-9, "", ("waiting", "")),
        # Another crawl runs, which was started in a shell.
        (3, "", ("waiting", "")),
    ],
)
def test_the_exit_status_of_a_crawl_decides_how_it_ended(
    status: int, stopped_by: str, expected: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    user, ended = make_user("eva", "admin"), threading.Event()

    def stop() -> None:
        assert work.cancel(Job.objects.get(), user)

    begin = {"": int, "a user": stop, "the end of the worker": ended.set}
    process = FakeProcess(status, at_stop=bool(stopped_by), begin=begin[stopped_by])
    monkeypatch.setattr(supervisor, "CrawlProcess", process)
    monkeypatch.setattr(supervisor, "PAUSE", 0)
    queue.request_crawl([paper()], user=user)
    crawl(ended)
    assert (process.names, process.status) == (["Fjordbladet"], status)
    job = Job.objects.get()
    assert (job.state, job.error) == expected
    assert (Crawl.objects.get().asked_by == user) == (status != -9)
    assert job.result == (None if job.state == "waiting" else {"output": "Fjordbladet: 1 stored"})
    if status == 3:
        assert not work.do_waiting(["crawl"], threading.Event())
        with time_machine.travel(timezone.now() + supervisor.RETRY_AFTER * 2):
            crawl()


@pytest.mark.django_db
def test_admins_start_schedule_and_take_back_crawls_on_the_pages_and_others_only_look(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    one = paper("<i>One")
    paper("Two", crawl=False)
    for number in range(3):
        paper(f"Other {number}")
    address = f"/crawls/{one.pk}/"
    editor = client_of(make_user("mara", "editor"))
    for path in ("/crawls/start/", f"{address}schedule/", f"{address}take-back/"):
        assert editor.post(path).status_code == 403
    assert not Job.objects.exists()
    page = admin_client.post("/crawls/start/", {"newspaper": one.pk}, follow=True).content.decode()
    assert "A crawl of &lt;i&gt;One is queued." in page
    assert "Take it from the queue" in page
    answer = admin_client.post("/crawls/start/", follow=True).content.decode()
    assert "A crawl of 3 newspapers is queued." in answer
    assert "No worker answers." in answer
    assert states() == [("waiting", ["<i>One", "Other 0", "Other 1", "Other 2"], ["asked"] * 4)]
    admin_client.post("/crawls/start/", {"newspaper": one.pk})
    assert "was taken from the queue" in admin_client.post(f"{address}take-back/", follow=True).content.decode()
    assert [names for _, names, _ in states()] == [["Other 0", "Other 1", "Other 2"]]
    assert admin_client.post(f"{address}schedule/", {"when": "daily"}).status_code == 400
    saved = admin_client.post(f"{address}schedule/", {"when": "daily", "daily_at": "06:30"}, follow=True)
    assert "is crawled every day at 06:30." in saved.content.decode()
    admin_client.post(f"{address}schedule/", {"when": "6"})
    assert "is crawled every 6 hours (before: every day at 06:30)." in admin_client.get(address).content.decode()
    admin_client.post(f"{address}schedule/", {"when": ""})
    assert not CrawlSchedule.objects.exists()
    begin()
    # session, user with permissions, keys; newspapers: number and a page; visits, schedules, crawls, articles; the jobs
    # at work, the one that runs with its newspapers and people, what waits, whether a worker does crawls, its visits
    with django_assert_num_queries(16):
        text = admin_client.get("/crawls/").content.decode()
    assert "stopped unexpectedly</span>" in text
    # A crawl that no worker attends ends at once.
    stop = f"/jobs/{Job.objects.get().pk}/cancel/"
    assert editor.post(stop).status_code == 403
    admin_client.post(stop)
    assert [state for state, _, _ in states()] == ["cancelled"]
    log = editor.get("/crawls/log/").content.decode()
    assert "3 newspapers, asked for by ada." in log
    assert "Stopped by ada." in log
    assert editor.get("/crawls/progress/?state=none").headers["HX-Refresh"] == "true"


@contextmanager
def _supervising() -> Iterator[None]:
    ended = threading.Event()
    thread = threading.Thread(target=supervisor.supervise, args=(ended,))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(60)


def test_a_worker_does_a_crawl_in_a_process_that_stops_when_asked_to(
    transactional_db: None, held_page: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (child_environment() | {"CRAWL_STATE_DIR": str(tmp_path / "states")}).items():
        monkeypatch.setenv(name, value)
    started: list[CrawlProcess] = []

    def start(names: list[str]) -> CrawlProcess:
        started.append(CrawlProcess(names, [*in_a_hurry("--set"), "--set", "LOG_LEVEL=INFO"]))
        return started[0]

    monkeypatch.setattr(supervisor, "CrawlProcess", start)
    monkeypatch.setattr(supervisor, "PAUSE", 0.05)
    client = client_of(make_user("ada", "admin"))
    with _supervising():
        client.post("/crawls/start/", {"newspaper": Newspaper.objects.get().pk})
        assert held_page.arrived.wait(60)
        page = client.get("/crawls/").content.decode()
        assert "Stop the crawl" in page
        assert "No worker" not in page
        client.post(f"/jobs/{Job.objects.get().pk}/cancel/")
        wait_until(lambda: "Received SIGINT" in started[0].errors)
        assert "ada asked it to stop." in client.get("/crawls/").content.decode()
        held_page.release.set()
        wait_until(lambda: Job.objects.get().result)
    assert (Visit.objects.get().state, Job.objects.get().state) == ("interrupted", "cancelled")
    # What it had not fetched waits.
    assert PendingLink.objects.exists()
    assert "Fjordbladet: " in Job.objects.get().result["output"]
