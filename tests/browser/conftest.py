"""A real Chromium, what is stored for it to look at, and what must not happen on any page."""

import os
import shutil
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from articles.models import Article, ArticleURL, RepeatedSentence
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from dedup.models import Cluster, DenseGroup, DetectionRun, Pair, SampleLabel, Series, ValidationSample
from dedup.research.sampling import Plan, draw
from tests.conftest import StoreArticle
from tests.dense import write_group
from tests.factories import make_cluster, make_pair, make_series, make_user

ARGUMENTS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def chromium(django_db_setup: None) -> Iterator[Browser]:
    """Start Chromium once; without one, every browser test is skipped."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("NO CHROMIUM: the browser tests did not run. Install it, for example: apt-get install chromium")
    # Playwright's synchronous API runs an event loop in this thread, in which Django refuses its own calls.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()
        connection.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@dataclass(frozen=True)
class Stored:
    """What is stored for these tests."""

    first: Pair
    second: Pair
    other: Pair
    cluster: Cluster
    series: Series
    sentence: RepeatedSentence
    furnished: Article
    group: DenseGroup


@pytest.fixture
def stored(chromium: Browser, transactional_db: None, store: StoreArticle) -> Stored:
    """Store what `small_archive` stores."""
    return small_archive(store)


def small_archive(store: StoreArticle) -> Stored:
    """Store three pairs to review, a cluster of four, and an editor who may also start runs."""
    make_user("mara", "editor", "admin")
    middle = " ".join(f"Sentence {number} of the report is the same in both papers." for number in range(12))
    first = make_pair(
        store(f"The pier closes on Monday. {middle} The end.", headline="Pier closes", newspaper="Harbour Post"),
        store(f"The pier closes on Tuesday. {middle} The end.", headline="Pier closed", newspaper="Coast Telegraph"),
        verdict="version",
        duplicate_probability=0.45,
        trigram=0.95,
    )
    second = make_pair(
        store("Week 4: 41 cases.", headline="Influenza report"),
        store("Week 5: 58 cases.", headline="Influenza report", date="2026-03-09"),
        verdict="template",
        duplicate_probability=0.2,
        trigram=0.85,
    )
    other = make_pair(
        store(headline="<script>alert(1)</script>"), store(), verdict="similar", duplicate_probability=0.3, title=0.9
    )
    papers = ("Harbour Post", "Coast Telegraph", "Inland Gazette", "Evening Mail")
    cluster = make_cluster(
        *(store(headline=f"Ferry sails again, {paper}", newspaper=paper) for paper in papers), score=0.7
    )
    ArticleURL.objects.bulk_create(
        ArticleURL(article=cluster.kept, url=f"https://mirror-{number}.example/ferry", key=uuid.uuid4(), kind="page")
        for number in range(4)
    )
    series = make_series(second.left.newspaper, "influenza report", second.left, second.right)
    below = "Subscribe to the Evening Mail and never miss a tide.\n\nRead more\n\nPrint"
    tales = (
        "The brewery on the quay has a new copper. It was made by two sisters in Inverlea.",
        "Nine lamps of the southern pier went out on Sunday. The ferry did not sail.",
        "A baker in Mill Lane has won the county prize for rye. Her oven is a hundred years old.",
    )
    furnished = [store(f"{tale}\n\n{below}", newspaper="Evening Mail", date="2026-03-20") for tale in tales]
    list(mark_weeks(outdated_weeks()))
    sentence = RepeatedSentence.objects.get(sentence__startswith="Subscribe")
    tenders = [store(headline=f"Tender {number}", newspaper="Evening Mail") for number in range(3)]
    write_group(*tenders, run=DetectionRun.objects.get())
    verdict = {"verdict": "template", "probability": 0.97, "duplicate_probability": 0.01}
    Pair.objects.among([tender.pk for tender in tenders]).update(**verdict)
    return Stored(first, second, other, cluster, series, sentence, furnished[1], DenseGroup.objects.get())


def read_sample() -> ValidationSample:
    """Return a validation sample that two people have labelled, each pair otherwise."""
    sample = draw(Plan(size=3, by=(), readers=2), seed=1)
    for pair in sample.pairs.all():
        for reader, label in (("mara", "D"), ("ines", "V")):
            SampleLabel.objects.create(pair=pair, reader=reader, label=label, note="A new paragraph.")
    return sample


def settled(page: Page) -> None:
    """Wait until the page takes decisions."""
    expect(page.locator("html")).to_have_attribute("data-state", "ready")


Opener = Callable[..., Page]


def finish_requests(live_server: Any) -> None:
    """Wait until the server has answered all that closed windows have asked.

    The transaction of such a request and the reset of all tables after a test would each hold locks that the other one
    waits for.
    """
    address = live_server.thread.host, live_server.thread.port
    with socket.create_connection(address) as last:  # it is accepted after those of the windows
        last.shutdown(socket.SHUT_WR)
        last.recv(1)
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(timeout=30)


@pytest.fixture
def open_site(chromium: Browser, stored: Stored, live_server: Any) -> Iterator[Opener]:
    """Return a function that opens a new window in which this user, "" for nobody, is logged in.

    No page may report an error.
    """
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def _open(user: str = "mara", **options: Any) -> Page:
        context = chromium.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        if user:
            client = Client()
            client.force_login(User.objects.get(username=user))
            session = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = context.new_page()
        page.set_default_timeout(10_000)
        # A refusal by the Content-Security-Policy is an error of the console too.
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto("/")
        return page

    yield _open
    for context in contexts:
        context.close()
    finish_requests(live_server)
    assert errors == []
