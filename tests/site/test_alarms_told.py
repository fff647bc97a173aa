"""Alarms are told once when they begin, again after days, and once when they are over: by e-mail and by webhooks."""

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, transaction
from django.db.models import ProtectedError

from articles.models import Newspaper
from dedup.integrations.webhooks import WebhookError, make_webhook
from dedup.models import Delivery, Profile, Worker
from newsdedup_site.alarms import finding
from newsdedup_site.alarms.kinds import KINDS, found
from newsdedup_site.alarms.recording import QUIET, RETRY_MINUTES, record, send_waiting
from newsdedup_site.models import Alarm, AlarmNotice
from tests.crawlers.conftest import Page, Site, served
from tests.databases import child_environment, run_python
from tests.dedup.runs.running import wait_until
from tests.factories import make_run, make_user
from tests.mail_server import MailServer, mail_server
from tests.site.test_rights import client_of

pytestmark = pytest.mark.django_db
NOW = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)
NIGHT = found("night", "profile 1", "The nightly run has not started.", NOW, address="/runs/")
DISK = found("disk", "elsewhere: /var", "A disk is nearly full.", NOW, "/var on elsewhere: 1 GB")


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    with mail_server() as server:
        settings.SEND_EMAIL = True
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        settings.DEFAULT_FROM_EMAIL = "newsdedup@paper.example"
        settings.SITE_URL = "https://dedup.example"
        yield server


def after(**time: float) -> datetime.datetime:
    return NOW + datetime.timedelta(**time)


def told(*alarms: Alarm, at: datetime.datetime) -> list[str]:
    """Record what a check found; return what there is to tell."""
    return [f"{notice.event}: {notice.what}" for notice in record(alarms, at)]


BEGAN, LASTS, OVER = (f"{event}: {NIGHT.what}" for event in ("began", "lasts", "over"))


def test_an_alarm_is_told_when_it_begins_every_seven_days_and_when_it_is_over() -> None:
    assert told(NIGHT, at=NOW) == [BEGAN]
    events = [told(NIGHT, at=after(hours=hours)) for hours in range(1, 15 * 24)]
    assert [number + 1 for number, event in enumerate(events) if event] == [7 * 24, 14 * 24]
    assert events[7 * 24 - 1] == events[14 * 24 - 1] == [LASTS]
    gone = after(days=15)
    assert told(at=gone) == []
    assert told(at=gone + datetime.timedelta(minutes=29)) == []
    assert told(at=gone + datetime.timedelta(minutes=30)) == [OVER]
    assert told(at=gone + datetime.timedelta(days=10)) == []
    alarm = Alarm.objects.get()
    assert (alarm.since, alarm.over_at) == (NOW, gone)


def test_an_alarm_that_comes_and_goes_is_told_once() -> None:
    seen = [told(*([NIGHT] if minute % 6 else []), at=after(minutes=minute)) for minute in range(3, 12 * 60, 3)]
    assert [kinds for kinds in seen if kinds] == [[BEGAN]]
    assert Alarm.objects.count() == 1


def test_an_alarm_that_is_back_after_it_was_over_is_told_again_only_after_a_while() -> None:
    assert told(NIGHT, at=NOW) == [BEGAN]
    told(at=after(hours=1))
    assert told(at=after(hours=2)) == [OVER]
    assert told(NIGHT, at=after(hours=3)) == []
    # Of one whose beginning was not told, nor is the end.
    told(at=after(hours=4))
    assert told(at=after(hours=5)) == []
    assert told(NIGHT, at=after(hours=6)) == []
    last = after(hours=2) + QUIET
    assert told(NIGHT, at=last - datetime.timedelta(minutes=1)) == []
    assert told(NIGHT, at=last) == [BEGAN]
    assert Alarm.objects.count() == 3


def test_what_other_machines_saw_and_what_was_not_looked_for_is_not_over() -> None:
    told(NIGHT, DISK, at=NOW)
    assert told(NIGHT, at=after(hours=23)) == []
    told(NIGHT, at=after(hours=25))
    assert told(NIGHT, at=after(hours=26)) == ["over: A disk is nearly full."]
    # While migrations wait, nothing else is looked for.
    waiting = found("migrations", "", "The tables are not up to date: 1 migration to do.")
    for hours in (27, 28, 29):
        told(waiting, at=after(hours=hours))
    assert Alarm.objects.get(kind="night").gone_at is None
    assert Alarm.objects.get(kind="migrations").since == after(hours=27)


