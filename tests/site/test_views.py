"""What machines ask of the site."""

import pytest
from django.db import DatabaseError, connection
from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_browser_finds_the_icon_without_a_login(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"] == "/static/newsdedup/icon.svg"


def test_healthz_needs_no_login(client: Client) -> None:
    answer = client.get("/healthz")

    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_healthz_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = client.get("/healthz")

    assert (answer.status_code, answer.content) == (503, b"the database does not answer\n")
