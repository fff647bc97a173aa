"""Tokens: made, shown once, found by programs, limited by their owner's role, and revoked."""

import datetime
import hashlib
import html
import re
from unittest.mock import Mock

import pytest
import time_machine
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from dedup.api.auth import wait_for
from dedup.integrations import tokens
from dedup.integrations.tokens import TokenError, allows, find_token, make_token, revoke_token, scopes_of
from dedup.models import Token
from tests.factories import client_of, make_user
from tests.pages import text_of

pytestmark = pytest.mark.django_db


def read(client: Client, address: str = "/tokens/") -> str:
    return html.unescape(text_of(client, address))


def test_a_token_is_made_shown_once_used_and_revoked() -> None:
    vera = make_user("vera", "viewer")
    client = client_of(vera)
    page = read(client)
    assert "You have no tokens yet." in page
    assert re.findall(r'name="scopes" value="(\w+)"', page) == ["read", "webhooks", "feed"]

    made = client.post("/tokens/new/", {"name": "  Nightly  export", "scopes": ["feed", "read"], "days": "30"})
    assert "no-store" in made["Cache-Control"]
    text = re.search(r'id="token">([^<]+)<', made.content.decode())[1]
    token = Token.objects.get()
    assert (token.name, token.scopes) == ("Nightly export", ["read", "feed"])
    assert token.expires_at - token.made_at > datetime.timedelta(days=29)
    assert text.startswith(token.start)
    assert len(text) - len(token.start) > 30
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    page = read(client)
    assert text not in page
    assert f"{token.start}…" in page
    assert "never" in page

    assert find_token(text) == token
    page = read(client)
    assert f"{timezone.localtime():%H:}" in page.split("<tbody>")[1]
    assert client.get(f"/tokens/{token.pk}/revoke/")["Location"] == "/tokens/"
    assert client.post(f"/tokens/{token.pk}/revoke/")["Location"] == "/tokens/"
    assert "revoked</span>" in read(client)
    assert find_token(text) is None
    assert list(LogEntry.objects.order_by("pk").values_list("object_id", "change_message")) == [
        (str(vera.pk), f"made the token “Nightly export” ({token.start}…): read, feed."),
        (str(vera.pk), f"no longer has the token “Nightly export” ({token.start}…): it was revoked."),
    ]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": "x", "scopes": ["decide"]}, "Select a valid choice. decide is not one of the available choices."),
        ({"name": "x", "scopes": ["read"], "days": "40000"}, "Select a valid choice. 40000"),
        ({"name": "x", "scopes": ["read"]}, "You have 1 tokens that work, which is the most. Revoke one first."),
    ],
)
def test_what_is_refused(monkeypatch: pytest.MonkeyPatch, values: dict[str, str], said: str) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 1)
    vera = make_user("vera", "viewer")
    make_token(vera, "first", ["read"])
    answer = client_of(vera).post("/tokens/new/", values)
    assert answer.status_code == 400
    assert said in html.unescape(answer.content.decode())
    assert Token.objects.count() == 1


def test_a_token_never_gives_more_than_its_owner_has() -> None:
    mara, ada = make_user("mara", "editor"), make_user("ada", "admin")
    assert scopes_of(mara) == ["read", "decide", "webhooks", "feed"]
    assert scopes_of(ada) == list(Token.Scope)
    token, text = make_token(mara, "desk", ["read", "decide"])
    assert allows(find_token(text), Token.Scope.DECIDE)
    assert not allows(find_token(text), Token.Scope.FEED)

    mara.groups.set([])
    assert find_token(text) is None
    mara.groups.add(*make_user("vera", "viewer").groups.all())
    assert not allows(find_token(text), Token.Scope.DECIDE)
    assert allows(find_token(text), Token.Scope.READ)
    User.objects.filter(pk=mara.pk).update(is_active=False)
    assert find_token(text) is None
    assert Token.objects.get(pk=token.pk).state == "owner blocked"
    for wrong in ("", "newsdedup_", text[:-1], text + "\0", "\udc00", token.digest):
        assert find_token(wrong) is None


def test_a_token_expires_and_its_use_is_noted_once_a_minute(django_assert_num_queries) -> None:
    vera = make_user("vera", "viewer")
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        _, text = make_token(vera, "short", ["read"], days=1)
        assert find_token(text)
        for seconds, noted in ((30, "09:00:00"), (40, "09:01:10")):
            clock.shift(seconds)
            with django_assert_num_queries(3 + (noted != "09:00:00")):
                found = find_token(text)
            assert found
            assert f"{Token.objects.get().used_at:%H:%M:%S}" == noted
        clock.shift(86_400)
        assert find_token(text) is None
        assert "expired</span>" in read(client_of(vera))