def test_the_database_keeps_the_history_as_it_was() -> None:
    told(NIGHT, at=NOW)
    told(at=after(hours=1))
    told(at=after(hours=2))
    alarm, notice = Alarm.objects.get(), AlarmNotice.objects.first()
    for rows in (Alarm.objects.filter(pk=alarm.pk), AlarmNotice.objects.filter(pk=notice.pk)):
        for change in (partial(rows.update, what="Nothing happened."), rows.delete):
            with pytest.raises((ProgrammingError, ProtectedError), match="Cannot"), transaction.atomic():
                change()
    AlarmNotice.objects.filter(pk=notice.pk).update(mail="sent")
    assert Alarm.objects.get().what == NIGHT.what


# ---- e-mail ----


def test_an_email_says_what_is_wrong_since_when_what_follows_and_what_helps(server: MailServer, settings: Any) -> None:
    make_user("ada", "admin", email="ada@paper.example")
    make_user("boris", "admin", email="boris@paper.example")
    make_user("carl", "admin")
    make_user("dora", "editor", email="dora@paper.example")
    make_user("eve", "admin", email="eve@paper.example", is_active=False)
    told(NIGHT, DISK, at=NOW)
    assert send_waiting(NOW) == 2
    assert send_waiting(after(days=1)) == 0
    [(to, message)] = server.received
    assert sorted(to) == ["ada@paper.example", "boris@paper.example"]
    assert message["Subject"] == "[newsdedup] The nightly run has not started (and 1 more)"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message.get_content_type() == "text/plain"
    assert server.text().replace("\r\n", "\n") == (
        """NEW

* The nightly run has not started.
  Since 2 Mar 2026, 09:00.
  https://dedup.example/runs/

  What follows: New articles have not been compared, and the queue lacks their pairs.
  What to do: See that a worker is running and that no other run holds it up. The run is caught up once it can begin.

* A disk is nearly full.
  Since 2 Mar 2026, 09:00.
  /var on elsewhere: 1 GB

  What follows: Once it is full, runs, crawls and imports stop.
  What to do: Free space on this disk, or enlarge it.

All alarms: https://dedup.example/alarms/
"""
    )
    settings.ALARM_EMAIL = ["desk@paper.example"]
    told(DISK, at=after(hours=1))
    told(DISK, at=after(hours=2))
    assert send_waiting(after(hours=2)) == 1
    assert server.received[-1][0] == ["desk@paper.example"]
    assert server.received[-1][1]["Subject"] == "[newsdedup] over: The nightly run has not started"
    assert "From 2 Mar 2026, 09:00 to 2 Mar 2026, 10:00." in server.text()
    assert "What to do" not in server.text()


def test_a_network_that_is_away_gives_one_email_of_a_readable_length(server: MailServer, settings: Any) -> None:
    settings.ALARM_EMAIL = ["desk@paper.example"]
    papers = [found("newspaper", f"newspaper {n}", f"Every visit of Paper {n} has failed.", NOW) for n in range(300)]
    told(*papers, at=NOW)
    assert send_waiting(NOW) == 300
    [(_, message)] = server.received
    assert message["Subject"] == "[newsdedup] Every visit of Paper 0 has failed (and 299 more)"
    assert "* And 290 more of this kind." in server.text()
    assert len(server.text().splitlines()) < 60
    # A text of an error breaks no header.
    odd = found("crawl", "", "Papier\r\nBcc: everybody@paper.example\n" + "x" * 300 + " was not crawled.", NOW)
    told(*papers, odd, at=NOW)
    assert send_waiting(NOW) == 1
    to, message = server.received[-1]
    assert (to, message["Bcc"]) == (["desk@paper.example"], None)
    assert len(str(message["Subject"])) < 160


