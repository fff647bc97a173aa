"""Whose wrong passwords are counted, with a proxy before the pages and without."""

import pytest
from axes.models import AccessFailureLog
from django.test import Client, RequestFactory

from newsdedup_site.logins import client_address, counted_address


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


@pytest.mark.parametrize(
    ("seen", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:0:7:1:2:3:4", "2001:db8:0:7::"),
        ("2001:db8:0:7::ffff", "2001:db8:0:7::"),
        ("fe80::1%eth0", "fe80::"),
        ("", None),
    ],
)
def test_what_a_wrong_password_counts_for(settings, seen: str, counted: str | None) -> None:
    settings.BEHIND_TLS_PROXY = False
    assert counted_address(RequestFactory().get("/", REMOTE_ADDR=seen)) == counted


@pytest.mark.django_db
@pytest.mark.parametrize(("behind_proxy", "counted"), [(True, "203.0.113.9"), (False, "10.0.0.2")])
def test_a_wrong_password_is_counted_for_the_client(client: Client, settings, behind_proxy: bool, counted: str) -> None:
    settings.BEHIND_TLS_PROXY = behind_proxy
    forwarded = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    client.post("/login/", {"username": "anna", "password": "wrong"}, headers=forwarded, REMOTE_ADDR="10.0.0.2")
    assert AccessFailureLog.objects.get().ip_address == counted


def test_the_counted_address_is_the_one_that_is_used(settings) -> None:
    assert settings.AXES_CLIENT_IP_CALLABLE == "newsdedup_site.logins.counted_address"
