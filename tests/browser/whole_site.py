"""Rows for every form of the site, and a server whose requests are all parts of the test's transaction."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from axes.models import AccessFailureLog
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.servers.basehttp import ThreadedWSGIServer
from django.db import connection, connections, transaction
from django.test import Client
from django.test.testcases import LiveServerThread
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from psycopg import sql

from articles.files.uploads import keep_upload
from articles.jobs.work import cancel
from articles.models import Job, Newspaper
from crawlers.discovery.found import FoundNewspaper, FoundSource
from crawlers.models import Crawl, Trial
from crawlers.requested.queue import request_crawl
from dedup.corpora import request_corpus
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.models import Batch, BatchItem, Cluster, DetectionRun, FittedModel, Profile, StoredReport
from dedup.review.answers.batches import SAMPLES, begin
from dedup.review.answers.decisions import decide_pair
from newsdedup_site.privacy.removal import begin_articles, carry_out, withhold
from tests.browser.conftest import read_sample, small_archive
from tests.commands import called
from tests.conftest import StoreArticle
from tests.dedup.api.test_schemathesis import one_connection
from tests.factories import attach_copy, make_collection, make_pair, make_run, make_user
from tests.fuzz.world import make_rows

ROW = b'{"date": "2026-03-04", "headline": "A lamp", "url": "https://paper.example/lamp", "content": "A lamp fell."}\n'
# Tables of which a form is not the only cause of a change.
_OWN = ("django_migrations", "axes_accesslog", "axes_accessattempt", "dedup_lease")


def fill(store: StoreArticle) -> dict[str, str]:
    """Store rows in every state for which a page has a form; return the numbers that forms ask for.

    mara is an editor and an admin, ines an editor.
    """
    small = small_archive(store)
    mara, ines = User.objects.get(username="mara"), make_user("ines", "editor")
    make_rows(store, {"superuser": mara, "editor": mara, "admin": ines, "viewer": ines})
    read_sample()
    pairs = [make_pair(store(), store(), trigram=0.9, verdict="duplicate") for _ in range(12)]
    for pair, kind in zip(pairs, ["confirm"] * 5 + ["reject"] * 5, strict=False):
        decide_pair(pair.pk, kind, user=mara)
    _batch([pair.pk for pair in pairs[10:]], mara)
    Profile.objects.create(name="loose")
    make_run(state=DetectionRun.State.RUNNING, finished_at=None)
    FittedModel.objects.create(content=dump_model(default_model()), decisions=60)
    _crawls(mara)
    asked = {"policy": "one-per-cluster", "format": "csv", "boilerplate": "keep", "confirmed": False}
    cancel(request_corpus(asked | {"newspapers": [], "since": None, "until": None}, mara).job, mara)
    keep_upload("lamps.jsonl", [ROW], newspaper="", user=mara)
    attach_copy(small.furnished)
    make_collection("owner", "Coast Media", Newspaper.objects.get(name="Coast Telegraph"))
    withhold(store().pk, reason="A minor asked.", user=mara)
    begin_articles([store().pk], reason="A court asked.", user=mara)
    carry_out(begin_articles([store().pk], reason="A court asked again.", user=mara))
    for number in range(10):
        AccessFailureLog.objects.create(
            username="ines", ip_address="203.0.113.1", user_agent=str(number), path_info="/"
        )
    called("report", "exact")
    StoredReport.objects.update(seconds=1.0, last_decision=0)  # as if it took long, before all decisions
    numbers = {"compare left": small.first.left_id, "compare right": small.other.left_id}
    numbers["cluster_preview other"] = Cluster.objects.latest("pk").pk
    return {name: str(number) for name, number in numbers.items()}


def _batch(pairs: list[int], user: User) -> None:
    """Begin a batch whose sample is answered, and which has a question left."""
    batch = begin("confirm", pairs=pairs, sample=SAMPLES[0], user=user)
    drawn, left = BatchItem.objects.filter(batch=batch).order_by("place")
    BatchItem.objects.filter(pk=left.pk).update(place=None)
    Batch.objects.filter(pk=batch.pk).update(drawn=1)
    decide_pair(drawn.pair_id, "confirm", user=user)


def _crawls(user: User) -> None:
    newspaper = Newspaper.objects.filter(merged_into=None).earliest("pk")
    Newspaper.objects.update(crawl=True, feed_urls=["https://paper.example/feed"])
    request_crawl([newspaper], user=user)
    running = Job.objects.create(kind="crawl", title="Crawl", state=Job.State.RUNNING, started_at=timezone.now())
    Crawl.objects.create(job=running, newspaper=Newspaper.objects.filter(merged_into=None).latest("pk"), why="due")
    source = FoundSource("feed", "https://tried.example/feed", "News", "the home page", 9, recommended=True)
    found = FoundNewspaper("https://tried.example/", "tried.example", "The Tried", sources=(source,))
    draft = {"name": found.name, "host": found.host, "article_url_pattern": "", "feed_urls": [source.url]}
    done = Job.objects.create(kind="discovery", title="Sources", state=Job.State.DONE, requested_by=user)
    Trial.objects.create(job=done, url=found.url, found=found.as_json(), draft=draft)


def password_address(name: str) -> str:
    """Return the one-time link of a person."""
    person = User.objects.get(username=name)
    number = urlsafe_base64_encode(force_bytes(person.pk))
    return reverse("set_password", args=[number, default_token_generator.make_token(person)])


class _Server(ThreadedWSGIServer):
    def _close_connections(self) -> None:
        """Leave the connection of the test open."""


@dataclass
class Site:
    """The site on a port of its own, with the cookie with which mara is logged in, and the numbers of `fill`.

    `lock` is held while a request is answered, and while the test asks the database.
    """

    url: str
    session: dict[str, str]
    numbers: dict[str, str]
    lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Undo afterwards whatever is stored meanwhile."""
        around = transaction.atomic()
        around._from_testcase = True
        with self.lock:
            around.__enter__()
        try:
            yield
        finally:
            with self.lock:
                transaction.set_rollback(True)
                around.__exit__(None, None, None)

    def rows(self) -> set[str]:
        """Return every stored row as a text."""
        with self.lock, connection.cursor() as cursor:
            tables = [name for name in connection.introspection.table_names(cursor) if name not in _OWN]
            parts = [
                sql.SQL("SELECT {} || t::text FROM {} AS t").format(sql.Literal(f"{table} "), sql.Identifier(table))
                for table in tables
            ]
            cursor.execute(sql.SQL(" UNION ALL ").join(parts))
            return {row for (row,) in cursor.fetchall()}


@contextmanager
def served(numbers: dict[str, str]) -> Iterator[Site]:
    """Serve the site: one request at a time, on the connection of the test, so within its transaction."""
    client, cookie = Client(), settings.SESSION_COOKIE_NAME
    client.force_login(User.objects.get(username="mara"))
    site = Site("", {"name": cookie, "value": client.cookies[cookie].value}, numbers)
    shared = connections["default"]

    def in_turn(application: Callable[..., Iterable[bytes]]) -> Any:
        def answer(environ: Any, start_response: Any) -> Iterable[bytes]:
            with site.lock, one_connection():
                connections["default"] = shared
                try:
                    answered = application(environ, start_response)
                    body = b"".join(answered)
                    answered.close()  # type: ignore[attr-defined]
                finally:
                    del connections["default"]
            return [body]

        return StaticFilesHandler(answer)

    shared.inc_thread_sharing()
    thread = LiveServerThread("localhost", in_turn)
    thread.server_class, thread.daemon = _Server, True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    site.url = f"http://localhost:{thread.port}"
    try:
        yield site
    finally:
        thread.terminate()
        shared.dec_thread_sharing()