def test_what_cannot_be_sent_is_tried_again_and_is_an_alarm_itself(server: MailServer, settings: Any) -> None:
    settings.ALARM_EMAIL, settings.ALARM_DISK_FREE = ["desk@paper.example"], 0.0
    server.refusing = True
    told(NIGHT, at=NOW)
    moment = NOW
    for minutes in (*RETRY_MINUTES, RETRY_MINUTES[-1]):
        assert send_waiting(moment) == 0
        assert send_waiting(moment + datetime.timedelta(minutes=minutes, seconds=-1)) == 0
        moment += datetime.timedelta(minutes=minutes)
    notice = AlarmNotice.objects.get()
    assert (notice.mail, notice.mail_tries) == ("waiting", len(RETRY_MINUTES) + 1)
    assert notice.mail_answer.startswith("SMTPRecipientsRefused: ")
    ada = client_of("admin")
    assert "E-mails about alarms cannot be sent." in ada.get("/").content.decode()
    assert "relaying denied" in ada.get("/alarms/").content.decode()
    # What begins meanwhile does not wait until then, and takes the rest along.
    server.refusing = False
    told(NIGHT, DISK, at=moment - datetime.timedelta(minutes=2))
    assert send_waiting(moment - datetime.timedelta(minutes=2)) == 2
    assert [to for to, _ in server.received] == [["desk@paper.example"]]
    assert "E-mails about alarms" not in ada.get("/").content.decode()


def test_without_a_mail_server_nothing_waits() -> None:
    make_user("ada", "admin", email="ada@paper.example")
    told(NIGHT, at=NOW)
    assert AlarmNotice.objects.get().mail == "none"
    with pytest.raises(CommandError, match=r"Nobody is sent e-mails\. Set EMAIL_URL"):
        call_command("alarms", "--test")


# ---- webhooks, the command and the worker ----


@pytest.fixture
def receiver() -> Iterator[Site]:
    with served() as site:
        site.missing = Page(b"", status=204)
        yield site


def test_only_webhooks_of_admins_are_sent_alarms(settings: Any) -> None:
    settings.SITE_URL = "https://dedup.example"
    ada, boris = make_user("ada", "admin"), make_user("boris", "viewer")
    make_webhook(ada, "https://receiver.example/", ["alarm", "cluster.new"])
    make_webhook(ada, "https://receiver.example/other", ["cluster.new"])
    with pytest.raises(WebhookError, match="Only admins are sent alarms"):
        make_webhook(boris, "https://receiver.example/", ["alarm"])
    told(NIGHT, at=NOW)
    body = json.loads(Delivery.objects.get().body)
    assert body["type"] == "alarm"
    assert body["data"]["alarms"] == [
        {
            "event": "began",
            "kind": "night",
            "subject": "profile 1",
            "since": "2026-03-02T09:00:00+00:00",
            "over_at": None,
            "what": NIGHT.what,
            "detail": "",
            "follows": KINDS["night"].follows,
            "remedy": NIGHT.remedy,
            "url": "https://dedup.example/runs/",
        }
    ]
    assert AlarmNotice.objects.get().webhooks == 1
    # Whoever is no admin any more gets no more of them.
    ada.groups.clear()
    told(DISK, at=NOW)
    assert Delivery.objects.count() == 1


def sending(server: MailServer) -> dict[str, str]:
    """Return the environment of a process that sends to this mail server, and to webhooks of this machine."""
    return {
        "EMAIL_URL": f"smtp://127.0.0.1:{server.port}",
        "EMAIL_FROM": "newsdedup@paper.example",
        "CRAWL_PRIVATE_ADDRESSES": "127.0.0.1",
    }


def run_command(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_python("manage.py", "alarms", *options, **child_environment(), ALARM_DISK_FREE="0", **environment)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_command_tells_from_cron_what_a_dead_worker_cannot(server: MailServer, receiver: Site) -> None:
    quiet = run_command()
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "No alarm.\n", "")
    make_webhook(make_user("ada", "admin"), f"{receiver.url}/", ["alarm"])
    Profile.objects.update(nightly_at=datetime.time(2, 30), nightly_due=NOW)
    Worker.objects.create(name="dead", seen_at=NOW)
    mail = sending(server) | {"ALARM_EMAIL": "desk@paper.example"}
    asked = run_command("--json", **mail)
    assert asked.returncode == 1
    assert [json.loads(line)["kind"] for line in asked.stdout.splitlines()] == ["worker", "night"]
    assert not server.received
    for _ in range(2):
        sent = run_command("--send", **mail)
        assert (sent.returncode, sent.stderr) == (1, "")
    assert sent.stdout.startswith(
        "No worker has answered since 2 Mar 2026, 09:00.\n  Since 2 Mar 2026, 09:00.\n  What follows: Nothing happens"
    )
    [(_, message)] = server.received
    assert message["Subject"] == "[newsdedup] No worker has answered since 2 Mar 2026, 09:00 (and 1 more)"
    [(_, headers, body)] = receiver.received
    assert [alarm["kind"] for alarm in json.loads(body)["data"]["alarms"]] == ["worker", "night"]
    assert headers["webhook-signature"].startswith("v1,")
    test = run_command("--test", **mail)
    assert (test.returncode, test.stdout) == (0, "The mail server took an e-mail to desk@paper.example.\n")