def test_admins_see_and_revoke_the_tokens_of_others_and_nobody_else_does() -> None:
    vera, eve, ada = make_user("vera", "viewer"), make_user("eve", "editor"), make_user("ada", "admin")
    token, text = make_token(vera, "of vera", ["read"])
    assert "of vera" not in read(client_of(eve))
    assert client_of(eve).post(f"/tokens/{token.pk}/revoke/").status_code == 404
    assert find_token(text)
    assert "of vera" in read(client_of(ada))
    client_of(ada).post(f"/tokens/{token.pk}/revoke/")
    assert find_token(text) is None
    assert LogEntry.objects.latest("pk").user == ada
    assert not revoke_token(token, by=vera)
    assert f"no longer has the token “of vera” ({token.start}…)" in read(client_of(ada), f"/people/{vera.pk}/")


def test_a_token_is_revoked_only_if_it_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    vera = make_user("vera", "viewer")
    token, text = make_token(vera, "of vera", ["read"])
    with monkeypatch.context() as fault:
        fault.setattr(tokens, "log_action", Mock(side_effect=OperationalError))
        with pytest.raises(OperationalError):
            revoke_token(token, by=vera)
    assert find_token(text) == token
    assert revoke_token(token, by=vera)


def test_what_a_token_is_made_with_and_why_it_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 2)
    mara = make_user("mara", "editor")
    for name, scopes, said in (
        (" \0 ", ["read"], "The name has 0 characters; it must have from 1 to 60."),
        ("x" * 61, ["read"], "The name has 61 characters; it must have from 1 to 60."),
        ("x", ["run", "read", "store"], "Your role does not allow: run, store. Choose only what you may do yourself."),
        ("x", [], "Choose at least one thing that the token may do."),
    ):
        with pytest.raises(TokenError) as raised:
            make_token(mara, name, scopes)
        assert str(raised.value) == said
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False) as clock:
        ended, _ = make_token(mara, "ended", ["read"], days=1)
        token, text = make_token(mara, " a \0 b" + "x" * 56, ["feed", "read"])
        assert (token.name, token.scopes, token.owner, token.expires_at) == (
            "a b" + "x" * 56,
            ["read", "feed"],
            mara,
            None,
        )
        assert (text[:10], token.start, token.used_at, token.revoked_at) == ("newsdedup_", text[:15], None, None)
        assert f"{ended.expires_at:%Y-%m-%d %H:%M}" == "2026-03-03 09:00"
        with pytest.raises(TokenError) as raised:
            make_token(mara, "third", ["read"])
        assert str(raised.value) == "You have 2 tokens that work, which is the most. Revoke one first."
        make_token(make_user("vera", "viewer"), "of another", ["read"])
        clock.shift(86_400)  # those that have ended do not count, and those that were revoked do not either
        make_token(mara, "third", ["read"])
        assert revoke_token(token, by=mara)
        assert not revoke_token(token, by=mara)
        make_token(mara, "fourth", ["read"])
    token.refresh_from_db()
    assert (f"{token.revoked_at:%H:%M}", token.revoked_by) == ("09:00", mara)
    entries = LogEntry.objects.filter(user=mara).values_list("action_flag", "object_id", "change_message")
    flags = {flag for flag, _, message in entries if message.startswith("made the token")}
    assert (flags, {number for _, number, _ in entries}) == ({ADDITION}, {str(mara.pk)})
    [revoked] = [(flag, message) for flag, _, message in entries if "revoked" in message]
    assert revoked == (CHANGE, f"no longer has the token {token}: it was revoked.")


def test_the_pages_of_tokens_say_what_happened() -> None:
    vera, ada = make_user("vera", "viewer"), make_user("ada", "admin")
    client = client_of(vera)
    assert client.get("/tokens/new/")["Location"] == "/tokens/"
    token, _ = make_token(vera, "export", ["read"])
    said = [html.unescape(client.post(f"/tokens/{token.pk}/revoke/", follow=True).content.decode()) for _ in range(2)]
    assert f"The token {token} was revoked, and no longer works." in said[0]
    assert f"The token {token} had been revoked before." in said[1]
    others = [make_user(name, "viewer") for name in ("eve", "ines")]
    for number in range(60):
        make_token(others[number % 2], f"number {number}", ["read"])
    pages = [read(client_of(ada), f"/tokens/?page={page}") for page in (1, 2)]
    listed = [set(re.findall(r"number \d+", page)) for page in pages]
    assert len(listed[0] | listed[1]) == 60
    assert listed[0].isdisjoint(listed[1])


@pytest.mark.parametrize(("used", "seconds"), [([3], 0), ([3, 1], 20), ([2, 2], 20), ([1, 1, 1], 0)])
def test_a_token_waits_for_the_next_minute_after_too_many_requests(settings, used: list[int], seconds: int) -> None:
    settings.API_REQUESTS_A_MINUTE = 3
    token, _ = make_token(make_user("vera", "viewer"), "x", ["read"])
    other, _ = make_token(make_user("eve", "viewer"), "x", ["read"])
    with time_machine.travel("2026-03-02T09:00:40Z", tick=False) as clock:
        assert [wait_for(token, cost) for cost in used][-1] == seconds
        assert wait_for(other, 3) == 0
        clock.move_to("2026-03-02T09:00:59.9Z")
        assert wait_for(other, 1) == 1
        clock.move_to("2026-03-02T09:01:00Z")
        assert (wait_for(token, 3), wait_for(other, 3), wait_for(other, 1)) == (0, 0, 60)
