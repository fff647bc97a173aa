"""Webhooks: queued with what happens to clusters, signed, tried again, given up, and seen in the browser."""

import base64
import datetime
import hashlib
import hmac
import html
import json
from collections.abc import Iterable, Mapping

import pytest
import time_machine
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.integrations import webhooks as queueing
from dedup.integrations.webhooks import (
    MOST_WEBHOOKS,
    RETRY_AFTER,
    WebhookError,
    change_webhook,
    delete_webhook,
    make_webhook,
    send_due,
    send_test,
)
from dedup.models import Cluster, Delivery, Pair, Webhook
from dedup.review.answers.decisions import confirm_cluster, keep_article, seen_as, take_out
from tests.conftest import StoreArticle
from tests.dedup.api.callers import Caller, problem
from tests.factories import make_cluster, make_pair, make_user

pytestmark = pytest.mark.django_db
URL = "https://receiver.example/hooks?of=newsdedup"
EVERY = [value for value in Webhook.Event.values if value != "alarm"]


class Receiver:
    """Answers what webhooks send, instead of the network."""

    def __init__(self) -> None:
        self.got: list[tuple[str, bytes, dict[str, str]]] = []
        self.answers: list[int | str] = []

    def __call__(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        self.got.append((url, body, dict(headers)))
        answer = self.answers.pop(0) if self.answers else 204
        if isinstance(answer, str):
            raise ValueError(answer)  # noqa: TRY004 - as crawlers.posting does
        return answer


RECEIVER = Receiver()


@pytest.fixture
def receiver(settings) -> Receiver:
    RECEIVER.__init__()
    settings.WEBHOOK_SENDER = f"{__name__}.RECEIVER"
    return RECEIVER


def queued() -> list[tuple[str, list[int]]]:
    return news_of(Delivery.objects.order_by("pk").values_list("body", flat=True))


def news_of(bodies: Iterable[str | bytes]) -> list[tuple[str, list[int]]]:
    """Return the events of requests, with their clusters."""
    read = map(json.loads, bodies)
    return [(body["type"], [cluster["id"] for cluster in body["data"]["clusters"]]) for body in read]


def test_exactly_what_happens_to_clusters_is_queued(editor: User, store: StoreArticle, monkeypatch) -> None:
    old = make_cluster(store(), store())
    only_new, every = make_webhook(editor, URL, ["cluster.new"]), make_webhook(editor, URL, EVERY)
    change_webhook(make_webhook(editor, URL, EVERY), by=editor, active=False)
    rebuild_clusters()
    assert queued() == []

    # As a run does it: all clusters at once, of which two are new.
    articles = [store() for _ in range(5)]
    for first, second in ((0, 1), (2, 3), (3, 4)):
        make_pair(articles[first], articles[second], trigram=0.9)
    monkeypatch.setattr(queueing, "AT_ONCE", 1)
    rebuild_clusters()
    pair, three = Cluster.objects.exclude(pk=old.pk).order_by("size")
    assert sorted(queued()) == sorted([("cluster.new", [cluster.pk]) for cluster in (pair, three)] * 2)
    assert only_new.deliveries.count() == every.deliveries.count() == 2
    row = json.loads(every.deliveries.order_by("pk")[0].body)["data"]["clusters"][0]
    assert row["kept"] == Cluster.objects.get(pk=row["id"]).kept_id
    # Again: nothing is new.
    rebuild_clusters()
    assert Delivery.objects.count() == 4

    Delivery.objects.all().delete()
    confirm_cluster(pair.pk, seen_as([article.pk for article in articles[:2]]), user=editor)
    assert queued() == [("cluster.confirmed", [pair.pk])]
    Delivery.objects.all().delete()
    keep_article(three.pk, articles[4].pk, user=editor)
    assert queued() == [("cluster.changed", [three.pk])]
    Delivery.objects.all().delete()
    take_out(three.pk, articles[4].pk, user=editor)
    assert queued() == [("cluster.changed", [three.pk])]
    # What a model thinks of its pairs is no news.
    Delivery.objects.all().delete()
    Pair.objects.filter(left=articles[2]).update(probability=0.7)
    rebuild_clusters()
    assert Cluster.objects.get(pk=three.pk).lowest_score == 0.7
    assert queued() == []


def test_a_request_is_signed_and_sent_once(editor: User, receiver: Receiver, store: StoreArticle) -> None:
    hook = make_webhook(editor, URL, EVERY)
    cluster = make_cluster(store(), store())
    assert send_due() == 1
    assert send_due() == 0
    assert news_of(body for _, body, _ in receiver.got) == [("cluster.new", [cluster.pk])]
    [(url, body, headers)] = receiver.got
    delivery = Delivery.objects.get()
    assert (url, headers["Content-Type"], headers["webhook-id"]) == (URL, "application/json", str(delivery.message))
    # By the text of the Standard Webhooks specification.
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(hook.secret.removeprefix("whsec_"))
    assert len(key) == 32
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert abs(int(headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    assert (delivery.state, delivery.attempts, delivery.answer) == ("delivered", 1, "HTTP 204")


def test_what_fails_is_tried_again_and_given_up_in_the_end(editor: User, receiver: Receiver, caplog) -> None:
    hook, other = make_webhook(editor, URL, EVERY), make_webhook(editor, URL, EVERY)
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        start = timezone.now()
        send_test(hook)
        send_test(hook)
        send_test(other)
        tries = len(RETRY_AFTER) + 1
        receiver.answers = [500, 204, *["The host name receiver.example does not resolve."] * (tries - 2), 302]
        # Only the first to a webhook that fails is tried, the others wait with it.
        assert send_due() == 2
        for pause in RETRY_AFTER:
            clock.shift(pause - datetime.timedelta(seconds=1))
            assert send_due() == 0
            clock.shift(1)
            assert send_due() == 1
        assert datetime.timedelta(hours=12) < timezone.now() - start < datetime.timedelta(hours=48)
        assert len({headers["webhook-id"] for _, _, headers in receiver.got}) == 2
        hook.refresh_from_db()
        assert (hook.active, hook.fault) == (False, "7 attempts failed, the last with: HTTP 302")
        assert sorted(hook.deliveries.values_list("state", flat=True)) == ["given up", "waiting"]
        assert "is switched off" in caplog.text
        clock.shift(datetime.timedelta(days=3))
        assert send_due() == 0

        # Switched on again, it gets what it has missed; then it says that it is gone.
        change_webhook(hook, by=editor, active=True)
        assert send_due() == 2
        receiver.answers = [410]
        send_test(hook)
        assert send_due() == 1
        hook.refresh_from_db()
        assert "gone for good (HTTP 410)" in hook.fault


def test_a_worker_that_dies_and_an_owner_who_is_blocked(editor: User, receiver: Receiver, monkeypatch) -> None:
    hook = make_webhook(editor, URL, EVERY)
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        send_test(hook)
        with monkeypatch.context() as patch:
            patch.setattr("dedup.integrations.webhooks._try", lambda _delivery: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                send_due()
        assert send_due() == 0
        clock.shift(61)
        assert send_due() == 1
        assert len(receiver.got) == 1
        User.objects.filter(pk=editor.pk).update(is_active=False)
        send_test(hook)
        send_due()
    hook.refresh_from_db()
    assert (len(receiver.got), hook.active, hook.fault) == (1, False, "mara is blocked, or has no role any more.")


def test_what_cannot_be_a_webhook(editor: User) -> None:
    unlike = [
        "",
        "ftp://a.example/",
        "receiver.example",
        "https://",
        "https://a.example/a b",
        "https://a.example/\nX: y",
    ]
    unlike += ["http://a.example:0/", "https://a.example:99999/", "https://[::1", "https://ä.example/"]
    for url in unlike:
        with pytest.raises(WebhookError, match="not the URL of a receiver"):
            make_webhook(editor, url, EVERY)
    with pytest.raises(WebhookError, match="user name or password"):
        make_webhook(editor, "https://me:secret@a.example/", EVERY)
    with pytest.raises(WebhookError, match=r"2,0\d\d characters"):
        make_webhook(editor, "https://a.example/" + "x" * 2_000, EVERY)
    for events in ([], ["cluster.eaten"], ["cluster.new", "cluster.eaten"]):
        with pytest.raises(WebhookError, match=r"Choose at least one of cluster\.new"):
            make_webhook(editor, URL, events)
    for _ in range(MOST_WEBHOOKS):
        make_webhook(editor, URL, EVERY)
    with pytest.raises(WebhookError, match="which is the most"):
        make_webhook(editor, URL, EVERY)


def test_webhooks_in_the_browser(receiver: Receiver) -> None:
    vera, eve, ada = make_user("vera", "viewer"), make_user("eve", "editor"), make_user("ada", "admin")
    clients = {user: Client() for user in (vera, eve, ada)}
    for user, client in clients.items():
        client.force_login(user)

    def page(user: User, path: str, status: int = 200) -> str:
        answer = clients[user].get(path)
        assert answer.status_code == status
        return html.unescape(answer.content.decode())

    assert "You have no webhooks yet." in page(vera, "/webhooks/")
    bad = clients[vera].post("/webhooks/new/", {"url": "receiver.example", "events": "cluster.new"})
    assert (bad.status_code, "not the URL of a receiver" in bad.content.decode()) == (400, True)
    made = clients[vera].post("/webhooks/new/", {"url": URL, "events": ["cluster.new", "cluster.confirmed"]})
    hook = Webhook.objects.get()
    path = f"/webhooks/{hook.pk}/"
    assert made["Location"] == path
    assert hook.secret in page(vera, path)
    assert "No worker answers" in page(vera, path)
    clients[vera].post(f"{path}test/")
    receiver.answers = [410]
    send_due()
    shown = page(vera, path)
    assert "newsdedup has switched it off. The receiver answered that it is gone for good (HTTP 410)." in shown
    assert "given up</span>" in page(vera, "/webhooks/")
    clients[vera].post(f"{path}switch/", {"active": "1"})
    send_due()
    assert "delivered</span>" in page(vera, path)

    # Others do not see it; admins do, without its secret, and may switch it off, not on.
    assert URL not in page(eve, "/webhooks/")
    page(eve, path, 404)
    for act in ("switch", "test", "delete"):
        assert clients[eve].post(f"{path}{act}/").status_code == 404
        assert clients[vera].get(f"{path}{act}/")["Location"] == path
    assert URL in page(ada, "/webhooks/")
    assert hook.secret not in page(ada, path)
    clients[ada].post(f"{path}switch/", {"active": "0"})
    clients[ada].post(f"{path}switch/", {"active": "1"})
    hook.refresh_from_db()
    assert not hook.active
    assert clients[ada].post(f"{path}test/").status_code == 404
    clients[ada].post(f"{path}delete/")
    assert not Webhook.objects.exists()
    assert [(item_.user, item_.object_id) for item_ in LogEntry.objects.order_by("pk")] == [
        (vera, str(vera.pk)), (vera, str(vera.pk)), (ada, str(vera.pk)), (ada, str(vera.pk))
    ]  # fmt: skip


def test_webhooks_of_the_api(receiver: Receiver) -> None:
    vera, eve = Caller(make_user("vera", "viewer")), Caller(make_user("eve", "viewer"))
    made = vera.post("/webhooks", {"url": URL})
    assert made.status_code == 201
    row = made.json()
    assert row.pop("secret") == Webhook.objects.get().secret
    assert row["events"] == ["cluster.new"]
    path = f"/webhooks/{row['id']}"
    assert vera.client.get(made["Location"]).json() == row == vera.read(path) == vera.read("/webhooks")["data"][0]
    assert "not the URL" in problem(vera.post("/webhooks", {"url": "x"}), 422)
    changed = vera.send("PATCH", path, {"events": ["cluster.changed"], "active": False})
    assert (changed.status_code, changed.json()["active"], changed.json()["url"]) == (200, False, URL)
    problem(vera.send("PATCH", path, {"url": "x"}), 422)
    assert vera.post(f"{path}/test").status_code == 202
    waiting = vera.read(f"{path}/deliveries")["data"][0]
    assert (waiting["state"], waiting["attempts"], waiting["event"]) == ("waiting", 0, "test")
    vera.send("PATCH", path, {"active": True})
    send_due()
    done = vera.read(f"{path}/deliveries")["data"][0]
    assert (done["state"], done["answer"], done["due_at"]) == ("delivered", "HTTP 204", None)
    for method, address in (("GET", path), ("PATCH", path), ("DELETE", path), ("GET", f"{path}/deliveries")):
        problem(eve.send(method, address, {}), 404)
    assert vera.send("DELETE", path).status_code == 204
    problem(vera.get(path), 404)


def test_what_was_delivered_long_ago_is_forgotten(editor: User, receiver: Receiver, store: StoreArticle) -> None:
    hook = make_webhook(editor, URL, EVERY)
    with time_machine.travel("2026-01-02T09:00:00Z", tick=False):
        send_test(hook)
        send_due()
        Webhook.objects.filter(pk=hook.pk).update(active=False)
        send_test(hook)
    Webhook.objects.filter(pk=hook.pk).update(active=True)
    make_cluster(store(), store())
    assert [delivery.event for delivery in hook.deliveries.order_by("pk")] == ["test", "cluster.new"]
    delete_webhook(hook, by=editor)
    assert not Delivery.objects.exists()