# The worker itself, but for the pause between two checks.
_WORKER = """
import django; django.setup()
from newsdedup_site.alarms import recording
recording.PAUSE = 0.2
from django.core.management import call_command
call_command("db_worker", "--no-startup-delay", "--interval=1")
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_tells_of_a_run_that_failed_and_of_a_newspaper_that_fails(server: MailServer, receiver: Site) -> None:
    ada = make_user("ada", "admin", email="ada@paper.example")
    make_webhook(ada, f"{receiver.url}/", ["alarm"])
    Newspaper.objects.create(name="Fjordbladet")
    make_run(state="failed", finished_at=NOW, error="[Errno 28] No space left on device")
    settings = {"ALARM_DISK_FREE": "0", "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings"}
    values = os.environ | child_environment() | sending(server) | settings
    with subprocess.Popen([sys.executable, "-c", _WORKER], env=values, stderr=subprocess.PIPE) as process:
        try:
            assert server.came.wait(60)
            wait_until(lambda: receiver.received)
        finally:
            process.terminate()
            process.wait(timeout=30)
    [(to, message)] = server.received
    assert to == ["ada@paper.example"]
    assert message["Subject"].endswith("failed on 2 Mar 2026, 09:00 and has not been resumed")
    assert "What to do: Free space on this disk or enlarge it, then start again what stopped." in server.text()
    assert json.loads(receiver.received[0][2])["data"]["alarms"][0]["kind"] == "run"


# ---- pages ----


def test_everybody_sees_that_the_archive_is_not_up_to_date_and_admins_see_what_helps(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALARM_DISK_FREE = 1.0
    monkeypatch.setattr(finding, "_PLENTY", 1e18)
    ada, mara = client_of("admin"), client_of("viewer")
    with time_machine.travel(NOW, tick=False):
        make_run(state="failed", finished_at=NOW - datetime.timedelta(hours=1), error="could not open /srv/secret")
        for_admin, for_viewer = (browser.get("/").content.decode() for browser in (ada, mara))
    assert "alarms</h2>" in for_admin
    assert all(words in for_admin for words in ("failed on 2 Mar 2026, 08:00", "A disk is nearly full", "/alarms/"))
    with time_machine.travel(NOW, tick=False):
        page = ada.get("/alarms/").content.decode()
    assert all(words in page for words in ("/srv/secret", "What to do:", "A disk is nearly full"))
    assert "The archive may not be up to date</h2>" in for_viewer
    assert "failed on 2 Mar 2026, 08:00" in for_viewer
    assert not any(words in for_viewer for words in ("/srv/secret", "What to do:", "A disk", "/alarms/"))
    assert mara.get("/alarms/").status_code == 403


def test_the_page_of_alarms_shows_the_history_and_who_is_told(settings: Any) -> None:
    settings.ALARM_DISK_FREE = 0.0
    ada = client_of("admin")
    page = ada.get("/alarms/").content.decode()
    assert "<h1>No alarm</h1>" in page
    assert "<code>EMAIL_URL</code> names no mail server" in page
    settings.SEND_EMAIL = True
    assert "no admin has an e-mail address" in ada.get("/alarms/").content.decode()
    settings.ALARM_EMAIL = ["desk@paper.example"]
    told(NIGHT, at=NOW)
    told(at=after(hours=1))
    told(at=after(hours=2))
    page = " ".join(ada.get("/alarms/").content.decode().split())
    assert "E-mails go to desk@paper.example." in page
    assert '<a href="/runs/">The nightly run has not started.</a>' in page
    assert "2 Mar 2026, 10:00" in page
    assert "2 Mar, 09:00 began: e-mail waits" in page
    assert "2 Mar, 11:00 is over: e-mail waits" in page
