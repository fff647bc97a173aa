"""Whose wrong passwords are counted, with a proxy before the pages and without."""

import subprocess
import sys
from pathlib import Path

import pytest
from axes.models import AccessAttempt
from django.test import Client, RequestFactory

from newsdedup_site.proxy import client_address

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("203.0.113.9,2001:db8::7 ", "2001:db8::7"),
        ("", "10.0.0.2"),
        ("unknown", "10.0.0.2"),
        ("203.0.113.9, ", "10.0.0.2"),
    ],
)
def test_the_client_is_the_last_that_the_proxy_named(forwarded: str, address: str) -> None:
    request = RequestFactory().get("/", headers={"X-Forwarded-For": forwarded}, REMOTE_ADDR="10.0.0.2")
    assert client_address(request) == address


def test_without_the_header_the_client_is_the_one_who_connected() -> None:
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="10.0.0.2")) == "10.0.0.2"
    # A Unix socket has no address.
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="")) is None


@pytest.mark.django_db
@pytest.mark.parametrize(("behind_proxy", "counted"), [(True, "203.0.113.9"), (False, "10.0.0.2")])
def test_a_wrong_password_is_counted_for_the_client(client: Client, settings, behind_proxy: bool, counted: str) -> None:
    settings.AXES_CLIENT_IP_CALLABLE = "newsdedup_site.proxy.client_address" if behind_proxy else None
    forwarded = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    client.post("/login/", {"username": "anna", "password": "wrong"}, headers=forwarded, REMOTE_ADDR="10.0.0.2")
    assert AccessAttempt.objects.get().ip_address == counted


@pytest.mark.parametrize(("value", "expected"), [("true", "newsdedup_site.proxy.client_address"), ("false", "None")])
def test_only_behind_a_proxy_its_header_is_believed(value: str, expected: str) -> None:
    program = "from newsdedup_site import settings as s; print(getattr(s, 'AXES_CLIENT_IP_CALLABLE', None))"
    environment = {"DATABASE_URL": "postgres://u@h/d", "SECRET_KEY": "k", "BEHIND_TLS_PROXY": value}
    printed = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == expected
